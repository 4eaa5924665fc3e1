internal import RedialCore
internal import RedialModel

/// How due calls are started: in turn between targets, within every bound, and
/// only where the target's breaker lets them.
extension Engine {
  // MARK: Targets

  /// The place of a target, which is made if it is new.
  mutating func target(_ key: String) -> Int {
    if let index = targetIndex[key] { return index }
    if targetIndex.count >= settings.maxTargets { forgetIdleTargets() }
    let namespace = place(of: QualifiedKey.namespace(of: key))
    namespaces[namespace].targets += 1
    let rule = settings.rule(for: key)
    var state = TargetState(
      key: key, namespace: namespace, settings: settings.target(by: rule), most: settings.mostPerTarget)
    state.pattern = rule?.match
    let index: Int
    if let free = freeTargets.popLast() {
      targets[free] = state
      index = free
    } else {
      index = targets.count
      targets.append(state)
    }
    targetIndex[key] = index
    return index
  }

  /// Forgets the targets that are idle and well. All of them are looked at; where that has brought little it is not done
  /// again for a second, so that a new target costs no look at every other.
  mutating func forgetIdleTargets() {
    guard now >= nextForgetting else { return }
    // An operation on a breaker may have its subscribers told, whose targets may be new.
    nextForgetting = now + .seconds(1)
    let known = knownTargets
    for index in known where targets[index].isStale(at: now) { closeStale(index) }
    var forgotten = 0
    for index in known {
      guard targets[index].isForgettable(at: now) else {
        if targets[index].lastEnd + TargetState.recentMemory <= now { targets[index].recent = RecentAttempts() }
        continue
      }
      targetIndex[targets[index].key] = nil
      targets[index].isForgotten = true
      targets[index].recent = RecentAttempts()
      namespaces[targets[index].namespace].targets -= 1
      freeTargets.append(index)
      forgotten += 1
    }
    if forgotten * 4 >= known.count { nextForgetting = now }
  }

  /// Closes the breaker of a target that nobody has asked for anything since its time was over: it is about to be
  /// forgotten, here and on disk.
  private mutating func closeStale(_ index: Int) {
    let before = targets[index].breaker.state
    targets[index].breaker.advance(to: now)
    let between = targets[index].breaker.state
    if before != between { noteBreaker(index, before: before) }
    targets[index].breaker.reset()
    noteBreaker(index, before: between)
  }

  /// The places of all targets, in an order that is the same in every process.
  var knownTargets: [Int] { targets.indices.filter { !targets[$0].isForgotten } }

  /// Has a target looked at in its turn.
  mutating func enterRotation(_ index: Int) {
    guard !targets[index].inRotation, targets[index].ready + targets[index].stored > 0 else { return }
    targets[index].inRotation = true
    appendToRotation(index)
  }

  /// Has a target looked at again at a time, or before.
  mutating func lookAgain(_ index: Int, at time: Timestamp) {
    if let look = targets[index].nextLook, look <= time { return }
    targets[index].nextLook = time
    timers.add(.target(index), at: time)
  }

  // MARK: Readiness

  /// A call's time has come: it goes into its target's queue, or ends where it cannot.
  mutating func becomeReady(_ id: CallID) {
    guard let place = calls.place(of: id) else { return }
    let lastStart = calls[at: place].record.lastStart
    if now >= lastStart { return finish(id, .failed, failure: .deadlineExceeded) }
    // An older version let a client name such a lane. The call may not disturb the webhooks there.
    if calls[at: place].isStrangerInLane { return finish(id, .failed, failure: .blocked) }
    let index = calls[at: place].target
    let priority = calls[at: place].record.spec.priority
    let isRetry = calls[at: place].record.progress.isRetry
    let size = calls[at: place].record.content.heldSize
    if calls[at: place].record.spec.policy.onTrip == .fail, !targets[index].breaker.admits(at: now) {
      return finish(id, .failed, failure: .tripped)
    }
    if isRetry, let budget = targets[index].budget,
      targets[index].readyRetries >= max(1, readyBound(index) / 2),
      Double(targets[index].readyRetries) >= budget.balance(at: now)
    {
      return postpone(id)
    }
    // Memory is overfull when clients have had many calls fetched.
    let isFull = targets[index].ready >= readyBound(index) && !makeRoom(index, for: priority)
    if isFull || !hasShare(index, bytes: size) || calls.count - inFlight > settings.maxHeld {
      // So near its deadline it would be claimed again at once, and again.
      if lastStart <= now + settings.claimAhead { return wait(id, until: lastStart) }
      return spill(id)
    }
    let stamp = nextStamp()
    // Making room may have moved it.
    guard let place = calls.place(of: id) else { return }
    calls[at: place].enter(.ready, stamp: stamp)
    countReady(of: index, size: size, isRetry: isRetry)
    enqueue(ReadyQueue.Place(id: id, stamp: stamp, priority: priority), of: index, isRetry: isRetry)
    timers.add(.call(id, stamp: stamp), at: lastStart)
    enterRotation(index)
  }

  /// A retry that would wait for its target's budget behind so many that first tries had no place: it comes back from
  /// the store when those have had their turn, not from the target's queue there, where first tries would be behind it.
  private mutating func postpone(_ id: CallID) {
    guard let call = calls[id] else { return }
    let target = targets[call.target]
    let turn = Duration.seconds(max(1, target.readyRetries / max(1, target.settings.retriesPerSecond)))
    var progress = call.record.progress
    progress.state = .scheduled
    progress.waiting = .retryBudget
    progress.due = min(now + turn, call.record.lastStart)
    writes.append(.update(id, progress, nil))
    release(id)
    stored(due: progress.due)
  }

  /// Moves a call of a lower priority from memory into the target's queue in the store, if there is one.
  private mutating func makeRoom(_ index: Int, for priority: Int) -> Bool {
    guard priority > CallSpec.priorities.lowerBound else { return false }
    let last =
      targets[index].queue.removeLast(below: priority, in: calls)
      ?? targets[index].retries.removeLast(below: priority, in: calls)
    guard let last, let call = calls[last.id] else { return false }
    if call.record.lastStart > now + settings.claimAhead {
      spill(last.id)
    } else {
      // Its time is nearly up, and it would be claimed again at once: it goes to the end of the queue.
      enqueue(last, of: index, isRetry: call.record.progress.isRetry)
    }
    return true
  }

  /// How many due calls of a target may wait in memory, as far as the shares of all go: as many as there is room left for
  /// others, so that a call seldom makes the way through the queue in the store, which costs it as much again as the rest
  /// of its life there (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998, with a
  /// factor of one).
  func readyBound(_ index: Int) -> Int {
    let least = min(settings.maxReadyPerTarget, settings.maxParkedPerTarget)
    let canRun = targets[index].breaker.state == .closed && !targets[index].controls.isPaused
    return canRun ? max(least, min(settings.maxReadyPerTarget, room)) : least
  }

  /// Whether a new due call belongs into its target's queue in the store: memory is full, or others are there
  /// before it.
  func mustQueue(_ index: Int, _ record: CallRecord) -> Bool {
    if record.spec.policy.onTrip == .fail, !targets[index].breaker.admits(at: now) { return false }
    let place = targets[index].namespace
    let bytes = sizeHeld(of: record)
    if !hasRoomForNew(record, at: place) || !hasShare(index, bytes: bytes) { return true }
    // What is more urgent than all that waits there goes before it; becoming ready, it finds a place.
    if record.spec.priority > CallSpec.defaultPriority, record.spec.priority > targets[index].storedPriority {
      return false
    }
    return targets[index].stored > 0 || targets[index].ready >= readyBound(index)
  }

  /// Moves a call from memory into its target's queue in the store.
  private mutating func spill(_ id: CallID) {
    guard let call = calls[id] else { return }
    var progress = call.record.progress
    progress.state = .queued
    progress.waiting = targets[call.target].breaker.admits(at: now) ? .concurrency : .breaker
    progress.due = call.record.lastStart
    writes.append(.update(id, progress, nil))
    release(id)
    queuedInStore(call.target, due: progress.due, priority: call.record.spec.priority)
  }

  /// Notes that a call was put into a target's queue in the store.
  mutating func queuedInStore(_ index: Int, due: Timestamp, priority: Int) {
    targets[index].storedPriority = max(targets[index].stored == 0 ? 0 : targets[index].storedPriority, priority)
    targets[index].stored += 1
    if let since = targets[index].storedSinceRefill { targets[index].storedSinceRefill = since + 1 }
    stored(due: due)
    enterRotation(index)
  }

  // MARK: Starting

  /// Starts what may be started.
  mutating func dispatch() {
    guard !isDraining, trouble == nil, leases.canWork else { return }
    lookAtCrowded()
    while inFlight < settings.maxInFlight, let index = nextInRotation() {
      targets[index].inRotation = false
      if startNext(of: index) { enterRotation(index) }
    }
  }

  /// Starts one call of a target; false when it has none or may not, in which case something else, a timer, an
  /// attempt's end or a refill, brings the target back into rotation.
  private mutating func startNext(of index: Int) -> Bool {
    let isNext = takeAdmission(index)
    guard hasLeave(index) else { return false }
    guard isNext, hasSlot(index) else {
      waitForSlot(index)
      return false
    }
    refill(index)
    guard let place = firstReady(of: index) else {
      lookForStored(index)
      return false
    }
    guard let permit = permit(index) else { return false }
    take(place, from: index)
    begin(place.id, permit: permit)
    return true
  }

  /// Where calls wait in the store and cannot be fetched now, has the target looked at when they may be.
  private mutating func lookForStored(_ index: Int) {
    guard targets[index].stored > 0, targets[index].storedSinceRefill == nil else { return }
    switch targets[index].breaker.state {
    case .open(let until, _) where until > now: lookAgain(index, at: until)
    // Somebody's word will bring it back.
    case .forced(.open): break
    // Memory is full, or probes are under way; both end without a word to this target.
    case .closed, .open, .halfOpen, .forced: lookAgain(index, at: now + .milliseconds(100))
    }
  }

  /// A permit for a call that has just come in, if it need not wait for anything or anybody.
  mutating func permitAtOnce(_ index: Int) -> CircuitBreaker.Permit? {
    guard !isDraining, trouble == nil, turns.isEmpty, inFlight < settings.maxInFlight,
      mayBegin(targets[index].namespace),
      targets[index].ready == 0, targets[index].stored == 0, hasLeave(index), hasSlot(index)
    else { return nil }
    return permit(index)
  }

  /// Asks a target's breaker; when it refuses, has the target looked at again in time.
  private mutating func permit(_ index: Int) -> CircuitBreaker.Permit? {
    let before = targets[index].breaker.state
    let admission = targets[index].breaker.acquire(at: now)
    noteBreaker(index, before: before)
    switch admission {
    case .permitted(let permit): return permit
    case .rejected(let until):
      // What only somebody's word can end needs no timer.
      if until < .distantFuture { lookAgain(index, at: until) }
      return nil
    }
  }

  /// Begins an attempt of a call: counted on disk first, then made.
  ///
  /// - Parameter new: The body of a call that the store does not have yet; nil for any other.
  mutating func begin(_ id: CallID, permit: CircuitBreaker.Permit, storing new: RequestBody? = nil) {
    guard let place = calls.place(of: id) else { return }
    let index = calls[at: place].target
    let size = calls[at: place].record.content.heldSize
    var progress = calls[at: place].record.progress
    if case .ready = calls[at: place].phase { uncountReady(of: index, size: size, isRetry: progress.isRetry) }
    progress.state = .running
    progress.waiting = nil
    progress.due = now
    progress.attempts += 1
    calls[at: place].record.progress = progress
    calls[at: place].enter(.running(permit, cancelledBy: []), stamp: nextStamp())
    calls[at: place].withdrawal = charge(index, progress)
    runningBytes += size
    countInFlight(1, of: index)
    let call = calls[at: place].record
    let deadline = call.deadline
    let longest = min(call.spec.policy.attemptTimeout, targets[index].settings.attemptTimeout)
    if let new {
      writes.append(.insert(call.with(new)))
    } else {
      writes.append(.update(id, progress, nil))
    }
    afterCommit.append(
      .start(
        AttemptStart(
          call: call, number: progress.attempts, timeout: min(longest, deadline - now),
          tls: originTLS.isEmpty ? nil : CallTLS(originTLS, target: call.spec.target),
          startBefore: leases.startBefore.map { min($0, deadline) })))
  }

  // MARK: Breakers

  /// Gives a permit back with what became of the call.
  mutating func recordBreaker(
    _ index: Int, _ result: CircuitBreaker.Result, _ permit: CircuitBreaker.Permit, took: Duration = .zero
  ) {
    let before = targets[index].breaker.state
    targets[index].lastEnd = now
    targets[index].breaker.record(result, of: permit, took: took, at: now)
    noteBreaker(index, before: before)
  }

  /// Tells the store and people of a breaker's change, and ends the calls that will not wait for an open one.
  private mutating func noteBreaker(_ index: Int, before: CircuitBreaker.State) {
    let key = targets[index].key
    switch (before, targets[index].breaker.state) {
    case (.closed, .open(let until, let trips)), (.halfOpen, .open(let until, let trips)):
      writes.append(.breaker(target: key, OpenBreaker(until: until, trips: trips)))
      effects.actions.append(.notice(.breakerOpened(target: key, until: until, trips: trips)))
      tellSubscribers(.opened, of: key, openUntil: until, trips: trips)
      lookAgain(index, at: until)
      useNewBreakerSettings(index)
      tripReady(index)
      parkReady(index)
    case (.open, .halfOpen):
      effects.actions.append(.notice(.breakerHalfOpen(target: key)))
      tellSubscribers(.halfOpened, of: key)
    case (.halfOpen, .closed):
      useNewBreakerSettings(index)
      startSlowly(index)
      writes.append(.breaker(target: key, nil))
      effects.actions.append(.notice(.breakerClosed(target: key)))
      tellSubscribers(.closed, of: key)
      enterRotation(index)
    default: break
    }
  }

  mutating func tripReady(_ index: Int) {
    for place in targets[index].readyPlaces {
      guard let call = calls[place.id], call.stamp == place.stamp, call.record.spec.policy.onTrip == .fail else {
        continue
      }
      finish(place.id, .failed, failure: .tripped)
    }
  }

  /// Moves what waits in memory for a target that is down or paused into its queue in the store; the oldest stay, up to
  /// the bound, unless all targets together have too many.
  mutating func parkReady(_ index: Int) {
    var kept = 0
    for place in targets[index].readyPlaces {
      guard let call = calls[place.id], call.stamp == place.stamp else { continue }
      kept += 1
      // So near its deadline it would be claimed again at once.
      if kept > readyBound(index) || isCrowded, call.record.lastStart > now + settings.claimAhead { spill(place.id) }
    }
  }
}
