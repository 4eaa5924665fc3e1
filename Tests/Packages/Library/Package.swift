// swift-tools-version:6.2
import PackageDescription

/// Programs that use the library as others do, by the URL of a repository: `test_library.py` builds them on a system that has none
/// of the headers that the service needs. Two of them do the same without the library, to compare sizes.
let package = Package(
  name: "programs",
  dependencies: [.package(url: "file:///clones/redial", from: "0.1.0")],
  targets: [
    .executableTarget(name: "plain"),
    .executableTarget(name: "core", dependencies: [.product(name: "RedialCore", package: "redial")]),
    .executableTarget(name: "fetching"),
    .executableTarget(name: "retrying", dependencies: [.product(name: "Redial", package: "redial")]),
    .executableTarget(name: "client", dependencies: [.product(name: "RedialClient", package: "redial")]),
  ]
)
