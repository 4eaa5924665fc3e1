/// What follows from an attempt, with the reasons.
public struct RetryDecision: Sendable, Hashable {
  /// What to do now.
  public enum Action: Sendable, Hashable {
    /// The call has succeeded.
    case succeed
    /// Try again, no earlier than after this wait.
    case retry(after: Duration)
    /// Try again, no earlier than at this time: the target has asked for a long wait, so that nothing but the call
    /// itself should be kept for it.
    case park(until: Timestamp)
    /// Give up.
    case stop(StopReason)
  }

  /// The rule that led to the action.
  public enum Rule: UInt8, Sendable, Hashable, CaseIterable {
    /// A 2xx status.
    case success = 0
    /// The status is among those worth a retry.
    case retryableStatus = 1
    /// A transport failure worth a retry.
    case retryableFailure = 2
    /// The target said when to come back, which is no earlier than the backoff would.
    case retryAfter = 3
    /// The attempt was cut off by this side, or failed on it; that is not held against the target.
    case interrupted = 4
    /// The status is not among those worth a retry.
    case statusNotRetryable = 5
    /// The status is among those that stop the call.
    case statusStops = 6
    /// The failure is not among those worth a retry: the request may have been executed.
    case failureNotRetryable = 7
    /// The request can never succeed as it stands.
    case unusableRequest = 8
    /// The target asked for a longer wait than the policy allows.
    case retryAfterTooLong = 9
    /// All attempts are spent.
    case attemptsSpent = 10
    /// The next attempt would start past the deadline, or could not finish before it.
    case deadlineNear = 11
    /// The target said, in a field for it, not to try again.
    case targetStops = 12
    /// The target said, in a field for it, to try again.
    case targetRetries = 13
    /// The schedule of the backoff has no further wait.
    case scheduleEnded = 14
    /// The egress policy refused the address.
    case egressRefused = 15
  }

  /// What to do now.
  public var action: Action
  /// Why.
  public var rule: Rule
  /// The base that the backoff gave, when one was computed.
  public var computed: Duration?
  /// What the base was multiplied by, when jitter was drawn.
  public var jitter: Double?
  /// What held the wait within bounds.
  public var clamps: WaitClamps
  /// The waits that the backoff has given, this one included: what the next decision takes as ``AttemptEnd/waits``.
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
  /// The outcome is not worth another attempt.
  case notRetryable = 3
  /// The target's breaker was open and the policy says not to wait.
  case tripped = 4
  /// The egress policy forbids the address.
  case blocked = 5
}
