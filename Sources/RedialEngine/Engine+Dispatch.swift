internal import RedialCore
internal import RedialModel

/// How due calls are started: alternating between targets, within all limits, and only where the target's breaker
/// allows it.
extension Engine {
  // MARK: Targets

  /// Returns the place of a target, and creates the target if it is new.
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

  /// Forgets targets that are idle and healthy. This examines all targets. If it finds few, it does not run again for
  /// a second, so that not every new target costs a look at all the others.
  mutating func forgetIdleTargets() {
    guard now >= nextForgetting else { return }
    // Closing a breaker may notify its subscribers, whose targets may be new.
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

  /// Closes the breaker of a target that had no call since its open time ended. The target is about to be forgotten,
  /// here and on disk.
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

  /// Puts a target into the rotation, to be examined.
  mutating func enterRotation(_ index: Int) {
    guard !targets[index].inRotation, targets[index].ready + targets[index].stored > 0 else { return }
    targets[index].inRotation = true
    appendToRotation(index)
  }

  /// Examines a target again at this time, or earlier.
  mutating func lookAgain(_ index: Int, at time: Timestamp) {
    if let look = targets[index].nextLook, look <= time { return }
    targets[index].nextLook = time
    timers.add(.target(index), at: time)
  }

  // MARK: Readiness

  /// A call has become due: it goes into its target's queue, or ends if it cannot run.
  mutating func becomeReady(_ id: CallID) {
    guard let place = calls.place(of: id) else { return }
    let lastStart = calls[at: place].record.lastStart
    if now >= lastStart { return finish(id, .failed, failure: .deadlineExceeded) }
    // An older version let clients name the target of webhooks. The call must not disturb the webhooks there.
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
    // Memory holds too much if clients have made the engine load many calls.
    let isFull = targets[index].ready >= readyBound(index) && !makeRoom(index, for: priority)
    if isFull || !hasShare(index, bytes: size) || calls.count - inFlight > settings.maxHeld {
      // So close to its deadline it would be claimed again at once, repeatedly.
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

  /// A retry that would wait for its target's budget behind so many others that first attempts find no place. It
  /// comes back from the store later, by its due time and not through the target's queue, where first attempts would
  /// be behind it.
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
      // Its deadline is so close that it would be claimed again at once: it goes to the end of the queue.
      enqueue(last, of: index, isRetry: call.record.progress.isRetry)
    }
    return true
  }

  /// How many due calls of a target may wait in memory: as many as there is room left for others. So a call seldom
  /// goes through the queue in the store, which would cost as much as the rest of its life there (dynamic thresholds:
  /// Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998, with a factor of one).
  func readyBound(_ index: Int) -> Int {
    let least = min(settings.maxReadyPerTarget, settings.maxParkedPerTarget)
    let canRun = targets[index].breaker.state == .closed && !targets[index].controls.isPaused
    return canRun ? max(least, min(settings.maxReadyPerTarget, room)) : least
  }

  /// Whether a new due call must go into its target's queue in the store: memory is full, or older calls wait there.
  func mustQueue(_ index: Int, _ record: CallRecord) -> Bool {
    if record.spec.policy.onTrip == .fail, !targets[index].breaker.admits(at: now) { return false }
    let place = targets[index].namespace
    let bytes = sizeHeld(of: record)
    if !hasRoomForNew(record, at: place) || !hasShare(index, bytes: bytes) { return true }
    // A call that is more urgent than all that wait there goes before them. When it becomes ready, it finds a place.
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

  /// Notes that a call was written into a target's queue in the store.
  mutating func queuedInStore(_ index: Int, due: Timestamp, priority: Int) {
    targets[index].storedPriority = max(targets[index].stored == 0 ? 0 : targets[index].storedPriority, priority)
    targets[index].stored += 1
    if let since = targets[index].storedSinceRefill { targets[index].storedSinceRefill = since + 1 }
    stored(due: due)
    enterRotation(index)
  }

  // MARK: Starting

  /// Starts all calls that may start.
  mutating func dispatch() {
    guard !isDraining, trouble == nil, leases.canWork else { return }
    lookAtCrowded()
    while inFlight < settings.maxInFlight, let index = nextInRotation() {
      targets[index].inRotation = false
      if startNext(of: index) { enterRotation(index) }
    }
  }

  /// Starts one call of a target. Returns false if it has none or may not start one; then a timer, the end of an
  /// attempt or a refill brings the target back into the rotation.
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

  /// If calls wait in the store and cannot be loaded now, examines the target again when they can be.
  private mutating func lookForStored(_ index: Int) {
    guard targets[index].stored > 0, targets[index].storedSinceRefill == nil else { return }
    switch targets[index].breaker.state {
    case .open(let until, _) where until > now: lookAgain(index, at: until)
    // An operator's command will bring it back.
    case .forced(.open): break
    // Memory is full, or probes are in flight. When that ends, nothing notifies this target.
    case .closed, .open, .halfOpen, .forced: lookAgain(index, at: now + .milliseconds(100))
    }
  }

  /// Returns a permit for a call that was just accepted, if it need not wait for anything.
  mutating func permitAtOnce(_ index: Int) -> CircuitBreaker.Permit? {
    guard !isDraining, trouble == nil, rotation.isEmpty, inFlight < settings.maxInFlight,
      mayBegin(targets[index].namespace),
      targets[index].ready == 0, targets[index].stored == 0, hasLeave(index), hasSlot(index)
    else { return nil }
    return permit(index)
  }

  /// Asks a target's breaker. If it refuses, the target is examined again later.
  private mutating func permit(_ index: Int) -> CircuitBreaker.Permit? {
    let before = targets[index].breaker.state
    let admission = targets[index].breaker.acquire(at: now)
    noteBreaker(index, before: before)
    switch admission {
    case .permitted(let permit): return permit
    case .rejected(let until):
      // A breaker that only an operator can close needs no timer.
      if until < .distantFuture { lookAgain(index, at: until) }
      return nil
    }
  }

  /// Starts an attempt of a call: it is counted on disk first, then made.
  ///
  /// - Parameter new: The body of a call that is not in the store yet; nil for any other call.
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

  /// Returns a permit to the breaker, with the result of the call.
  mutating func recordBreaker(
    _ index: Int, _ result: CircuitBreaker.Result, _ permit: CircuitBreaker.Permit, took: Duration = .zero
  ) {
    let before = targets[index].breaker.state
    targets[index].lastEnd = now
    targets[index].breaker.record(result, of: permit, took: took, at: now)
    noteBreaker(index, before: before)
  }

  /// Writes and reports a breaker's change, and ends the calls that do not wait for an open breaker.
  private mutating func noteBreaker(_ index: Int, before: CircuitBreaker.State) {
    let key = targets[index].key
    switch (before, targets[index].breaker.state) {
    case (.closed, .open(let until, let trips)), (.halfOpen, .open(let until, let trips)):
      writes.append(.breaker(target: key, OpenBreaker(until: until, trips: trips)))
      effects.actions.append(.notice(.breakerOpened(target: key, until: until, trips: trips)))
      notifySubscribers(.opened, of: key, openUntil: until, trips: trips)
      lookAgain(index, at: until)
      useNewBreakerSettings(index)
      tripReady(index)
      parkReady(index)
    case (.open, .halfOpen):
      effects.actions.append(.notice(.breakerHalfOpen(target: key)))
      notifySubscribers(.halfOpened, of: key)
    case (.halfOpen, .closed):
      useNewBreakerSettings(index)
      startSlowly(index)
      writes.append(.breaker(target: key, nil))
      effects.actions.append(.notice(.breakerClosed(target: key)))
      notifySubscribers(.closed, of: key)
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

  /// Moves the waiting calls of a target that is down or paused from memory into its queue in the store. The oldest
  /// stay, up to the limit, unless all targets together have too many.
  mutating func parkReady(_ index: Int) {
    var kept = 0
    for place in targets[index].readyPlaces {
      guard let call = calls[place.id], call.stamp == place.stamp else { continue }
      kept += 1
      // So close to its deadline it would be claimed again at once.
      if kept > readyBound(index) || isCrowded, call.record.lastStart > now + settings.claimAhead { spill(place.id) }
    }
  }
}
