extension RetryPolicy {
  /// The wait before the first attempt, and what it leaves for the retries to know; nil when the deadline leaves no time
  /// for an attempt after it: also without a wait, where the deadline is zero or negative, or no longer than
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

  /// What an attempt's end means, and by which rule.
  public func classify(_ end: AttemptEnd) -> (classification: RetryClassification, rule: RetryDecision.Rule) {
    switch end.outcome {
    case .answered where (200...299).contains(end.status): return (.success, .success)
    case .answered where end.directive == .stop: return (.permanent, .targetStops)
    case .answered where stopOn.contains(end.status): return (.permanent, .statusStops)
    case .answered:
      let isListed =
        retryOn.statuses.contains(end.status)
        || (end.retryAfter != nil && retryOn.statusesWithRetryAfter.contains(end.status))
      guard isListed || end.directive == .retry else { return (.permanent, .statusNotRetryable) }
      let isThrottling = end.status == 429 || (end.status == 503 && end.retryAfter != nil)
      return (isThrottling ? .throttling : .transient, isListed ? .retryableStatus : .targetRetries)
    case .notSent where retryOn.network != .never, .maybeSent where retryOn.network == .always:
      return (.transient, .retryableFailure)
    case .notSent, .maybeSent: return (.permanent, .failureNotRetryable)
    case .unusable: return (.permanent, .unusableRequest)
    case .blocked: return (.permanent, .egressRefused)
    // The fault is on this side, and yet the target may have acted on what it has of the request.
    case .localFault where end.mayHaveLeft && retryOn.network != .always: return (.permanent, .failureNotRetryable)
    case .localFault, .interrupted, .cancelled: return (.ignored, .interrupted)
    }
  }

  /// The wait that the target asked for, where this policy goes by it.
  ///
  /// - Returns: Nil where the target asked for none, where ``RetryAfterRule/isRespected`` is false, and where it does not
  ///   count for the status. It counts for ``RetryAfterRule/statuses``, for
  ///   ``RetryConditions/statusesWithRetryAfter``, and where the target says to retry (``RetryDirective/retry``).
  public func askedWait(of end: AttemptEnd) -> Duration? {
    guard retryAfter.isRespected, end.outcome == .answered, let asked = end.retryAfter else { return nil }
    let counts =
      retryAfter.statuses.contains(end.status) || retryOn.statusesWithRetryAfter.contains(end.status)
      || end.directive == .retry
    return counts ? asked : nil
  }

  /// Decides what follows from an attempt, with the policy's own backoff.
  ///
  /// A retry is never placed past the deadline, and never earlier than the
  /// target asked for, nor earlier than the backoff gives: the longer of the
  /// two waits counts. The same arguments and the same state of `random` give
  /// the same decision; nothing is allocated.
  public func decide(
    _ end: AttemptEnd, at now: Timestamp, using random: inout some RandomNumberGenerator
  ) -> RetryDecision {
    let (classification, rule) = classify(end)
    if classification == .throttling, let throttlingBackoff {
      return decide(end, classification, rule, at: now, backoff: throttlingBackoff, using: &random)
    }
    return decide(end, classification, rule, at: now, backoff: backoff, using: &random)
  }

  /// Decides what follows from an attempt, with a strategy of the caller's in the place of ``backoff``.
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
    // An attempt that was cut off before any was charged is made again as if it were the first retry.
    let retry = max(1, end.attempts) - 1 + (initialDelay == .backoff ? 1 : 0)
    guard let drawn = backoff.wait(beforeRetry: retry, after: end.waits, using: &random) else {
      return RetryDecision(.stop(.attemptsExhausted), rule: .scheduleEnded, waits: end.waits)
    }
    // What the target asks for changes the wait, not the number of retries that the schedule has.
    let shortest = shortestWait(beforeRetry: max(1, end.attempts) - 1)
    guard let told = askedWait(of: end) else {
      return placed(drawn, end, rule, atLeast: shortest, at: now)
    }
    // The longer of the two waits. A target that asks for less than the backoff, such as one whose clock is slow and
    // whose date has therefore passed, would be asked again and again without a pause.
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

  /// The target has said when to come back, which is no earlier than the backoff would: then, or never.
  private func placedByTarget(
    _ wait: Duration, isParked: Bool, _ end: AttemptEnd, at now: Timestamp
  ) -> RetryDecision {
    guard wait < room(for: end, at: now) else {
      return RetryDecision(.stop(.deadlineExceeded), rule: .deadlineNear, waits: end.waits)
    }
    return RetryDecision(
      isParked ? .park(until: now + wait) : .retry(after: wait), rule: .retryAfter,
      // A deadline that counts the waits counts these, too, or a target could put the end off forever.
      waits: deadlineRule.measure == .sumOfWaits
        ? WaitHistory(previous: end.waits.previous, total: end.waits.adding(wait).total) : end.waits)
  }

  /// The backoff has drawn a wait: that one, a shorter one before the deadline, or none.
  ///
  /// - Parameter least: No wait is shorter, also one that is cut to end before the deadline.
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

  /// What a wait must stay below, so that an attempt after it can finish before the deadline; zero when there is no
  /// time left, and without end when the deadline counts waits alone and has not been reached.
  private func room(for end: AttemptEnd, at now: Timestamp) -> Duration {
    switch deadlineRule.measure {
    case .elapsed: timeForAttempts.subtracting(elapsed(end, at: now))
    case .sumOfWaits: end.waits.total < deadline ? .seconds(Int64.max) : .zero
    }
  }

  /// Before so much of the call's time has passed, an attempt can begin.
  private var timeForAttempts: Duration {
    deadline.subtracting(max(.zero, deadlineRule.minimumAttemptTime))
  }

  /// The time that the call has had. If the clock has gone back to before the start, that is not known; the waits have
  /// passed at least, and they add up to the deadline at last.
  private func elapsed(_ end: AttemptEnd, at now: Timestamp) -> Duration {
    now >= end.startedAt ? now - end.startedAt : max(.zero, end.waits.total)
  }
}
