internal import RedialCore
internal import RedialModel

/// How a call is found that ends the process whenever it runs (``Suspects``).
///
/// Whatever was in flight when a process died without a stop is suspect from then on, until the call ends. A death counts
/// against a call if it was the only suspect in flight, or if few attempts were in flight at all. The second that counts
/// ends the call. So one that ends each process ends two of them, or three if it was in a crowd at first; and one that
/// happened to be in flight at two of many kills goes on.
extension Engine {
  /// Decides about calls whose attempts were in flight when their owner died.
  mutating func takeOver(running: [CallRecord]) {
    // Who kills process after process kills most of them before this, and nobody is to blame.
    suspects.settle(until: now + settings.suspectSettling)
    // Of a shared store, others may have taken over the rest.
    let areFew = running.count <= (settings.leases == nil ? Self.fewInFlight : 1)
    for record in running {
      var record = record
      let wasEnded = suspects.hasSurvived(record) ? false : record.progress.countDeath(amongFew: areFew)
      hold(record)
      decide(
        after: AttemptRecord(
          number: record.progress.attempts, startedAt: record.progress.due, duration: .zero, outcome: .interrupted,
          failure: wasEnded ? .endedTheService : .interrupted), of: record.id)
    }
  }

  /// Maximum attempts in flight at a death that counts against each of them.
  private static let fewInFlight = 4

  /// A suspect that is due waits until no other one has just begun.
  mutating func setAside(_ id: CallID) {
    guard let place = calls.place(of: id) else { return }
    let record = calls[at: place].record
    roster.leaveReady(record.content.heldSize, isRetry: record.progress.isRetry, of: calls[at: place].target)
    suspects.wait(id, record.progress, stamp: calls.enter(.waiting, at: place))
    calls.wait(id, until: record.lastStart)
  }

  /// An attempt of a suspect begins. Returns whether others are in flight; then a death proves nothing against any of them.
  mutating func beginSuspect(_ id: CallID, _ progress: CallProgress) -> Bool {
    let others = suspects.begin(id, progress, at: now)
    for other in others { excuse(other) }
    return !others.isEmpty
  }

  /// From now on a death proves nothing against an attempt in flight.
  mutating func excuse(_ id: CallID) {
    guard let place = calls.place(of: id), calls[at: place].isRunning, !calls[at: place].record.progress.isExcused
    else { return }
    calls[at: place].record.progress.isExcused = true
    writes.append(.update(id, calls[at: place].record.progress, nil))
  }
}
