/// Decides how long to wait before each retry.
///
/// ``Backoff`` is Redial's own strategy. Your own type can conform and drive the same code; this one waits for whole
/// minutes:
///
/// ```swift
/// struct OnTheMinute: BackoffStrategy {
///   func wait(
///     beforeRetry retry: Int, after history: WaitHistory, using random: inout some RandomNumberGenerator
///   ) -> BackoffWait? {
///     retry < 5 ? BackoffWait(.seconds(60 * (retry + 1))) : nil
///   }
/// }
/// ```
public protocol BackoffStrategy: Sendable {
  /// The wait before a retry, or nil for no retry.
  ///
  /// The same arguments and the same state of `random` must give the same wait.
  ///
  /// - Parameters:
  ///   - retry: The number of the retry, counted from 0.
  ///   - history: The waits that this strategy has given the same call before.
  ///   - random: The only source of randomness.
  func wait(
    beforeRetry retry: Int, after history: WaitHistory, using random: inout some RandomNumberGenerator
  ) -> BackoffWait?
}

/// The waits that a backoff has given one call so far: for strategies that depend on them.
public struct WaitHistory: Sendable, Hashable {
  /// The latest wait; zero before the first.
  public var previous: Duration
  /// The sum of all waits.
  public var total: Duration

  /// Creates a history from its parts.
  public init(previous: Duration = .zero, total: Duration = .zero) {
    self.previous = previous
    self.total = total
  }

  /// Before the first wait.
  public static let none = WaitHistory()

  /// The history with one more wait; the sum saturates.
  public func adding(_ wait: Duration) -> WaitHistory {
    let (sum, overflow) = total.wholeMicroseconds.addingReportingOverflow(wait.wholeMicroseconds)
    return WaitHistory(previous: wait, total: overflow ? .longest : .microseconds(sum))
  }
}

/// One computed wait, and how it was computed.
public struct BackoffWait: Sendable, Hashable {
  /// The wait; never negative.
  public var duration: Duration
  /// The base, before jitter, and after the cap if that comes first.
  public var base: Duration
  /// The factor by which jitter multiplied the base; 1 without jitter.
  public var scale: Double
  /// What limited the wait.
  public var clamps: WaitClamps

  /// Creates a wait; without a base, the wait is the base.
  public init(_ duration: Duration, base: Duration? = nil, scale: Double = 1, clamps: WaitClamps = []) {
    self.duration = duration
    self.base = base ?? duration
    self.scale = scale
    self.clamps = clamps
  }
}

/// What limited a wait.
public struct WaitClamps: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt8

  /// Creates a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The backoff's maximum.
  public static let maximum = WaitClamps(rawValue: 1)
  /// The deadline: the last attempt was moved forward so that it can still finish.
  public static let deadline = WaitClamps(rawValue: 2)
  /// The shortest wait of a policy that sets no limit on attempts.
  public static let minimum = WaitClamps(rawValue: 4)
}
