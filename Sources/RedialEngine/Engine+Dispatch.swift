internal import RedialCore
internal import RedialModel

/// What an attempt needs to start: the permit of the target's breaker, and the origin (``CallSpec/originHash``) to which
/// there is a connection for it.
struct StartPermit: Sendable {
  let breaker: CircuitBreaker.Permit
  let origin: UInt64
}

/// How due calls are started: alternating between targets, within all limits, and only where the target's breaker
/// allows it.
extension Engine {
  /// Starts all calls that may start.
  mutating func dispatch() {
    guard !isDraining, desk.canDecide else { return }
    roster.examineCrowded()
    startSuspects()
    if waitsForSuspects { return }
    while roster.occupancy.inFlight < settings.maxInFlight, let index = roster.nextInRotation() {
      if startNext(of: index) { roster.enterRotation(index) }
    }
  }

  /// Starts one call of a target. Returns false if it has none or may not start one; then a timer, the end of an
  /// attempt or a refill brings the target back into the rotation.
  private mutating func startNext(of index: Int) -> Bool {
    let isNext = roster.takeAdmission(index)
    let isTrial = !limitsAllowStart(index)
    if isTrial, !mayTry(index) { return false }
    guard isNext, roster.hasSlot(index, at: now) else {
      if isNext, !isTrial, startBeside(index) { return true }
      roster.waitForSlot(index)
      // Otherwise all others wait for the pause.
      if !isTrial { roster[index].hold(.concurrency, at: now) }
      return false
    }
    refill(index)
    let isInOrder = !isTrial && roster.targets[index].breaker.state == .closed
    let ahead = isInOrder ? nil : roster[index].firstAhead(in: calls.table) ?? firstUnlike(of: index)
    let next = ahead ?? (isTrial ? firstToTry(of: index) : firstReady(of: index))
    guard let due = next, let place = calls.place(of: due.id) else {
      if !isTrial { lookForStored(index) }
      return false
    }
    guard let permit = permit(index, at: place) else { return false }
    if isTrial || ahead != nil {
      // Its entry in the queue, which need not be the first, becomes void.
      let source = CallSource(calls[at: place].record.spec)
      roster[index].changePause(at: now) { $0.began(source) }
    } else {
      roster[index].take(due, calls[at: place].record, at: now)
    }
    if !isInOrder { roster[index].probes.add(calls[at: place].record.spec) }
    begin(due.id, permit: permit)
    return true
  }

  /// Starts a call of a target beside attempts that hang and have all slots that it gets. Returns false if there is none for
  /// which that holds.
  private mutating func startBeside(_ index: Int) -> Bool {
    guard roster.mayStartBeside(index) else { return false }
    let start = roster[index].lackSlots(in: calls.table, at: now)
    guard start <= now else {
      lookAgain(index, at: start)
      return false
    }
    guard let due = roster[index].firstBeside(in: calls.table), let place = calls.place(of: due.id) else {
      return false
    }
    guard let permit = permit(index, at: place) else { return false }
    roster[index].beside.take(due.id, at: now)
    begin(due.id, permit: permit)
    return true
  }

  /// Returns a permit for the call at that place, which is due; nil if it waits for a connection or for the breaker.
  private mutating func permit(_ index: Int, at place: Int) -> StartPermit? {
    let spec = calls[at: place].record.spec
    guard roster.hasConnection(index, to: spec.originHash) else {
      roster.waitForConnection(index, to: spec.originHash)
      roster[index].hold(.connections, at: now)
      reportStanding(index)
      return nil
    }
    return permit(index, to: spec.originHash, for: spec)
  }

  /// If calls wait in the store and cannot be loaded now, examines the target again when they can be.
  private mutating func lookForStored(_ index: Int) {
    let stored = roster.targets[index].stored
    guard stored.count > 0, !stored.isRefilling else { return }
    roster[index].hold(roster.targets[index].breaker.admits(at: now) ? .concurrency : .breaker, at: now)
    switch roster.targets[index].breaker.state {
    case .open(let until, _) where until > now: lookAgain(index, at: until)
    // An operator's command will bring it back.
    case .forced(.open): break
    // Memory is full, or probes are in flight. When that ends, nothing notifies this target.
    case .closed, .open, .halfOpen, .forced: lookAgain(index, at: now + .milliseconds(100))
    }
  }

  /// Returns a permit for a call that was just accepted, if it need not wait for anything.
  mutating func permitAtOnce(_ index: Int, _ call: CallSpec) -> StartPermit? {
    guard !isDraining, desk.trouble == nil, roster.rotation.isEmpty, !roster.targets[index].hasDue, !waitsForSuspects
    else { return nil }
    return permitNow(index, call)
  }

  /// Returns a permit for a call, as if it were the only one that is due.
  mutating func permitNow(_ index: Int, _ call: CallSpec) -> StartPermit? {
    guard roster.occupancy.inFlight < settings.maxInFlight, roster.mayBegin(roster.targets[index].namespace),
      limitsAllowStart(index), roster.hasSlot(index, at: now), !roster.targets[index].isCrowded(by: call)
    else { return nil }
    let origin = call.originHash
    guard roster.hasConnection(index, to: origin) else { return nil }
    return permit(index, to: origin, for: call)
  }

  /// Starts an attempt of a call: it is counted on disk first, then made.
  ///
  /// - Parameter new: The body of a call that is not in the store yet; nil for any other call.
  mutating func begin(_ id: CallID, permit: StartPermit, storing new: RequestBody? = nil) {
    guard let place = calls.place(of: id) else { return }
    precondition(desk.leases.canWork, "An attempt begins without a lease.")
    let index = calls[at: place].target
    let size = calls[at: place].record.content.heldSize
    var progress = calls[at: place].record.progress
    if case .ready = calls[at: place].phase { roster.leaveReady(size, isRetry: progress.isRetry, of: index) }
    let newSince = calls[at: place].record.newSince
    let isOrdered = !progress.isRetry && calls[at: place].record.spec.orderingKey != nil
    let held = roster[index].held(progress, newSince: newSince, isOrdered: isOrdered, at: now)
    let (due, waiting) = (progress.due, progress.waiting)
    roster[index].started(isRetry: progress.isRetry, at: now)
    progress.state = .running
    progress.waiting = nil
    progress.due = now
    progress.attempts += 1
    excuseAlone(beside: id)
    progress.isAlone = suspects.alone == id
    calls[at: place].record.progress = progress
    let lackedConnection = roster.targets[index].lacksConnection
    let flight = ActiveCall.Flight(
      permit: permit.breaker, paceTicket: roster[index].startPaced(calls[at: place].record.spec, at: now),
      withdrawal: roster[index].charge(progress, at: now),
      connection: roster.connect(index, to: permit.origin, at: now),
      callers: roster.takeSlot(calls[at: place].record.spec, of: index, at: now), held: held,
      due: due, waiting: waiting)
    calls.enter(.running(flight, cancelledBy: []), at: place)
    roster.start(size, of: index, at: now)
    if lackedConnection { reportStanding(index) }
    let call = calls[at: place].record
    let deadline = call.deadline
    let longest = min(call.spec.policy.attemptTimeout, roster.targets[index].settings.attemptTimeout)
    // Webhooks have signatures of their own.
    let settings = call.kind == .call ? roster.targets[index].settings : nil
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
          credential: call.spec.credential ?? settings?.credential, signing: call.spec.signing ?? settings?.signing,
          startBefore: desk.leases.startBefore.map { min($0, deadline) } ?? deadline)))
  }
}
