/// How long a target usually takes to answer, and from when on its silence is long.
///
/// If this side ends an attempt before its own timeout, because the call's deadline passed or a client cancelled it,
/// that says nothing about a target that had no time to answer. After a long silence it counts like a timeout. Long is
/// ``few`` times the usual time, and never less than a limit of the caller's.
///
/// The usual time is the retransmission timeout of TCP (RFC 6298, section 2): the smoothed mean of the times plus four
/// times their smoothed deviation, so that a target whose times vary a lot is given more time.
public struct ResponseTime: Sendable, Hashable {
  /// The number of usual times after which a silence is long.
  public static let few: Int64 = 3

  /// In microseconds; negative before the first answer.
  @usableFromInline var mean: Int64 = -1
  @usableFromInline var deviation: Int64 = 0

  /// The response times of a target that has not answered yet.
  public init() {}

  /// The usual time; nil before the first answer.
  public var usual: Duration? { mean < 0 ? nil : .microseconds(mean + 4 * deviation) }

  /// Counts an answer.
  ///
  /// - Parameter time: How long it took; a negative time counts as zero.
  public mutating func record(_ time: Duration) {
    // Sums of a few of these stay far below 2^63.
    let sample = min(max(0, time.wholeMicroseconds), Self.longest)
    if mean < 0 {
      mean = sample
      deviation = sample / 2
    } else {
      deviation += (abs(sample - mean) - deviation) / 4
      mean += (sample - mean) / 8
    }
  }

  /// The length of a silence that counts against the target.
  ///
  /// - Parameter least: The minimum, whatever the usual time is.
  public func longSilence(atLeast least: Duration) -> Duration {
    .microseconds(longSilence(atLeastMicroseconds: least.wholeMicroseconds))
  }

  /// The same in microseconds.
  @inlinable
  public func longSilence(atLeastMicroseconds least: Int64) -> Int64 {
    mean < 0 ? least : max(least, Self.few * (mean + 4 * deviation))
  }

  /// A thousand days.
  private static let longest: Int64 = 86_400_000_000_000
}
