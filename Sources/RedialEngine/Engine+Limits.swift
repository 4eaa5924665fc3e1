internal import RedialCore
internal import RedialModel

/// What a target may be asked: its rate, its concurrency, its retries, and its own word.
///
/// Where nothing is set, one flag and one comparison are all that an attempt costs here.
extension Engine {
  /// Whether the target's limits, its breaker apart, let an attempt begin now; if not, it is looked at again when they
  /// may. What is bound by attempts under way is looked at when one of them ends.
  mutating func hasLeave(_ index: Int) -> Bool {
    guard targets[index].isLimited else { return targets[index].inFlight < targets[index].maxInFlight }
    targets[index].noteLimits(at: now)
    // Its next owner will see to it.
    if targets[index].isLeaving { return false }
    if targets[index].controls.isPaused {
      tellStanding(index)
      return false
    }
    if let until = targets[index].heldUntil { return lookLater(index, at: until) }
    let full = targets[index].maxInFlight
    let limit = targets[index].slowStart.limit(of: full, at: now)
    guard targets[index].inFlight < limit else {
      if limit < full { lookAgain(index, at: now + targets[index].slowStart.duration / Self.rampSteps) }
      return false
    }
    if case .rejected(let until)? = targets[index].rate?.peek(at: now) { return lookLater(index, at: until) }
    return true
  }

  /// How often a target that starts slowly, and has attempts that take long, is looked at.
  private static let rampSteps = 20

  private mutating func lookLater(_ index: Int, at time: Timestamp) -> Bool {
    lookAgain(index, at: time)
    tellStanding(index)
    return false
  }

  /// The call of a target that is next to start, as far as its retry budget lets it.
  mutating func firstReady(of index: Int) -> ReadyQueue.Place? {
    let first = targets[index].queue.first(in: calls)
    guard targets[index].budget != nil, let retry = targets[index].retries.first(in: calls) else { return first }
    if let first, first.goesBefore(retry) { return first }
    guard (targets[index].budget?.balance(at: now) ?? 1) < 1 else { return retry }
    let until = nextRetry(index)
    targets[index].retriesUntil = until
    lookAgain(index, at: until)
    tellStanding(index)
    return first
  }

  /// When a budget that is spent allows the next retry, if nothing begins before: at the first of the steps in which
  /// it forgets.
  private func nextRetry(_ index: Int) -> Timestamp {
    let step = TargetSettings.retryWindow.wholeMicroseconds / 10
    let current = now.microseconds / step
    let times = (1...10).map { Timestamp(microseconds: (current + $0) * step) }
    return times.first { (targets[index].budget?.balance(at: $0) ?? 1) >= 1 } ?? now + TargetSettings.retryWindow
  }

  /// Puts a call into its target's queue: among the retries where there is a budget of them.
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

  /// Counts an attempt that begins against its target's rate and retry budget; the call's count has it already.
  ///
  /// - Returns: What it has cost its retry budget.
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

  /// Gives back what an attempt that was never made has cost.
  mutating func refund(_ call: ActiveCall) {
    guard let withdrawal = call.withdrawal else { return }
    targets[call.target].budget?.end(.neverSent, of: withdrawal, at: now)
    calls[call.record.id]?.withdrawal = nil
  }

  /// A target that has had too much, and says when to come back, is asked for nothing by any call until then, or until
  /// the policy of the call that it told would wait no longer, or ``EngineSettings/maxTargetHold`` is over: one answer
  /// must not keep everybody away for hours.
  ///
  /// Calls whose policy ignores `Retry-After` are held, too: it says how such a call spaces its own retries, while the
  /// hold spares a target that has had too much from everybody's first tries. Nor is it kept on disk: a process that
  /// starts finds out by its first attempts, and every call that was told itself remembers, since that is its time.
  mutating func holdTarget(_ index: Int, _ attempt: AttemptRecord, asked: Duration?, rule: RetryAfterRule) {
    guard let status = attempt.status, status == 429 || status == 503, let asked, asked > .zero, rule.isRespected
    else { return }
    let until = now + min(asked, rule.maximum, settings.maxTargetHold)
    guard until > targets[index].heldUntil ?? now else { return }
    targets[index].heldUntil = until
    targets[index].isLimited = true
    tellStanding(index)
  }

  /// A target whose breaker has closed is well again, and not yet warm.
  mutating func startSlowly(_ index: Int) {
    targets[index].slowStart.start(at: now)
    targets[index].noteLimits(at: now)
  }

  /// Tells what the target's calls wait for, when that has changed.
  mutating func tellStanding(_ index: Int, always: Bool = false) {
    let standing = targets[index].standing(at: now)
    guard always || standing != targets[index].told else { return }
    targets[index].told = standing
    effects.actions.append(.notice(.targetStands(target: targets[index].key, standing)))
  }
}

extension ReadyQueue.Place {
  /// Whether it is the more urgent, or the older of two that are equally urgent.
  func goesBefore(_ other: Self) -> Bool {
    priority == other.priority ? isOlder(than: other) : priority > other.priority
  }
}
