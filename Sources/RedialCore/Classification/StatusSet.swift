/// A set of HTTP status codes, kept as the ranges that its author named.
public struct StatusSet: Sendable, Hashable {
  /// The ranges, in the order given; each within 100...599.
  public var ranges: [ClosedRange<Int>]

  /// Creates a set of the statuses in any of the ranges.
  public init(_ ranges: [ClosedRange<Int>]) {
    self.ranges = ranges
  }

  /// Creates a set of single statuses.
  public init(statuses: [Int]) {
    ranges = statuses.map { $0...$0 }
  }

  /// Whether a status is in the set.
  ///
  /// - Complexity: O(*n*) in the number of ranges; no allocation.
  public func contains(_ status: Int) -> Bool {
    for range in ranges where range.contains(status) { return true }
    return false
  }

  /// The empty set.
  public static let none = StatusSet([])

  /// Worth a retry for a request that may be repeated: timeouts, throttling, and the server's own failures.
  public static let transient = StatusSet(statuses: [408, 425, 429, 500, 502, 503, 504])

  /// Worth a retry for any request, since each of these says that it was not executed.
  public static let notExecuted = StatusSet(statuses: [408, 425, 429])

  /// 410 Gone: the target asks not to be called again.
  public static let gone = StatusSet(statuses: [410])
}
