/// Why retrying has ended without success.
public struct RetryError: Error, Sendable, CustomStringConvertible {
  /// The reason.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Every attempt of the policy was made.
    case attemptsExhausted
    /// The deadline passed, or the next attempt would have come too late for it.
    case deadlineExceeded
    /// The error is not retried.
    case notRetryable
    /// The breaker was open, and the policy says not to wait.
    case tripped
    /// The breaker has closed and lets calls back in gradually (``BreakerRecovery/limitsAll``), and the policy says not to
    /// wait.
    case recovering
    /// The shared retry budget was used up.
    case budgetExhausted
    /// The task was cancelled. Only `Retrier.result` uses it; elsewhere it is a `CancellationError`.
    case cancelled
  }

  /// One failed attempt.
  public struct Attempt: Sendable {
    /// Its number, from 1.
    public var number: Int
    /// When it started, counted from the start of the run.
    public var startedAfter: Duration
    /// How long it took.
    public var duration: Duration
    /// Its error.
    public var error: any Error
    /// The decision about it.
    public var decision: RetryDecision
  }

  /// Why.
  public var reason: Reason
  /// The number of attempts.
  public var attempts: Int
  /// The error of the last attempt; nil if the breaker was open before the first.
  public var lastError: (any Error)?
  /// The latest failed attempts, oldest first; at most ``historyLimit``.
  public var history: [Attempt]
  /// The time of the whole run.
  public var elapsed: Duration
  /// When an open breaker lets a call through again, as time from now.
  public var retryAfter: Duration?
  /// The breaker that let no attempt through when the run ended; nil if none did.
  public var breaker: CircuitOpen?

  /// The maximum number of attempts in the history.
  public static let historyLimit = 100

  /// For people.
  public var description: String {
    let cause = lastError.map { "; the last error was: \($0)" } ?? ""
    let made = "\(attempts) attempt\(attempts == 1 ? "" : "s") in \(elapsed.forPeople)"
    let open = breaker.map { "\($0)" } ?? "the circuit breaker is open"
    return switch reason {
    case .attemptsExhausted: "gave up after \(made): no attempt is left\(cause)"
    case .deadlineExceeded where breaker != nil && attempts == 0:
      "not tried: \(open), and the deadline comes first"
    case .deadlineExceeded where breaker != nil: "gave up after \(made): \(open), and the deadline comes first\(cause)"
    case .deadlineExceeded: "gave up after \(made): the deadline leaves no time for another\(cause)"
    case .notRetryable: "gave up after \(made): the error is not worth another\(cause)"
    case .tripped where attempts == 0: "not tried: \(open)"
    case .tripped: "gave up after \(made): \(open)\(cause)"
    case .recovering: "gave up after \(made): the circuit breaker has closed and lets calls back in bit by bit\(cause)"
    case .budgetExhausted: "gave up after \(made): the retry budget is spent\(cause)"
    case .cancelled: "cancelled after \(made)\(cause)"
    }
  }
}
