internal import RedialCore
internal import RedialModel

/// The limits of a target: its rate, its concurrency, its retry budget, and its Retry-After pause.
///
/// Without such limits an attempt costs one flag and one comparison here.
extension Engine {
  /// Whether the target's limits, without its breaker, let an attempt start now. If not, it is examined again when
  /// they may. A target that is limited by its attempts in flight is examined when one of them ends.
  mutating func hasLeave(_ index: Int) -> Bool {
    guard targets[index].isLimited else { return targets[index].inFlight < targets[index].maxInFlight }
    targets[index].noteLimits(at: now)
    // Its next owner takes care of it.
    if targets[index].isLeaving { return false }
    if targets[index].controls.isPaused {
      reportStanding(index)
      return false
    }
    if let until = targets[index].retryAfterUntil { return lookLater(index, at: until) }
    let full = targets[index].maxInFlight
    let limit = targets[index].slowStart.limit(of: full, at: now)
    guard targets[index].inFlight < limit else {
      if limit < full { lookAgain(index, at: now + targets[index].slowStart.duration / Self.rampSteps) }
      return false
    }
    if case .rejected(let until)? = targets[index].rate?.peek(at: now) { return lookLater(index, at: until) }
    return true
  }

  /// How many times a target in its slow start is examined, if its attempts take long.
  private static let rampSteps = 20

  private mutating func lookLater(_ index: Int, at time: Timestamp) -> Bool {
    lookAgain(index, at: time)
    reportStanding(index)
    return false
  }

  /// The next call of a target to start, as far as its retry budget allows.
  mutating func firstReady(of index: Int) -> ReadyQueue.Place? {
    let first = targets[index].queue.first(in: calls)
    guard targets[index].budget != nil, let retry = targets[index].retries.first(in: calls) else { return first }
    if let first, first.goesBefore(retry) { return first }
    guard (targets[index].budget?.balance(at: now) ?? 1) < 1 else { return retry }
    let until = nextRetry(index)
    targets[index].retriesUntil = until
    lookAgain(index, at: until)
    reportStanding(index)
    return first
  }

  /// When a budget that is used up allows the next retry, if no attempt starts before: at the first of the steps in
  /// which it forgets.
  private func nextRetry(_ index: Int) -> Timestamp {
    let step = TargetSettings.retryWindow.wholeMicroseconds / 10
    let current = now.microseconds / step
    let times = (1...10).map { Timestamp(microseconds: (current + $0) * step) }
    return times.first { (targets[index].budget?.balance(at: $0) ?? 1) >= 1 } ?? now + TargetSettings.retryWindow
  }

  /// Puts a call into its target's queue: among the retries, if they have a budget.
  mutating func enqueue(_ place: ReadyQueue.Place, of index: Int, isRetry: Bool) {
    if isRetry, targets[index].budget != nil {
      targets[index].retries.append(place)
    } else {
      targets[index].queue.append(place)
    }
  }

  /// Takes a call out of its target's queue.
  mutating func take(_ place: ReadyQueue.Place, from index: Int) {
    if targets[index].budget != nil, let call = calls.place(of: place.id), calls[at: call].record.progress.isRetry {
      targets[index].retries.remove(place)
    } else {
      targets[index].queue.remove(place)
    }
  }

  /// Counts an attempt that starts against its target's rate and retry budget; the call's count already includes it.
  ///
  /// - Returns: Its cost in the retry budget.
  mutating func charge(_ index: Int, _ progress: CallProgress) -> RetryBudget.Withdrawal? {
    if targets[index].rate != nil { _ = targets[index].rate?.acquire(at: now) }
    guard targets[index].budget != nil else { return nil }
    let isRetry = progress.attempts > progress.attemptsBefore + 1
    var withdrawal: RetryBudget.Withdrawal?
    if isRetry {
      withdrawal = targets[index].budget?.withdraw(for: .transient, at: now)
    } else {
      targets[index].budget?.begin(at: now)
    }
    targets[index].retriesUntil = nil
    return withdrawal
  }

  /// Returns the cost of an attempt that was never made.
  mutating func refund(_ call: ActiveCall) {
    guard let withdrawal = call.withdrawal else { return }
    targets[call.target].budget?.end(.neverSent, of: withdrawal, at: now)
    calls[call.record.id]?.withdrawal = nil
  }

  /// Pauses a target that asked for it with 429 or 503: no call runs until then, or until the policy of the call that
  /// got the response would wait no longer, or until ``EngineSettings/maxTargetHold`` is over, because one response
  /// must not stop all calls for hours. A policy that ignores `Retry-After`, for the status or at all, pauses nothing.
  ///
  /// Calls whose policy ignores `Retry-After` wait too: the policy is about the call's own retries, while the pause
  /// protects an overloaded target from the first attempts of all calls. The pause is not stored: a new process finds
  /// out with its first attempts, and each call that got the response keeps its own wait.
  mutating func holdTarget(_ index: Int, _ attempt: AttemptRecord, asked: Duration?, rule: RetryAfterRule) {
    guard let status = attempt.status, status == 429 || status == 503, let asked, asked > .zero, rule.isRespected
    else { return }
    let until = now + min(asked, rule.maximum, settings.maxTargetHold)
    guard until > targets[index].retryAfterUntil ?? now else { return }
    targets[index].retryAfterUntil = until
    targets[index].isLimited = true
    reportStanding(index)
  }

  /// A target whose breaker has closed works again, but should not get its full load at once.
  mutating func startSlowly(_ index: Int) {
    targets[index].slowStart.start(at: now)
    targets[index].noteLimits(at: now)
  }

  /// Reports the reasons for which the target's calls wait, if they have changed.
  mutating func reportStanding(_ index: Int, always: Bool = false) {
    let standing = targets[index].standing(at: now)
    guard always || standing != targets[index].reported else { return }
    targets[index].reported = standing
    effects.actions.append(.notice(.targetStands(target: targets[index].key, standing)))
  }
}

extension ReadyQueue.Place {
  /// Whether it is more urgent, or older with equal urgency.
  func goesBefore(_ other: Self) -> Bool {
    priority == other.priority ? isOlder(than: other) : priority > other.priority
  }
}
