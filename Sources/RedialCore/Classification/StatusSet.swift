/// A set of HTTP status codes, stored as the ranges of its author.
public struct StatusSet: Sendable, Hashable {
  /// The ranges, in the order given; each within 100...999.
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

  /// Retried for a request that may be repeated: timeouts, throttling, and the server's own failures, including those
  /// of proxies and of servers with their own codes (507, 520 to 524, 529). A status from 600 is like any 5xx
  /// (RFC 9110 §15). Not 501, 505 and 511: the same request cannot succeed later (RFC 9110 §15.6.2, §15.6.6;
  /// RFC 6585 §6).
  public static let transient = StatusSet([
    408...408, 425...425, 429...429, 500...500, 502...504, 506...510, 512...999,
  ])

  /// Retried if the response has `Retry-After`: 409 Conflict and 423 Locked, which pass, and 413 Content Too Large,
  /// which is temporary if it has `Retry-After` (RFC 9110 §15.5.14).
  public static let temporary = StatusSet(statuses: [409, 413, 423])

  /// Retried for any request, because each of these says that it was not executed.
  public static let notExecuted = StatusSet(statuses: [408, 425, 429])

  /// Answered by a gateway for a server that may still be executing the request: 502 and 504 (RFC 9110 §15.6.3,
  /// §15.6.5), and Cloudflare's 520 and 524.
  public static let unfinished = StatusSet(statuses: [502, 504, 520, 524])

  /// Those whose definition gives `Retry-After` a meaning: 413 (RFC 9110 §15.5.14), 429 (RFC 6585 §4) and 503
  /// (RFC 9110 §15.6.4).
  public static let retryAfter = StatusSet(statuses: [413, 429, 503])

  /// 410 Gone: the target asks not to be called again.
  public static let gone = StatusSet(statuses: [410])
}
