/// A time, in whole microseconds since 1970-01-01T00:00:00Z.
///
/// All decisions use values of this type; the caller provides the current time. Arithmetic saturates, so that no wait,
/// however long, can trap.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Microseconds since the Unix epoch; negative before it.
  public var microseconds: Int64

  /// Creates a time from microseconds since the Unix epoch.
  @inlinable
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// The Unix epoch.
  public static let epoch = Timestamp(microseconds: 0)

  /// Later than every time that can be computed.
  public static let distantFuture = Timestamp(microseconds: .max)

  /// Whether the first time is earlier.
  @inlinable
  public static func < (a: Timestamp, b: Timestamp) -> Bool {
    a.microseconds < b.microseconds
  }

  /// The time that much later, at most ``distantFuture``.
  public static func + (time: Timestamp, wait: Duration) -> Timestamp {
    let (sum, overflow) = time.microseconds.addingReportingOverflow(wait.wholeMicroseconds)
    if overflow { return Timestamp(microseconds: wait < .zero ? .min : .max) }
    return Timestamp(microseconds: sum)
  }

  /// The time from the second to the first; negative if the first is earlier.
  public static func - (end: Timestamp, start: Timestamp) -> Duration {
    let (difference, overflow) = end.microseconds.subtractingReportingOverflow(start.microseconds)
    if overflow { return .microseconds(end < start ? Int64.min : Int64.max) }
    return .microseconds(difference)
  }
}
