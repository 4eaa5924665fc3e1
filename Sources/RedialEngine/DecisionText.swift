internal import RedialCore
internal import RedialModel
internal import RedialText

/// A decision as people see it.
enum DecisionText {
  static func decision(
    _ decision: RetryDecision, for end: AttemptEnd, failure: AttemptFailure?, of spec: CallSpec, held: HeldTimes?
  ) -> AttemptDecision {
    if case .succeed = decision.action { return AttemptDecision(.succeed, held: held) }
    return AttemptDecision(
      decision.action, because: because(decision, end, failure, spec), computed: decision.computed,
      jitter: decision.jitter, clamps: decision.clamps,
      waitsFor: decision.rule == .retryAfter ? .retryAfter : nil, held: held)
  }

  private static func because(
    _ decision: RetryDecision, _ end: AttemptEnd, _ failure: AttemptFailure?, _ spec: CallSpec
  ) -> String {
    let what = failure?.code ?? "the attempt failed"
    let asked = end.retryAfter.map(text) ?? "a while"
    return switch decision.rule {
    case .success: "status \(end.status)"
    case .retryableStatus: "status \(end.status) is retryable" + shorter(decision, end, spec.policy)
    case .retryableFailure: "\(what) is retryable"
    case .retryAfter: "status \(end.status) with Retry-After of \(asked)"
    case .interrupted where failure == .endedTheService: "Redial died during the attempt, and had died so before"
    case .interrupted: "the attempt was cut off by Redial, not by the target"
    case .statusNotRetryable:
      "status \(end.status) is not retryable"
        + (spec.idempotent || !RetryConditions.idempotent.statuses.contains(end.status) ? "" : notRepeated)
    case .statusStops: "status \(end.status) stops the call"
    case .failureNotRetryable where spec.idempotent:
      "\(what): the policy does not retry this failure; \"retryOn\": {\"network\": true} would"
    case .failureNotRetryable: "\(what): the request may have been executed" + notRepeated
    case .egressRefused: "\(what): the egress policy does not change with another attempt"
    case .unusableRequest: "\(what): the request cannot succeed as it is"
    case .retryAfterTooLong: "Retry-After of \(asked) is over the policy's maximum"
    case .attemptsSpent: "all attempts of the policy are used"
    case .deadlineNear: "the next attempt would start after the deadline, or could not finish before it"
    case .targetStops: "status \(end.status) with a field that says not to retry"
    case .stillProcessing:
      "status \(end.status), and an earlier attempt may have been executed: the target may still be processing it"
        + shorter(decision, end, spec.policy)
    case .targetRetries where failure == .tokenRefused: "the target refused a credential that is not the same any more"
    case .targetRetries: "status \(end.status) with a field that says to retry" + shorter(decision, end, spec.policy)
    case .scheduleEnded: "the policy's schedule has no further wait"
    }
  }

  /// Says why the wait that the target asked for does not count: the backoff is longer, or the policy ignores it. Empty
  /// if it asked for none, or if that counts.
  private static func shorter(_ decision: RetryDecision, _ end: AttemptEnd, _ policy: RetryPolicy) -> String {
    guard case .retry(let wait) = decision.action, let asked = end.retryAfter else { return "" }
    guard policy.askedWait(of: end) != nil else {
      return "; the policy ignores its Retry-After of \(text(asked))"
    }
    guard asked < wait else { return "" }
    return "; the backoff is longer than its Retry-After of \(text(asked))"
  }

  /// A wait that a target asks for.
  private static func text(_ wait: Duration) -> String {
    wait == .longest ? "over 30,000 years" : DurationText.format(wait)
  }

  /// Why a call that must not be executed twice was not repeated, and how to change that.
  private static let notRepeated =
    ", and the call says \"idempotent\": false; leave that out to repeat such attempts, "
    + "or list what to repeat in \"retryOn\""
}
