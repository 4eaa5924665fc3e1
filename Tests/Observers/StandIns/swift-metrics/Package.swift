// swift-tools-version:6.2
import PackageDescription

let package = Package(
  name: "swift-metrics", products: [.library(name: "Metrics", targets: ["Metrics"])],
  targets: [.target(name: "Metrics")])
