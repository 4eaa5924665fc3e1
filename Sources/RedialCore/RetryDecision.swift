/// What follows from an attempt, with the reasons.
public struct RetryDecision: Sendable, Hashable {
  /// What to do now.
  public enum Action: Sendable, Hashable {
    /// The call has succeeded.
    case succeed
    /// Try again, no earlier than after this wait.
    case retry(after: Duration)
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
    /// The target said when to come back.
    case retryAfter = 3
    /// The attempt was cut off by this side; that is never held against the call.
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
    /// The next attempt would start past the deadline.
    case deadlineNear = 11
  }

  /// What to do now.
  public var action: Action
  /// Why.
  public var rule: Rule
  /// The capped base that the backoff gave, when one was computed.
  public var computed: Duration?
  /// What the base was multiplied by, when jitter was drawn.
  public var jitter: Double?

  /// Creates a decision from its parts.
  public init(_ action: Action, rule: Rule, computed: Duration? = nil, jitter: Double? = nil) {
    self.action = action
    self.rule = rule
    self.computed = computed
    self.jitter = jitter
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

/// One attempt's end, as far as the decision needs it.
public struct AttemptEnd: Sendable, Hashable {
  /// How far the attempt got.
  public var outcome: OutcomeClass
  /// The status, when answered.
  public var status: Int
  /// The wait that the target asked for, already parsed; nil when it asked for none.
  public var retryAfter: Duration?
  /// How many attempts have been made, this one included.
  public var attempts: Int
  /// When the call's time began.
  public var startedAt: Timestamp

  /// Creates the description of an attempt's end.
  public init(outcome: OutcomeClass, status: Int = 0, retryAfter: Duration? = nil, attempts: Int, startedAt: Timestamp)
  {
    self.outcome = outcome
    self.status = status
    self.retryAfter = retryAfter
    self.attempts = attempts
    self.startedAt = startedAt
  }
}

extension RetryPolicy {
  /// Decides what follows from an attempt.
  ///
  /// A retry is never placed past the deadline, and never earlier than the
  /// target asked for. The same arguments and the same state of `random` give
  /// the same decision; nothing is allocated.
  public func decide(
    _ end: AttemptEnd, at now: Timestamp, using random: inout some RandomNumberGenerator
  ) -> RetryDecision {
    let rule: RetryDecision.Rule
    switch end.outcome {
    case .answered where (200...299).contains(end.status):
      return RetryDecision(.succeed, rule: .success)
    case .answered where stopOn.contains(end.status):
      return RetryDecision(.stop(.notRetryable), rule: .statusStops)
    case .answered where retryOn.statuses.contains(end.status):
      rule = .retryableStatus
    case .answered:
      return RetryDecision(.stop(.notRetryable), rule: .statusNotRetryable)
    case .notSent where retryOn.network != .never, .maybeSent where retryOn.network == .always:
      rule = .retryableFailure
    case .notSent, .maybeSent:
      return RetryDecision(.stop(.notRetryable), rule: .failureNotRetryable)
    case .unusable:
      return RetryDecision(.stop(.notRetryable), rule: .unusableRequest)
    case .localFault, .interrupted, .cancelled:
      rule = .interrupted
    }
    guard end.attempts < maxAttempts else {
      return RetryDecision(.stop(.attemptsExhausted), rule: .attemptsSpent)
    }
    return paced(end, rule: rule, at: now, using: &random)
  }

  /// Places the next attempt, now that there is to be one.
  private func paced(
    _ end: AttemptEnd, rule: RetryDecision.Rule, at now: Timestamp, using random: inout some RandomNumberGenerator
  ) -> RetryDecision {
    var decision: RetryDecision
    let wait: Duration
    if retryAfter.isRespected, end.outcome == .answered, let asked = end.retryAfter {
      guard asked <= retryAfter.maximum else {
        return RetryDecision(.stop(.notRetryable), rule: .retryAfterTooLong)
      }
      wait = asked
      decision = RetryDecision(.retry(after: asked), rule: .retryAfter)
    } else {
      let drawn = backoff.wait(beforeRetry: end.attempts - 1, using: &random)
      wait = drawn.duration
      decision = RetryDecision(.retry(after: wait), rule: rule, computed: drawn.base, jitter: drawn.scale)
    }
    if now + wait >= end.startedAt + deadline {
      decision.action = .stop(.deadlineExceeded)
      decision.rule = .deadlineNear
    }
    return decision
  }
}
