extension RetryPolicy {
  /// The wait before the first attempt, and the history for the retries; nil if the deadline leaves no time for an
  /// attempt after it, also without a wait: if the deadline is zero or negative, or no longer than
  /// ``DeadlineRule/minimumAttemptTime``. ``InitialDelay/none`` draws nothing.
  public func initialWait(using random: inout some RandomNumberGenerator) -> (wait: Duration, waits: WaitHistory)? {
    let room = deadlineRule.measure == .elapsed ? timeForAttempts : .longest
    guard room > .zero else { return nil }
    var wait: Duration
    switch initialDelay {
    case .none: return (.zero, .none)
    case .fixed(let fixed): wait = max(.zero, fixed)
    case .backoff: wait = backoff.wait(beforeRetry: 0, using: &random)?.duration ?? .zero
    }
    if deadlineRule.measure == .elapsed, wait >= room {
      guard deadlineRule.lastAttempt == .pullForward else { return nil }
      wait = .microseconds(max(1, room.wholeMicroseconds) - 1)
    }
    return (wait, initialDelay == .backoff ? WaitHistory.none.adding(wait) : .none)
  }

  /// The meaning of an attempt's end, and the rule for it.
  public func classify(_ end: AttemptEnd) -> (classification: RetryClassification, rule: RetryDecision.Rule) {
    switch end.outcome {
    case .answered where (200...299).contains(end.status): return (.success, .success)
    case .answered where end.directive == .stop: return (.permanent, .targetStops)
    case .answered where stopOn.contains(end.status): return (.permanent, .statusStops)
    // What was sent when the connection was given up does not show that the request was not executed.
    case .answered
    where end.status == 408 && end.isOnUsedConnection && retryOn.network != .always && end.directive != .retry:
      return (.permanent, .statusNotRetryable)
    case .answered:
      let isListed =
        retryOn.statuses.contains(end.status)
        || (end.retryAfter != nil && retryOn.statusesWithRetryAfter.contains(end.status))
      if !isListed, end.directive == nil, retryOn.network == .always, end.saysStillProcessing {
        return (.transient, .stillProcessing)
      }
      guard isListed || end.directive == .retry else { return (.permanent, .statusNotRetryable) }
      let isThrottling = end.status == 429 || (end.status == 503 && end.retryAfter != nil)
      return (isThrottling ? .throttling : .transient, isListed ? .retryableStatus : .targetRetries)
    case .notSent where retryOn.network != .never, .maybeSent where retryOn.network == .always:
      return (.transient, .retryableFailure)
    case .notSent, .maybeSent: return (.permanent, .failureNotRetryable)
    case .unusable: return (.permanent, .unusableRequest)
    case .blocked: return (.permanent, .egressRefused)
    // The fault is on this side, but the target may have acted on the part of the request that it received.
    case .localFault where end.mayHaveLeft && retryOn.network != .always: return (.permanent, .failureNotRetryable)
    case .localFault, .interrupted, .cancelled: return (.ignored, .interrupted)
    }
  }

  /// The wait that the target requested, if this policy follows it.
  ///
  /// - Returns: Nil if the target requested none, if ``RetryAfterRule/isRespected`` is false, and if it does not count
  ///   for the status. It counts for ``RetryAfterRule/statuses``, for ``RetryConditions/statusesWithRetryAfter``, if the
  ///   target says to retry (``RetryDirective/retry``), and if it is still processing an earlier attempt.
  public func askedWait(of end: AttemptEnd) -> Duration? {
    guard retryAfter.isRespected, end.outcome == .answered, let asked = end.retryAfter else { return nil }
    let counts =
      retryAfter.statuses.contains(end.status) || retryOn.statusesWithRetryAfter.contains(end.status)
      || end.directive == .retry || end.saysStillProcessing
    return counts ? asked : nil
  }

  /// Decides what to do after an attempt, with the policy's own backoff.
  ///
  /// A retry is never placed after the deadline, and never earlier than the target requested, nor earlier than the
  /// backoff: the longer of the two waits counts. The same arguments and the same state of `random` give the same
  /// decision; nothing is allocated.
  public func decide(
    _ end: AttemptEnd, at now: Timestamp, using random: inout some RandomNumberGenerator
  ) -> RetryDecision {
    decide(end, at: now, backoff: backoff(after: end), using: &random)
  }

  /// The backoff after an attempt: ``throttlingBackoff`` after a throttling response, if there is one.
  private func backoff(after end: AttemptEnd) -> Backoff {
    guard let throttlingBackoff, classify(end).classification == .throttling else { return backoff }
    return throttlingBackoff
  }

  /// Decides what to do after an attempt, with a strategy of the caller in place of ``backoff``.
  public func decide(
    _ end: AttemptEnd, at now: Timestamp, backoff: some BackoffStrategy, using random: inout some RandomNumberGenerator
  ) -> RetryDecision {
    let (classification, rule) = classify(end)
    return decide(end, classification, rule, at: now, backoff: backoff, using: &random)
  }

  private func decide(
    _ end: AttemptEnd, _ classification: RetryClassification, _ rule: RetryDecision.Rule, at now: Timestamp,
    backoff: some BackoffStrategy, using random: inout some RandomNumberGenerator
  ) -> RetryDecision {
    switch classification {
    case .success: return RetryDecision(.succeed, rule: rule, waits: end.waits)
    case .permanent:
      return RetryDecision(
        .stop(rule == .egressRefused ? .blocked : .notRetryable), rule: rule, waits: end.waits)
    case .transient, .throttling, .ignored: break
    }
    guard end.attempts < maxAttempts else {
      return RetryDecision(.stop(.attemptsExhausted), rule: .attemptsSpent, waits: end.waits)
    }
    // An attempt that was interrupted before any was counted is repeated as if it were the first retry.
    let retry = max(1, end.attempts) - 1 + (initialDelay == .backoff ? 1 : 0)
    guard let drawn = backoff.wait(beforeRetry: retry, after: end.waits, using: &random) else {
      return RetryDecision(.stop(.attemptsExhausted), rule: .scheduleEnded, waits: end.waits)
    }
    // The target's request changes the wait, not the number of retries in the schedule.
    let shortest = shortestWait(beforeRetry: max(1, end.attempts) - 1)
    guard let told = askedWait(of: end) else {
      return placed(drawn, end, rule, atLeast: shortest, at: now)
    }
    // The longer of the two waits. Otherwise a target that requests less than the backoff, such as one with a slow
    // clock and so a past date, would get retries without a pause.
    let isLong = told > retryAfter.maximum
    if isLong, retryAfter.beyond == .stop {
      return RetryDecision(.stop(.notRetryable), rule: .retryAfterTooLong, waits: end.waits)
    }
    let isClamped = isLong && retryAfter.beyond == .clamp
    let asked = AskedWait(isClamped ? max(.zero, retryAfter.maximum) : told, spread: retryAfter.spread, using: &random)
    guard asked.wait >= drawn.duration else {
      return placed(drawn, end, rule, atLeast: max(asked.wait, shortest), at: now)
    }
    var decision = placedByTarget(max(asked.wait, shortest), isParked: isLong && !isClamped, end, at: now)
    guard decision.rule == .retryAfter else { return decision }
    if isClamped { decision.clamps.insert(.maximum) }
    if shortest > asked.wait { decision.clamps.insert(.minimum) }
    (decision.computed, decision.jitter) = (asked.computed, asked.jitter)
    return decision
  }

  /// The target's time is not earlier than the backoff's: then, or never.
  private func placedByTarget(
    _ wait: Duration, isParked: Bool, _ end: AttemptEnd, at now: Timestamp
  ) -> RetryDecision {
    guard wait < room(for: end, at: now) else {
      return RetryDecision(.stop(.deadlineExceeded), rule: .deadlineNear, waits: end.waits)
    }
    return RetryDecision(
      isParked ? .park(until: now + wait) : .retry(after: wait), rule: .retryAfter,
      // A deadline that counts the waits counts these too, or a target could put the end off forever.
      waits: deadlineRule.measure == .sumOfWaits
        ? WaitHistory(previous: end.waits.previous, total: end.waits.adding(wait).total) : end.waits)
  }

  /// The backoff has drawn a wait: that one, a shorter one before the deadline, or none.
  ///
  /// - Parameter least: The minimum of any wait, even one that is shortened to end before the deadline.
  private func placed(
    _ drawn: BackoffWait, _ end: AttemptEnd, _ rule: RetryDecision.Rule, atLeast least: Duration, at now: Timestamp
  ) -> RetryDecision {
    var decision = RetryDecision(
      .succeed, rule: rule, computed: drawn.base, jitter: drawn.scale, clamps: drawn.clamps, waits: end.waits)
    var wait = max(.zero, drawn.duration)
    if wait < least {
      wait = least
      decision.clamps.insert(.minimum)
    }
    let room = room(for: end, at: now)
    if wait >= room {
      let latest = Duration.microseconds(max(1, room.wholeMicroseconds) - 1)
      guard deadlineRule.lastAttempt == .pullForward, room > .zero, latest >= least else {
        decision.action = .stop(.deadlineExceeded)
        decision.rule = .deadlineNear
        return decision
      }
      wait = latest
      decision.clamps.insert(.deadline)
    }
    decision.action = .retry(after: wait)
    decision.waits = end.waits.adding(wait)
    return decision
  }

  /// The limit for a wait, so that an attempt after it can finish before the deadline; zero if no time is left, and
  /// unlimited if the deadline counts only waits and has not been reached.
  private func room(for end: AttemptEnd, at now: Timestamp) -> Duration {
    switch deadlineRule.measure {
    case .elapsed: timeForAttempts.subtracting(elapsed(end, at: now))
    case .sumOfWaits: end.waits.total < deadline ? .seconds(Int64.max) : .zero
    }
  }

  /// An attempt can begin before this much of the call's time has passed.
  private var timeForAttempts: Duration {
    deadline.subtracting(max(.zero, deadlineRule.minimumAttemptTime))
  }

  /// The time since the call's start. If the clock has gone back to before the start, it is unknown; at least the waits
  /// have passed, and they add up to the deadline in the end.
  private func elapsed(_ end: AttemptEnd, at now: Timestamp) -> Duration {
    now >= end.startedAt ? now - end.startedAt : max(.zero, end.waits.total)
  }
}
