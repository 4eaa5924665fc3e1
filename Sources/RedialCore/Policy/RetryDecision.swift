/// The decision after an attempt, with its reasons.
public struct RetryDecision: Sendable, Hashable {
  /// What to do now.
  public enum Action: Sendable, Hashable {
    /// The call has succeeded.
    case succeed
    /// Retry, no earlier than after this wait.
    case retry(after: Duration)
    /// Retry, no earlier than at this time: the target has requested a long wait, during which only the call itself
    /// should be kept.
    case park(until: Timestamp)
    /// Give up.
    case stop(StopReason)
  }

  /// The rule that led to the action.
  public enum Rule: UInt8, Sendable, Hashable, CaseIterable {
    /// A 2xx status.
    case success = 0
    /// The status is one of those that are retried.
    case retryableStatus = 1
    /// A transport failure that is retried.
    case retryableFailure = 2
    /// The target requested a wait that is not shorter than the backoff.
    case retryAfter = 3
    /// This side interrupted the attempt, or failed; that does not count against the target.
    case interrupted = 4
    /// The status is not one of those that are retried.
    case statusNotRetryable = 5
    /// The status is one of those that stop the call.
    case statusStops = 6
    /// The failure is not retried: the request may have been executed.
    case failureNotRetryable = 7
    /// The request can never succeed.
    case unusableRequest = 8
    /// The target requested a longer wait than the policy allows.
    case retryAfterTooLong = 9
    /// All attempts are used up.
    case attemptsSpent = 10
    /// The next attempt would start past the deadline, or could not finish before it.
    case deadlineNear = 11
    /// The target said in its field not to retry.
    case targetStops = 12
    /// The target said in its field to retry.
    case targetRetries = 13
    /// The schedule of the backoff has no further wait.
    case scheduleEnded = 14
    /// The egress policy refused the address.
    case egressRefused = 15
    /// A 409, and the target may still be processing an earlier attempt.
    case stillProcessing = 16
  }

  /// What to do now.
  public var action: Action
  /// Why.
  public var rule: Rule
  /// The base of the backoff, if one was computed.
  public var computed: Duration?
  /// The factor of the base, if jitter was drawn.
  public var jitter: Double?
  /// What limited the wait.
  public var clamps: WaitClamps
  /// The waits that the backoff has given, including this one: the next decision takes them as ``AttemptEnd/waits``.
  public var waits: WaitHistory

  /// Creates a decision from its parts.
  public init(
    _ action: Action, rule: Rule, computed: Duration? = nil, jitter: Double? = nil, clamps: WaitClamps = [],
    waits: WaitHistory = .none
  ) {
    self.action = action
    self.rule = rule
    self.computed = computed
    self.jitter = jitter
    self.clamps = clamps
    self.waits = waits
  }
}

/// Why a call ended without success.
public enum StopReason: UInt8, Sendable, Hashable, CaseIterable {
  /// Every attempt of the policy was made.
  case attemptsExhausted = 1
  /// The deadline passed, or the next attempt would have started after it.
  case deadlineExceeded = 2
  /// The outcome is not retried.
  case notRetryable = 3
  /// The target's breaker was open and the policy says not to wait.
  case tripped = 4
  /// The egress policy forbids the address.
  case blocked = 5
  /// The process that made the attempts has died during them, more than once. A service decides that, not a policy.
  case attemptEndedTheService = 6
}
