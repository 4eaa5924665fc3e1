internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// Failovers of a shared store to another server, which may have an earlier state: with asynchronous replication the
/// last commits are lost, although the store had reported them as made.
extension World {
  func planFailovers() {
    guard failoverRandom.chance(0.25) else { return }
    let end = agenda.last(where: { if case .heal = $0 { true } else { false } }) ?? now
    for number in 0..<failoverRandom.pick(1...2) {
      let time = World.start + .microseconds(Int64(failoverRandom.unitInterval() * (end - World.start).inSeconds * 1e6))
      // Synchronous replication loses nothing.
      if failoverRandom.chance(0.7) {
        let lag = min(failoverRandom.duration(1...8000), time - World.start)
        agenda.add(.replicate(number), at: time + (.zero - lag))
      }
      agenda.add(.failOver(number), at: time)
    }
  }

  /// Whether no server can be reached.
  var isServerDown: Bool { !isHealed && now < serverUpAt }

  /// All connections are lost, and a server with a copy of the data takes over.
  func failOver(_ number: Int) {
    guard !isHealed else { return }
    for instance in instances where instance.isUp && !instance.lane.isLost { loseConnection(of: instance) }
    let before = store
    store = before.failedOver(to: copies[number] ?? before)
    // The other copies are of a server that has lost.
    copies = [:]
    serverUpAt = now + failoverRandom.duration(10...(failoverRandom.chance(0.3) ? 20_000 : 1000))
    lastWritten = now
    invariants.wentBack(from: before, to: store)
    for instance in instances { instance.network.wentBack(to: store) }
    tellOfDocuments(since: before)
    let behind = instances.filter { $0.isUp && $0.lane.hasLost(store) }
    log("the store fails over; \(behind.map(\.number)) have lost changes")
  }
}

extension Instance {
  /// Whether it is connected to the server that has the store, with all changes that were reported to it. If not, what
  /// it does may be based on lost changes.
  func knows(_ store: SimulatedStore) -> Bool {
    lane.session == nil || lane.server == store.server && !lane.isBehind
  }
}
