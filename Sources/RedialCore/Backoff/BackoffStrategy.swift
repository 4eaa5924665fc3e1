/// What decides how long to wait before each retry.
///
/// ``Backoff`` is the strategy that Redial brings. A type of your own that
/// conforms drives the same machinery; here one that waits for whole minutes:
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
  ///   - retry: Which one, counted from 0.
  ///   - history: The waits that this strategy has given the same call before.
  ///   - random: The only source of chance.
  func wait(
    beforeRetry retry: Int, after history: WaitHistory, using random: inout some RandomNumberGenerator
  ) -> BackoffWait?
}

/// The waits that a backoff has given one call so far: what a strategy with a memory needs.
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

/// One computed wait, and how it came about.
public struct BackoffWait: Sendable, Hashable {
  /// What to wait; never negative.
  public var duration: Duration
  /// The base, before jitter and after the cap where that comes first.
  public var base: Duration
  /// What jitter made of the base, as a factor; 1 without jitter.
  public var scale: Double
  /// What held the wait within bounds.
  public var clamps: WaitClamps

  /// Creates a wait; without a base, it is taken to be the base.
  public init(_ duration: Duration, base: Duration? = nil, scale: Double = 1, clamps: WaitClamps = []) {
    self.duration = duration
    self.base = base ?? duration
    self.scale = scale
    self.clamps = clamps
  }
}

/// What held a wait within bounds.
public struct WaitClamps: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt8

  /// Creates a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The backoff's maximum.
  public static let maximum = WaitClamps(rawValue: 1)
  /// The deadline: the last attempt was pulled forward so that it can still finish.
  public static let deadline = WaitClamps(rawValue: 2)
  /// The shortest wait of a policy that sets no limit on attempts.
  public static let minimum = WaitClamps(rawValue: 4)
}
