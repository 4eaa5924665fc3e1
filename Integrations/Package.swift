// swift-tools-version:6.2
import PackageDescription

/// Where there is no network, stand-ins with the parts of the two APIs that are used here take their place.
let standIns = Context.environment["REDIAL_STAND_INS"] != nil

let observed: [Package.Dependency] =
  standIns
  ? [.package(path: "StandIns/swift-log"), .package(path: "StandIns/swift-metrics")]
  : [
    .package(url: "https://github.com/apple/swift-log.git", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-metrics.git", from: "2.4.0"),
  ]

let redial = Target.Dependency.product(name: "Redial", package: "redial")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")

let package = Package(
  name: "redial-integrations",
  products: [
    .library(name: "RedialLogging", targets: ["RedialLogging"]),
    .library(name: "RedialMetrics", targets: ["RedialMetrics"]),
  ],
  dependencies: [.package(name: "redial", path: "..")] + observed,
  targets: [
    .target(name: "RedialLogging", dependencies: [redial, logging]),
    .target(name: "RedialMetrics", dependencies: [redial, metrics]),
    .executableTarget(name: "observe", dependencies: [redial, logging, metrics, "RedialLogging", "RedialMetrics"]),
  ]
)
