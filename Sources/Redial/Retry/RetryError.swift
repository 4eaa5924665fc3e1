/// Why retrying has ended without success.
public struct RetryError: Error, Sendable, CustomStringConvertible {
  /// The reason.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Every attempt of the policy was made.
    case attemptsExhausted
    /// The deadline passed, or the next attempt would have come too late for it.
    case deadlineExceeded
    /// The error is not worth another attempt.
    case notRetryable
    /// The breaker was open, or lets calls back in bit by bit, and the policy says not to wait.
    case tripped
    /// The retry budget that calls share was spent.
    case budgetExhausted
    /// The task was cancelled. Only ``Retrier/result(isolation:_:)`` says so; elsewhere it is a `CancellationError`.
    case cancelled
  }

  /// One failed attempt.
  public struct Attempt: Sendable {
    /// Its number, from 1.
    public var number: Int
    /// When it started, counted from the start of the whole.
    public var startedAfter: Duration
    /// How long it took.
    public var duration: Duration
    /// What it threw.
    public var error: any Error
    /// What was decided on it.
    public var decision: RetryDecision
  }

  /// Why.
  public var reason: Reason
  /// How many attempts were made.
  public var attempts: Int
  /// What the last attempt threw; nil when the breaker was open before the first.
  public var lastError: (any Error)?
  /// The latest failed attempts, oldest first; at most ``historyLimit``.
  public var history: [Attempt]
  /// The time that it all took.
  public var elapsed: Duration
  /// When a breaker that was open lets a call through again, as time from now.
  public var retryAfter: Duration?

  /// How many attempts the history keeps.
  public static let historyLimit = 100

  /// For people.
  public var description: String {
    let cause = lastError.map { "; the last error was: \($0)" } ?? ""
    let made = "\(attempts) attempt\(attempts == 1 ? "" : "s") in \(elapsed.forPeople)"
    return switch reason {
    case .attemptsExhausted: "gave up after \(made): no attempt is left\(cause)"
    case .deadlineExceeded: "gave up after \(made): the deadline leaves no time for another\(cause)"
    case .notRetryable: "gave up after \(made): the error is not worth another\(cause)"
    case .tripped where attempts == 0: "not tried: the circuit breaker is open"
    case .tripped: "gave up after \(made): the circuit breaker is open\(cause)"
    case .budgetExhausted: "gave up after \(made): the retry budget is spent\(cause)"
    case .cancelled: "cancelled after \(made)\(cause)"
    }
  }
}
