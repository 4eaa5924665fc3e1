internal import RedialCore
internal import RedialModel

/// How calls are loaded from the store into memory.
extension Engine {
  /// When to claim calls from the store next; nil if there are none, or none can be claimed.
  func nextClaim() -> Timestamp? {
    guard !desk.claims.isOpen, desk.canDecide, !isDraining, roster.room(expecting: desk.claims.expected) > 0,
      let due = desk.claims.nextDue
    else { return nil }
    return Timestamp(microseconds: due.microseconds &- settings.claimAhead.wholeMicroseconds)
  }

  /// Claims due calls from the store, if there are any and they fit.
  mutating func claimWhatIsDue() {
    guard let time = nextClaim(), time <= now else { return }
    let limit = min(settings.claimBatch, roster.claimRoom(expecting: desk.claims.expected))
    desk.claims.begin(limit: limit)
    request(.claimDue(before: now + settings.claimAhead, limit: limit))
  }

  /// Due calls have arrived from the store.
  mutating func claimedDue(_ claim: Claim) {
    for record in desk.claims.end(claim) {
      leaveQueue(record)
      adopt(record)
    }
  }

  /// A call has arrived from the store, and not by a refill. If it waited for its target, it was in the target's queue.
  mutating func leaveQueue(_ record: CallRecord) {
    guard isQueued(record), calls.place(of: record.id) == nil, owns(record.spec.target),
      let place = roster.place(of: record.spec.target)
    else { return }
    roster[place].leaveQueue()
  }

  /// Whether a call of the store is one that waits in its target's queue.
  private func isQueued(_ record: CallRecord) -> Bool {
    record.progress.waiting == .breaker || record.progress.waiting == .concurrency
  }

  /// The store has ended calls that cannot be read. One of them may have had the turn of its ordering key.
  mutating func setAside(_ count: Int, in namespace: Namespace) {
    roster.countUnfinished(-count, at: roster.place(of: namespace))
    desk.claims.stored(due: now)
  }

  /// Loads more of a target's calls when its queue in memory is nearly empty and its breaker lets calls through.
  mutating func refill(_ index: Int) {
    let expected = desk.claims.expected
    guard roster.targets[index].stored.count > 0, !roster.targets[index].stored.isRefilling,
      roster.room(expecting: expected) > 0, roster.targets[index].breaker.admitsBeside(at: now)
    else { return }
    // A half-open breaker lets only a few probes through, so loading many calls would be useless.
    let isClosed = roster.targets[index].breaker.state == .closed
    let low = isClosed ? min(roster.targets[index].limits.maxInFlight, settings.maxReadyPerTarget / 2) : 0
    // Retries that wait for their budget do not keep first attempts in the store, as long as there is room for both.
    let hasOnlyRetries = roster[index].hasOnlyRetries(in: calls.table)
    // New calls do not keep the backlog in the store.
    guard roster.targets[index].readyBacklog <= low || (isClosed && hasOnlyRetries) else { return }
    let most = isClosed ? settings.claimBatch : roster.targets[index].settings.breaker.halfOpenProbes
    let limit = min(most, roster.refillRoom(index, expecting: expected))
    guard limit > 0 else { return }
    roster[index].beginRefill(limit)
    desk.claims.expect(limit)
    desk.requestLater(.claimQueued(target: roster.targets[index].key, limit: limit))
  }

  /// The refill of a target has failed, or nothing of it is of use.
  mutating func endRefill(_ index: Int) {
    desk.claims.noLongerExpect(roster.targets[index].stored.expected)
    roster[index].endRefill()
  }

  /// Calls of a target's queue have arrived from the store.
  mutating func claimedQueued(_ key: TargetKey, _ records: [CallRecord], complete: Bool) {
    guard owns(key) else {
      if let index = roster.place(of: key) { endRefill(index) }
      return
    }
    let index = target(key)
    desk.claims.noLongerExpect(roster.targets[index].stored.expected)
    roster[index].endRefill(arrived: records.count, complete: complete)
    for record in records { adopt(record) }
    roster.enterRotation(index)
  }

  /// Takes in a call that the store has marked as held.
  mutating func adopt(_ record: CallRecord) {
    // Calls of a shard that is being given back go back with it.
    guard owns(record.spec.target) else { return }
    if let known = calls[record.id] {
      // A call that waits here for its deadline may have got its turn meanwhile.
      guard known.record.progress.waiting == .ordering, record.progress.waiting != .ordering else { return }
      release(record.id)
    }
    hold(record)
    if record.progress.waiting == .ordering {
      calls.wait(record.id, until: record.lastStart)
    } else if record.progress.due > now, !isQueued(record) {
      calls.wait(record.id, until: record.progress.due)
    } else {
      if let place = calls.place(of: record.id), hasJustGotTurn(record) { calls[at: place].record.progress.due = now }
      becomeReady(record.id)
    }
  }

  /// Whether a call that was due before has waited for its turn. It had that before, if nobody has passed one on since the
  /// engine works on its target.
  private func hasJustGotTurn(_ record: CallRecord) -> Bool {
    guard record.spec.orderingKey != nil, !record.progress.isRetry, record.progress.due < now,
      let place = roster.place(of: record.spec.target)
    else { return false }
    return roster.targets[place].hasPassedTurns || roster.targets[place].holds.knows(record.progress.due)
  }

  /// Puts a call that the store has marked as held back to where it was. One that is due soon stays in memory.
  mutating func putBack(_ record: CallRecord) {
    var progress = record.progress
    if isQueued(record) || progress.due <= now + settings.holdWindow { return adopt(record) }
    if progress.waiting == .ordering { return awaitTurn(record) }
    progress.state = .scheduled
    writes.append(.update(record.id, progress, nil))
    desk.claims.stored(due: progress.due)
    // Answers that the store has already sent show it as held.
    desk.fetches.outdate(record.id)
  }
}
