// swift-tools-version:6.2
import PackageDescription

/// The samples of the documentation, compiled and run as part of a user's package.
///
/// `Tests/Acceptance/test_samples.py` writes `Sources/Generated` and runs this package's tests.
let package = Package(
  name: "Samples",
  dependencies: [.package(name: "redial", path: "../..")],
  targets: [
    .testTarget(
      name: "Samples",
      dependencies: [
        .product(name: "Redial", package: "redial"),
        .product(name: "RedialClient", package: "redial"),
        .product(name: "RedialCore", package: "redial"),
        .product(name: "RedialLegacy", package: "redial"),
      ],
      path: "Sources")
  ]
)
