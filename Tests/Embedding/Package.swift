// swift-tools-version:6.2
import PackageDescription

let package = Package(
  name: "weather",
  dependencies: [.package(name: "redial", path: "../..")],
  targets: [
    .executableTarget(name: "weather", dependencies: [.product(name: "Redial", package: "redial")]),
    .executableTarget(name: "uses", dependencies: [.product(name: "Redial", package: "redial")]),
    .executableTarget(name: "many", dependencies: [.product(name: "Redial", package: "redial")]),
  ]
)
