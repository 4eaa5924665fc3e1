internal import RedialCore
internal import RedialModel

/// How a call is found that ends the process whenever it runs (``Suspects``).
extension Engine {
  /// Decides about calls whose attempts were in flight when their owner died, or lost its lease.
  mutating func takeOver(running: [CallRecord], after crash: CrashRecord?) {
    var running = running
    let guilty =
      desk.leases.witnessesDeath(at: now) ? suspects.judge(&running, after: crash, at: now) : Suspects.acquit(&running)
    for record in running {
      hold(record)
      decide(
        after: AttemptRecord(
          number: record.progress.attempts, startedAt: record.progress.due, duration: .zero, outcome: .interrupted,
          failure: guilty.contains(record.id) ? .endedTheService : .interrupted), of: record.id)
    }
  }

  /// Whether all but suspects wait.
  var waitsForSuspects: Bool { suspects.holdOthers(at: now) }

  /// Starts the suspects whose turn it is. One that cannot start now does so later, beside others.
  mutating func startSuspects() {
    while let id = suspects.next(inFlight: roster.occupancy.inFlight, at: now) {
      guard let place = calls.place(of: id), calls[at: place].isReady else { continue }
      let (index, spec) = (calls[at: place].target, calls[at: place].record.spec)
      guard roster[index].allowsRetry(at: now), let permit = permitNow(index, spec) else { continue }
      suspects.begin(id, inFlight: roster.occupancy.inFlight, at: now)
      begin(id, permit: permit)
    }
  }

  /// Another attempt begins, or a stop, during which somebody may lose patience: a death is no more the doing of the one
  /// attempt that was in flight.
  mutating func excuseAlone(beside id: CallID?) {
    guard let alone = suspects.joined(by: id), let place = calls.place(of: alone), calls[at: place].isRunning
    else { return }
    calls[at: place].record.progress.isAlone = false
    writes.append(.update(alone, calls[at: place].record.progress, nil))
  }
}
