internal import RedialCore
internal import RedialModel

/// How calls come from the store into memory.
extension Engine {
  /// When calls are next to be taken from the store; nil when nothing is there, or nothing can be taken.
  func nextClaim() -> Timestamp? {
    guard claiming == nil, trouble == nil, !isDraining, calls.count < settings.maxHeld,
      heldBytes < settings.maxHeldBytes, let due = storeNextDue
    else { return nil }
    return Timestamp(microseconds: due.microseconds &- settings.claimAhead.wholeMicroseconds)
  }

  /// Takes due calls from the store, if there are any and they fit.
  mutating func claimWhatIsDue() {
    guard let time = nextClaim(), time <= now else { return }
    claiming = Claiming()
    let limit = min(settings.claimBatch, settings.maxHeld - calls.count)
    effects.store.append(StoreRequest(.claimDue(before: now + settings.claimAhead, limit: limit), epoch: epoch))
  }

  /// Due calls have come from the store.
  mutating func claimedDue(_ claim: Claim) {
    let since = claiming?.earliestSince
    claiming = nil
    storeNextDue = [claim.nextDue, since].compactMap { $0 }.min()
    for record in claim.calls { adopt(record) }
  }

  /// Asks for more of a target's calls when its queue in memory runs low and its breaker lets calls through.
  mutating func refill(_ index: Int) {
    let state = targets[index]
    guard state.stored > 0, state.storedSinceRefill == nil, calls.count < settings.maxHeld,
      heldBytes < settings.maxHeldBytes, state.breaker.admits(at: now)
    else { return }
    // A half-open breaker takes a few probes; fetching a crowd for them would be in vain.
    let isClosed = state.breaker.state == .closed
    let low = isClosed ? min(settings.maxInFlightPerTarget, settings.maxReadyPerTarget / 2) : 0
    guard state.ready <= low else { return }
    let room = min(settings.maxReadyPerTarget - state.ready, settings.maxHeld - calls.count)
    let limit = min(isClosed ? settings.claimBatch : settings.breaker.halfOpenProbes, room)
    guard limit > 0 else { return }
    targets[index].storedSinceRefill = 0
    effects.store.append(StoreRequest(.claimQueued(target: state.key, limit: limit), epoch: epoch))
  }

  /// Calls of a target's queue have come from the store.
  mutating func claimedQueued(_ key: String, _ records: [CallRecord], complete: Bool) {
    let index = target(key)
    let since = targets[index].storedSinceRefill ?? 0
    targets[index].storedSinceRefill = nil
    targets[index].stored = complete ? since : max(0, targets[index].stored - records.count)
    for record in records { adopt(record) }
    enterRotation(index)
  }

  /// Takes in a call that the store has handed over as held.
  mutating func adopt(_ record: CallRecord) {
    guard calls[record.id] == nil else { return }
    hold(record, phase: .waiting)
    if record.progress.due > now, record.progress.waiting != .breaker, record.progress.waiting != .concurrency {
      wait(record.id, until: record.progress.due)
    } else {
      becomeReady(record.id)
    }
  }
}
