/// A policy or a call says something that the service has no words for. Nothing was sent.
public struct UnsupportedByService: Error, Hashable, CustomStringConvertible {
  /// What says it, such as `policy.throttlingBackoff`.
  public var part: String
  /// Why it cannot be sent.
  public var reason: String

  init(_ part: String, _ reason: String) {
    self.part = part
    self.reason = reason
  }

  /// For people.
  public var description: String { "the service does not support \(part): \(reason)" }

  /// Passes on a number that lies in the range that the service takes.
  static func check<Value: Comparable>(_ value: Value, in range: ClosedRange<Value>, part: String) throws -> Value {
    guard range.contains(value) else {
      throw UnsupportedByService(part, "\(value) is not from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }
}
