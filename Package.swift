// swift-tools-version:6.2
import PackageDescription

/// Every Swift target is held to the same rules: Swift 6 mode, the upcoming
/// features that keep interfaces honest, and no warning left standing.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

/// The same, for modules whose work is the database's, or seldom done: in the binary that ships they are small in place of
/// fast. A flag that the package manager refuses in a dependency, so `Scripts/binary` alone asks for it.
let small: [SwiftSetting] = strict + (Context.environment["REDIAL_SMALL"] == nil ? [] : [.unsafeFlags(["-Osize"])])

/// A Swift library target of this package.
func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, settings: [SwiftSetting] = strict
) -> Target {
  .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

/// A Swift test target of this package.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The libraries that the observers need. Whoever turns on neither trait gets none of them. The tests have no network, and put
/// small stand-ins in their place.
let observed: [Package.Dependency] =
  Context.environment["REDIAL_STAND_INS"] != nil
  ? [
    .package(path: "Tests/Observers/StandIns/swift-log"), .package(path: "Tests/Observers/StandIns/swift-metrics"),
  ]
  : [
    .package(url: "https://github.com/apple/swift-log.git", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.4.0"),
  ]

let package = Package(
  name: "redial",
  // The libraries: `Scripts/platforms` finds what these do not have. The service runs on Linux.
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .executable(name: "redial", targets: ["redial"]),
    .library(name: "Redial", targets: ["Redial"]),
    .library(name: "RedialClient", targets: ["RedialClient"]),
    .library(name: "RedialLegacy", targets: ["RedialLegacy"]),
    .library(name: "RedialCore", targets: ["RedialCore"]),
    .library(name: "RedialLogging", targets: ["RedialLogging"]),
    .library(name: "RedialMetrics", targets: ["RedialMetrics"]),
    .library(name: "HTTPServer", targets: ["HTTPServer"]),
  ],
  traits: [
    .trait(name: "SwiftLog", description: "RedialLogging writes into swift-log, which is fetched."),
    .trait(name: "SwiftMetrics", description: "RedialMetrics counts with swift-metrics, which is fetched."),
  ],
  dependencies: observed,
  targets: [
    // The C libraries, all from the distribution: libcurl4-openssl-dev, libsqlite3-dev, libpq-dev, libssl-dev, zlib1g-dev.
    // Not by pkg-config: a program that uses the library alone would get a warning for each that it lacks, and needs none.
    .systemLibrary(name: "CCurl"),
    .systemLibrary(name: "CSQLite"),
    .systemLibrary(name: "CPostgres"),
    .systemLibrary(name: "CCrypto"),
    .systemLibrary(name: "CZlib"),
    .target(name: "CLinux"),
    // Files that are part of the program. They are embedded with C23's #embed, which older standards take as an extension.
    .target(name: "CDocuments"),

    // Pure: values and time in, decisions out.
    // Rounding and square roots become calls of libm, which a program that imports no C library would not be linked to.
    .target(name: "RedialCore", swiftSettings: strict, linkerSettings: [.linkedLibrary("m")]),
    // Durations, times, parts of URLs and the words of policies as text; and JSON.
    module("RedialText", ["RedialCore"]),
    // This one and RedialModel say `public` where others say `package`: nothing of a type that is `package` is inlined in another
    // module (Swift 6.3, whatever the flags), and here that costs a call 14 thousand instructions of 304.
    module("RedialJSON"),
    module("RedialModel", ["RedialText", "RedialJSON", "RedialCore"]),
    module("RedialEngine", ["RedialModel", "RedialText", "RedialJSON", "RedialCore"]),

    // The library that applications embed.
    module("Redial", ["RedialText", "RedialCore"]),
    // The client of the service.
    module("RedialClient", ["Redial", "RedialText"], path: "clients/swift/RedialClient"),
    // What it takes over from older libraries: operations, callbacks, runs that can be started again.
    module("RedialLegacy", ["Redial", "RedialCore"], path: "Packages/Legacy/RedialLegacy"),

    // Observers of the library for other libraries.
    .target(
      name: "RedialLogging",
      dependencies: [
        "Redial", .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
      ],
      swiftSettings: strict),
    .target(
      name: "RedialMetrics",
      dependencies: [
        "Redial", .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["SwiftMetrics"])),
      ],
      swiftSettings: strict),

    // The shells around them, and the mailboxes between their threads.
    module("RedialLanes", ["CLinux"]),
    // What all stores have in common, and the two stores.
    module(
      "RedialStore",
      ["RedialLanes", "RedialModel", "RedialText", "RedialJSON", "RedialCore", "CCrypto", "CLinux", "CZlib"],
      settings: small),
    module(
      "RedialSQLite",
      [
        "RedialStore", "RedialLanes", "RedialModel", "RedialText", "RedialJSON", "RedialCore", "CDocuments", "CLinux",
        "CSQLite",
      ], settings: small),
    module(
      "RedialPostgres",
      [
        "RedialStore", "RedialLanes", "RedialModel", "RedialText", "RedialCore", "CDocuments", "CPostgres",
      ], settings: small),
    module("RedialTransport", ["RedialLanes", "RedialModel", "RedialText", "RedialCore", "CCurl", "CLinux", "CZlib"]),
    module("HTTPServer", ["RedialLanes", "CLinux", "CZlib"]),

    // The service and its command.
    .target(
      name: "RedialService",
      dependencies: [
        "HTTPServer", "RedialEngine", "RedialPostgres", "RedialSQLite", "RedialStore",
        "RedialTransport", "RedialLanes",
        "RedialModel",
        "RedialText", "RedialJSON", "RedialCore", "CCrypto", "CCurl", "CDocuments", "CLinux", "CPostgres", "CSQLite",
        "CZlib",
      ],
      exclude: ["Dashboard/dashboard.html"],
      swiftSettings: small),
    .executableTarget(
      name: "redial",
      dependencies: [
        "RedialService", "HTTPServer", "RedialSQLite", "RedialStore", "RedialTransport",
        "RedialModel", "RedialText",
        "RedialJSON", "RedialCore",
      ],
      swiftSettings: small),

    // `make bench`.
    .target(name: "CAllocations", path: "Benchmarks/CAllocations"),
    .target(
      name: "Measurement", dependencies: ["CAllocations"], path: "Benchmarks/Measurement", swiftSettings: strict),
    .executableTarget(
      name: "policy-benchmark", dependencies: ["RedialCore", "Measurement"], path: "Benchmarks/Policy",
      swiftSettings: strict),
    .executableTarget(
      name: "recovery-benchmark", dependencies: ["VirtualTime", "RedialModel", "RedialCore"],
      path: "Benchmarks/Recovery", swiftSettings: strict),
    .executableTarget(
      name: "codec-benchmark", dependencies: ["RedialModel", "RedialJSON", "RedialCore", "Measurement"],
      path: "Benchmarks/Codec",
      swiftSettings: strict),
    .executableTarget(
      name: "sealing-benchmark", dependencies: ["RedialStore", "RedialModel", "Measurement"],
      path: "Benchmarks/Sealing", swiftSettings: strict),
    .executableTarget(
      name: "server-benchmark", dependencies: ["HTTPServer"], path: "Benchmarks/Server", swiftSettings: strict),

    .executableTarget(
      name: "transport-benchmark", dependencies: ["RedialTransport", "RedialModel", "RedialCore", "CCurl"],
      path: "Benchmarks/Transport", swiftSettings: strict),

    // What the contract takes from declarations, for `Scripts/generate`.
    .executableTarget(
      name: "contract-declarations", dependencies: ["RedialModel"], path: "Tests/Contract", swiftSettings: strict),

    // Plays the scenarios of `Tests/Acceptance/test_clients.py` with the client.
    .executableTarget(
      name: "client-driver", dependencies: ["RedialClient"], path: "Tests/ClientDriver", swiftSettings: strict),

    // What tests of several modules share.
    .target(name: "Polling", path: "Tests/Polling", swiftSettings: strict),
    .target(name: "FuzzCorpus", path: "Tests/FuzzCorpus", swiftSettings: strict),
    tests("RedialCoreTests", ["FuzzCorpus", "RedialCore"]),
    .target(
      name: "RedialTestSupport", dependencies: ["Redial", "RedialCore"], path: "Tests/RedialTestSupport",
      swiftSettings: strict),
    tests("RedialTests", ["Redial", "RedialTestSupport", "RedialText", "RedialCore", "HTTPServer"]),
    tests(
      "RedialClientTests",
      [
        "RedialClient", "Redial", "RedialTestSupport", "RedialText", "RedialCore", "RedialEngine", "RedialModel",
        "RedialService", "HTTPServer", "CSQLite",
      ]),
    tests("RedialLegacyTests", ["Polling", "RedialLegacy", "Redial", "RedialTestSupport", "RedialCore"]),
    tests("RedialTextTests", ["RedialText", "RedialCore"]),
    tests("RedialModelTests", ["FuzzCorpus", "RedialModel", "RedialText", "RedialJSON", "RedialCore"]),
    // The engine in virtual time, with a model of a target.
    .target(
      name: "VirtualTime", dependencies: ["RedialEngine", "RedialModel", "RedialCore"], path: "Tests/VirtualTime",
      swiftSettings: strict),
    tests("VirtualTimeTests", ["VirtualTime", "RedialModel", "RedialCore"]),
    tests("RedialEngineTests", ["RedialEngine", "RedialModel", "RedialCore"]),
    .target(
      name: "StoreConformance", dependencies: ["RedialStore", "RedialModel", "RedialCore"],
      path: "Tests/StoreConformance", swiftSettings: strict),
    tests(
      "RedialStoreTests",
      ["RedialSQLite", "RedialStore", "StoreConformance", "RedialModel", "RedialJSON", "RedialCore", "CLinux"]),
    tests(
      "RedialPostgresTests",
      [
        "Polling", "RedialEngine", "RedialPostgres", "RedialSQLite", "RedialStore", "StoreConformance", "RedialModel",
        "RedialCore", "CPostgres",
      ]),
    tests("RedialLanesTests", ["RedialLanes", "CLinux"]),
    tests("RedialTransportTests", ["Polling", "RedialTransport", "RedialModel", "RedialCore", "CCurl", "CZlib"]),
    tests("HTTPServerTests", ["FuzzCorpus", "Polling", "HTTPServer", "CLinux"]),
    // The command's own values, such as the text of an overview.
    tests("RedialCommandTests", ["redial", "RedialModel", "RedialCore"]),
    tests(
      "RedialServiceTests",
      [
        "Polling", "RedialService", "RedialStore", "RedialEngine", "RedialTransport", "RedialModel", "RedialText",
        "RedialCore",
        "HTTPServer",
      ]),
    .testTarget(
      name: "Simulation", dependencies: ["RedialEngine", "VirtualTime", "RedialModel", "RedialJSON", "RedialCore"],
      exclude: ["README.md", "Runner", "planted.py"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
