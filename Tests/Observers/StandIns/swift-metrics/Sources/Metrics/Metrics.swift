// swift-format-ignore-file
// Stands in for swift-metrics': what `MetricsObserver` uses of it, with the same names and types. It prints.

public final class Counter: Sendable {
  private let text: String

  public init(label: String, dimensions: [(String, String)]) { text = described(label, dimensions) }

  public func increment<DataType: BinaryInteger>(by amount: DataType) { print("count \(text) \(amount)") }
  public func increment() { increment(by: 1) }
}

public final class Timer: Sendable {
  private let text: String

  public init(label: String, dimensions: [(String, String)]) { text = described(label, dimensions) }

  public func recordNanoseconds(_ duration: Int64) { print("time \(text) \(duration)") }
}

private func described(_ label: String, _ dimensions: [(String, String)]) -> String {
  "\(label)[\(dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ","))]"
}
