internal import RedialCore
internal import RedialModel

/// How calls are loaded from the store into memory.
extension Engine {
  /// When to claim calls from the store next; nil if there are none, or none can be claimed.
  func nextClaim() -> Timestamp? {
    guard claiming == nil, trouble == nil, !isDraining, leases.canWork, room > 0, let due = storeNextDue
    else { return nil }
    return Timestamp(microseconds: due.microseconds &- settings.claimAhead.wholeMicroseconds)
  }

  /// Claims due calls from the store, if there are any and they fit.
  mutating func claimWhatIsDue() {
    guard let time = nextClaim(), time <= now else { return }
    let limit = min(settings.claimBatch, claimRoom)
    claiming = Claiming(limit: limit)
    expected += limit
    effects.store.append(StoreRequest(.claimDue(before: now + settings.claimAhead, limit: limit), epoch: epoch))
  }

  /// The claim of due calls has been answered, or has failed. Returns the earliest due time that was written since.
  mutating func endClaim() -> Timestamp? {
    expected -= claiming?.limit ?? 0
    defer { claiming = nil }
    return claiming?.earliestSince
  }

  /// Due calls have arrived from the store.
  mutating func claimedDue(_ claim: Claim) {
    let ended = claiming?.ended ?? []
    let since = endClaim()
    storeNextDue = [claim.nextDue, since].compactMap { $0 }.min()
    for record in claim.calls where !ended.contains(record.id) { adopt(record) }
  }

  /// The store has ended calls that cannot be read. One of them may have had the turn of its ordering key.
  mutating func setAside(_ count: Int, in namespace: Namespace) {
    countUnfinished(-count, at: place(of: namespace))
    stored(due: now)
  }

  /// Loads more of a target's calls when its queue in memory is nearly empty and its breaker lets calls through.
  mutating func refill(_ index: Int) {
    guard targets[index].stored > 0, targets[index].storedSinceRefill == nil, room > 0,
      targets[index].breaker.admits(at: now)
    else { return }
    // A half-open breaker lets only a few probes through, so loading many calls would be useless.
    let isClosed = targets[index].breaker.state == .closed
    let low = isClosed ? min(targets[index].maxInFlight, settings.maxReadyPerTarget / 2) : 0
    // Retries that wait for their budget do not keep first attempts in the store, as long as there is room for both.
    let hasOnlyRetries = targets[index].budget != nil && targets[index].queue.first(in: calls) == nil
    guard targets[index].ready <= low || (isClosed && hasOnlyRetries) else { return }
    let limit = min(
      isClosed ? settings.claimBatch : targets[index].settings.breaker.halfOpenProbes, refillRoom(index))
    guard limit > 0 else { return }
    targets[index].storedSinceRefill = 0
    targets[index].expected = limit
    expected += limit
    claims.append(.claimQueued(target: targets[index].key, limit: limit))
  }

  /// The refill of a target has been answered, or has failed. Returns how many calls were put into its queue since.
  mutating func endRefill(_ index: Int) -> Int {
    expected -= targets[index].expected
    targets[index].expected = 0
    defer { targets[index].storedSinceRefill = nil }
    return targets[index].storedSinceRefill ?? 0
  }

  /// Calls of a target's queue have arrived from the store.
  mutating func claimedQueued(_ key: String, _ records: [CallRecord], complete: Bool) {
    guard owns(key) else {
      if let index = targetIndex[key] { _ = endRefill(index) }
      return
    }
    let index = target(key)
    let since = endRefill(index)
    targets[index].stored = complete ? since : max(0, targets[index].stored - records.count)
    for record in records { adopt(record) }
    enterRotation(index)
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
    hold(record, phase: .waiting)
    if record.progress.waiting == .ordering {
      wait(record.id, until: record.lastStart)
    } else if record.progress.due > now, record.progress.waiting != .breaker, record.progress.waiting != .concurrency {
      wait(record.id, until: record.progress.due)
    } else {
      becomeReady(record.id)
    }
  }
}
