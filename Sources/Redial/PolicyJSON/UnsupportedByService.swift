public import Foundation

/// A part of a policy, a call or a filter that the service does not support, so that its JSON has no words for it. Nothing was
/// sent or written.
public struct UnsupportedByService: LocalizedError, Hashable, CustomStringConvertible {
  /// The part, such as `policy.throttlingBackoff`.
  public var part: String
  /// Why it cannot be sent.
  public var reason: String

  package init(_ part: String, _ reason: String) {
    self.part = part
    self.reason = reason
  }

  /// For people.
  public var description: String { "the service does not support \(part): \(reason)" }
  /// The same.
  public var errorDescription: String? { description }

  /// Returns a number that is in the service's range.
  package static func check<Value: Comparable>(_ value: Value, in range: ClosedRange<Value>, part: String) throws
    -> Value
  {
    guard range.contains(value) else {
      throw UnsupportedByService(part, "\(value) is not from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }
}
