internal import RedialCore
internal import RedialModel

/// Targets: how they are found and forgotten, when they are examined, and what their breakers and limits decide.
extension Engine {
  /// Returns the place of a target, and creates the target if it is new.
  mutating func target(_ key: TargetKey) -> Int {
    if let place = roster.place(of: key) { return place }
    if roster.count >= settings.maxTargets { forgetIdleTargets() }
    let place = roster.add(key, at: now)
    _ = roster[place].disable(isOfDisabledEndpoint(key), at: now)
    if desk.leases.yielding.shards.contains(target: key) { roster[place].depart(at: now) }
    return place
  }

  /// Forgets targets that are idle and healthy. This examines all targets.
  mutating func forgetIdleTargets() {
    guard roster.beginForgetting(at: now) else { return }
    // Closing a breaker may notify its subscribers, whose targets may be new.
    let known = roster.places
    for place in known where roster.isStale(place, at: now) { closeStale(place) }
    roster.forgetIdle(among: known, at: now)
  }

  /// Closes the breaker of a target that had no call since its open time ended. The target is about to be forgotten,
  /// here and on disk.
  private mutating func closeStale(_ place: Int) {
    if let change = roster[place].advance(to: now) { followUp(change, of: place) }
    endOutage(place)
    if let change = roster[place].reset() { followUp(change, of: place) }
  }

  /// Examines a target again at this time, or earlier.
  mutating func lookAgain(_ place: Int, at time: Timestamp) {
    if roster[place].needsTimer(at: time) { calls.lookAgain(place, at: time) }
  }

  // MARK: Limits

  /// Whether the target's limits, without its breaker, let an attempt start now. If not, it is examined again when
  /// they may. A target that is limited by its attempts in flight is examined when one of them ends.
  mutating func limitsAllowStart(_ place: Int) -> Bool {
    switch roster[place].nextStart(at: now) {
    case .now: return true
    case .afterAnother(let reason): roster[place].hold(reason, at: now)
    case .byNextOwner: roster[place].hold(nil, at: now)
    case .afterAnotherOr(let time):
      roster[place].hold(.concurrency, at: now)
      lookAgain(place, at: time)
    case .afterPause:
      roster[place].hold(.paused, at: now)
      reportStanding(place)
    case .at(let time, let reason):
      roster[place].hold(reason, until: time, at: now)
      lookAgain(place, at: time)
      reportStanding(place)
    }
    return false
  }

  /// Whether a call may start although the target has asked for a pause, ``firstToTry(of:)``, or although its pace holds
  /// back others.
  mutating func mayTry(_ place: Int) -> Bool {
    roster.targets[place].limits.pause.mayTry && roster[place].nextStart(isTrial: true, at: now) == .now
      || roster[place].mayGoUnpaced(at: now)
  }

  /// How many of the due calls are looked at: to look at all again and again would take too long.
  private static let mostLookedAt = 256

  /// A due call that may start although the target has asked for a pause.
  func firstToTry(of place: Int) -> ReadyQueue.Entry? {
    let target = roster.targets[place]
    guard target.limits.pause.until != nil else { return nil }
    return target.due.sample(of: Self.mostLookedAt).first { mayTry($0, at: target) != nil }
  }

  /// A due call of a target, if it may start out of its order.
  private func mayTry(_ due: ReadyQueue.Entry, at target: TargetState) -> CallSpec? {
    guard let call = calls[due.id], call.stamp == due.stamp else { return nil }
    return target.mayStart(call.record.spec, isRetry: call.record.progress.isRetry) ? call.record.spec : nil
  }

  /// The youngest due call of a target that is down which is not like its last probe; nil if it is not the turn of such a one. What
  /// works there may differ from what does not by something that nobody knows, and the oldest are those that have failed.
  func firstUnlike(of place: Int) -> ReadyQueue.Entry? {
    let target = roster.targets[place]
    guard target.breaker.admitsBeside(at: now), let last = target.probes.toDifferFrom else { return nil }
    return target.due.sample(of: Self.mostLookedAt).last {
      guard let call = mayTry($0, at: target) else { return false }
      return CallLikeness(call) != last && !target.goesAhead(call)
    }
  }

  /// The next call of a target to start, as far as its retry budget allows.
  mutating func firstReady(of place: Int) -> ReadyQueue.Entry? {
    let (first, isRetryWaiting) = roster[place].firstReady(in: calls.table, at: now)
    if isRetryWaiting, let until = roster.targets[place].limits.retriesUntil {
      roster[place].hold(.retryBudget, until: until, at: now)
      lookAgain(place, at: until)
      reportStanding(place)
    }
    return first
  }

  /// Heeds what a response says about the target's quota (``TargetPause``): if it asks for a pause, no call runs until
  /// then, or until the policy of the call that got the response would wait no longer, or until
  /// ``EngineSettings/maxRetryAfterPause`` is over, because one response must not stop all calls for hours. A policy that
  /// ignores `Retry-After`, for the status or at all, pauses nothing.
  ///
  /// Calls whose policy ignores `Retry-After` wait too: the policy is about the call's own retries, while the pause
  /// protects an overloaded target from the first attempts of all calls. A pause that is not short is stored, so that a
  /// new process, or the next owner of the target, goes on with it.
  ///
  /// - Parameter asked: The wait that the response asks of its own call.
  mutating func heed(_ attempt: AttemptRecord, of spec: CallSpec, asked: Duration?, at place: Int) {
    guard attempt.outcome == .answered, let status = attempt.status else { return }
    let rule = spec.policy.retryAfter
    let (now, start, longest) = (now, attempt.startedAt, min(rule.maximum, settings.maxRetryAfterPause))
    let isSuccess = 200...299 ~= status
    var isRefusal = status == 429 || status == 503
    var wait = asked
    if !isRefusal {
      wait = rule.isRespected ? attempt.response?.quotaWait(at: now) : nil
      // Some services refuse with 403 what is beyond a quota.
      isRefusal = status == 403 && wait != nil
    }
    let hasChanged = roster[place].changePause(at: now) { pause in
      let end = wait.flatMap { $0 > .zero ? now + min($0, longest) : nil }
      if isRefusal { return pause.refused(until: end, from: start, of: CallSource(spec), at: now) }
      guard let wait, let end else { return isSuccess && pause.taken(from: start, of: CallSource(spec), at: now) }
      return pause.emptied(
        until: now + wait, pausing: end, isSuccess: isSuccess, from: start, of: CallSource(spec), at: now)
    }
    guard hasChanged else { return }
    reportStanding(place)
    savePause(place)
    roster.enterRotation(place)
  }

  /// Writes what outlives the process of a target, if that is something else after a change.
  mutating func save(_ place: Int, _ change: (inout TargetRecord) -> Void) {
    guard roster[place].save(change) else { return }
    let key = roster.targets[place].key
    // Of changes that follow each other the store needs the last.
    if case .target(key, _)? = writes.last { writes.removeLast() }
    writes.append(.target(key, roster.targets[place].record))
  }

  /// Writes the end of a target's pause, if that is due.
  mutating func savePause(_ place: Int) {
    let end = roster.targets[place].limits.pause.end(after: roster.targets[place].record.askedUntil, at: now)
    save(place) { $0.askedUntil = end }
  }

  /// Reports the reasons for which the target's calls wait, if they have changed.
  mutating func reportStanding(_ place: Int, always: Bool = false) {
    guard let (standing, wasPaced) = roster[place].takeStanding(at: now, always: always) else { return }
    let key = roster.targets[place].key
    if standing.isPaced != wasPaced {
      let limit = roster.targets[place].limits.pace.flatMap { pace in pace.rate.map { ($0, pace.delivered) } }
      effects.actions.append(
        .notice(limit.map { .paceLimited(target: key, rate: $0, delivered: $1) } ?? .paceLifted(target: key)))
    }
    effects.actions.append(.notice(.targetStands(target: key, standing)))
  }

  /// Counts the end of an attempt for its target's pace, and reports if that has another limit now, or none. Returns whether
  /// the end is about the target's load.
  @discardableResult
  mutating func endPaced(
    _ place: Int, _ ticket: AdaptivePace.Ticket?, _ sign: AdaptivePace.Sign, of call: CallSpec
  ) -> Bool {
    let wasPaced = roster.targets[place].isPaced
    let isLoad = roster[place].end(ticket, sign, of: call, at: now)
    if wasPaced || roster.targets[place].isPaced {
      reportStanding(place)
      savePace(place, .attempt)
    }
    return isLoad
  }

  /// Writes what a target's pace has learned, if that is due.
  mutating func savePace(_ place: Int, _ occasion: PaceOccasion) {
    let pace = roster.targets[place].limits.savedPace(at: now)
    guard occasion.isDue(pace, after: roster.targets[place].record.pace) else { return }
    save(place) { $0.pace = pace }
  }

  /// Writes what the breakers and paces of these shards' targets have learned, for their next owner.
  mutating func saveLearned(of shards: ShardSet) {
    for place in roster.places(in: shards) where roster.targets[place].isUsed(at: now) {
      let usual = UsualShare(roster.targets[place].breaker.usual)
      save(place) { $0.usual = usual }
      savePace(place, .change)
    }
  }

  // MARK: Breakers

  /// Asks a target's breaker. If it refuses, the target is examined again later.
  ///
  /// - Parameter origin: Where there is a connection for the attempt.
  mutating func permit(_ place: Int, to origin: UInt64, for call: CallSpec) -> StartPermit? {
    let (admission, change) = roster[place].acquire(for: call, at: now)
    if let change { followUp(change, of: place) }
    switch admission {
    case .permitted(let permit): return StartPermit(breaker: permit, origin: origin)
    case .rejected(let until):
      roster[place].hold(.breaker, until: until, at: now)
      // A breaker that only an operator can close needs no timer.
      if until < .distantFuture { lookAgain(place, at: until) }
      return nil
    }
  }

  /// Returns a permit to the breaker, with the result of the call.
  mutating func recordBreaker(
    _ place: Int, _ result: CircuitBreaker.Result, _ permit: CircuitBreaker.Permit, of id: CallID, _ spec: CallSpec,
    took: Duration = .zero, cause: @autoclosure () -> String = ""
  ) {
    if let change = roster[place].record(result, of: permit, call: id, spec, took: took, at: now) {
      followUp(change, of: place, cause: cause())
    }
  }

  /// Writes and reports a breaker's change, and ends the calls that do not wait for an open breaker.
  ///
  /// - Parameter cause: What the attempt failed with that opened it.
  private mutating func followUp(_ change: TargetState.BreakerChange, of place: Int, cause: String = "") {
    let key = roster.targets[place].key
    switch change {
    case .opened:
      // The interval is that of the settings which it gets now.
      roster[place].useNewBreakerSettings()
      let breaker = roster.targets[place].breaker
      guard case .open(let until, let trips) = breaker.state else { return }
      save(place) {
        $0.breaker = OpenBreaker(until: until, trips: trips)
        $0.usual = UsualShare(breaker.usual)
      }
      report(
        .breakerOpened(
          target: key, until: until, trips: trips, failures: breaker.consecutiveFailures,
          usualShare: breaker.usual.share), of: place)
      beginOutage(place, cause: cause)
      lookAgain(place, at: until)
      roster[place].suspendPace(at: now)
      roster[place].hold(.breaker, until: until, at: now)
      savePace(place, .change)
      roster[place].gatherAhead(in: calls.table)
      tripReady(place)
      parkReady(place)
    case .halfOpened:
      report(.breakerHalfOpen(target: key), of: place)
    case .closed:
      roster[place].useNewBreakerSettings()
      roster[place].startSlowly(at: now)
      roster[place].gatherAhead(in: calls.table)
      roster[place].hold(.concurrency, at: now)
      reportStanding(place)
      savePace(place, .change)
      save(place) { $0.breaker = nil }
      report(.breakerClosed(target: key), of: place)
      examineOutage(place)
      roster.enterRotation(place)
    }
  }

  /// Ends the due calls of a target that do not wait for an open breaker.
  mutating func tripReady(_ place: Int) {
    for due in roster.targets[place].due.entries {
      guard let call = calls[due.id], call.stamp == due.stamp, roster.targets[place].trips(call.record.spec, at: now)
      else { continue }
      finish(due.id, .failed, failure: .tripped)
    }
  }

  /// Moves the waiting calls of a target that is down or paused from memory into its queue in the store. The oldest
  /// stay, up to the limit, unless all targets together have too many.
  mutating func parkReady(_ place: Int) {
    roster[place].joinBacklog()
    var kept = 0
    for due in roster.targets[place].due.entries {
      guard let call = calls[due.id], call.stamp == due.stamp else { continue }
      kept += 1
      let isTooMuch = kept > roster.readyBound(place, expecting: desk.claims.expected) || roster.isCrowded
      // So close to its deadline it would be claimed again at once.
      guard isTooMuch, call.record.lastStart > now + settings.claimAhead else { continue }
      if !roster.targets[place].goesAhead(call.record.spec) { spill(due.id) }
    }
  }
}
