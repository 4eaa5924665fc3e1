// swift-tools-version:6.2
import PackageDescription

/// A program that uses the observers as a user's does: by the traits of the package. Run it with REDIAL_STAND_INS=1, which puts
/// the folder StandIns in the place of the two libraries.
let package = Package(
  name: "observe",
  dependencies: [
    .package(name: "redial", path: "../..", traits: ["SwiftLog", "SwiftMetrics"]),
    .package(path: "StandIns/swift-log"), .package(path: "StandIns/swift-metrics"),
  ],
  targets: [
    .executableTarget(
      name: "observe",
      dependencies: [
        .product(name: "Redial", package: "redial"), .product(name: "RedialLogging", package: "redial"),
        .product(name: "RedialMetrics", package: "redial"), .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
      ])
  ]
)
