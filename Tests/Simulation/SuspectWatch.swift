internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Checks that calls which were in flight when a process died begin one after the other, and that others do not wait long for
/// them.
struct SuspectWatch {
  private var suspects: Set<CallID> = []
  private var heldSince: Timestamp?

  /// Checks a step.
  ///
  /// - Returns: A violation.
  mutating func step(
    _ events: [EngineEvent], _ starts: [AttemptStart], _ engine: Engine, at now: Timestamp
  ) -> String? {
    var found: [CallID] = []
    for event in events {
      switch event {
      case .recovered(let state): found += state.running.map(\.id)
      case .leased(let grant, _): found += grant.state.running.map(\.id)
      default: break
      }
    }
    suspects.formUnion(found)
    guard engine.waitsForSuspects else {
      heldSince = nil
      return nil
    }
    let since = found.isEmpty ? heldSince ?? now : now
    heldSince = since
    if now - since > engine.suspects.patience { return "all calls have waited for suspects since \(since.text)" }
    // In the step in which they are found, others may have begun before.
    let begun = found.isEmpty ? starts : starts.filter { found.contains($0.call.id) }
    if begun.count > 1 {
      return "\(begun[0].call.id) and \(begun[1].call.id) began at once, and may have ended a process"
    }
    guard found.isEmpty else { return nil }
    return starts.first { !suspects.contains($0.call.id) }.map { "\($0.call.id) did not wait for suspects" }
  }
}

extension Invariants {
  /// A call has ended the process. If that was its own doing, it does so three times at most.
  mutating func ended(theProcess id: CallID, number: Int, in store: SimulatedStore) {
    stories[id]?.isLethal = true
    guard let progress = store.rows[id]?.record.progress, progress.state == .running, progress.attempts == number,
      progress.isAlone
    else { return }
    stories[id]?.kills += 1
    let kills = stories[id]?.kills ?? 0
    require(kills <= 3, "\(id) has ended \(kills) processes in which it was alone")
  }

  /// An attempt begins: whoever is said to be alone is.
  func checkAlone(_ start: AttemptStart, store: SimulatedStore, network: SimulatedNetwork) {
    let others = network.exchanges.values.filter { $0.start.call.id != start.call.id }
    require(
      !start.call.progress.isAlone || others.isEmpty, "\(start.call.id) would be blamed for what another call has done")
    for other in others {
      let progress = store.rows[other.start.call.id]?.record.progress
      require(
        progress?.isAlone != true || progress?.attempts != other.start.number,
        "\(other.start.call.id) would be blamed for what \(start.call.id) has done")
    }
  }
}
