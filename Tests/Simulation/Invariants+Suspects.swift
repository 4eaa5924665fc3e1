internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// Calls that were in flight when a process died run one at a time, and one that ends processes soon ends itself.
extension Invariants {
  /// A call has ended the process. It is to blame for that if it was the only suspect in flight.
  mutating func ended(theProcess id: CallID, number: Int, in store: SimulatedStore) {
    guard let progress = store.rows[id]?.record.progress, progress.state == .running, progress.attempts == number,
      progress.isSuspect, !progress.isExcused
    else { return }
    stories[id]?.ended += 1
    require(stories[id]?.ended ?? 0 <= 2, "\(id) has ended \(stories[id]?.ended ?? 0) processes while it was suspect")
  }

  /// An attempt begins.
  func checkSuspect(_ start: AttemptStart, _ story: Story, store: SimulatedStore, network: SimulatedNetwork) {
    let progress = start.call.progress
    require(progress.isSuspect || !story.isSuspect, "\(start.call.id) may have ended a process, and began as any other")
    guard progress.isSuspect else { return }
    let others = network.exchanges.values.map(\.start.call).filter { $0.progress.isSuspect && $0.id != start.call.id }
    require(progress.isExcused || others.isEmpty, "\(start.call.id) would be blamed for what another call has done")
    // Of all calls that may wait, each has at least its share of the time.
    let share = settings.suspectsWithin.inSeconds / Double(store.rows.count + 1)
    for other in others {
      let time = (progress.due - other.progress.due).inSeconds
      require(
        time >= share - 0.001, "\(start.call.id) began \(time) s after \(other.id), and both may have ended a process")
    }
  }

  /// A call was ended because of the processes that died during its attempts.
  func checkBlame(_ row: SimulatedStore.Row, _ story: Story) {
    let progress = row.record.progress
    let deaths = row.attempts.count { $0.number > progress.attemptsBefore && $0.outcome == .interrupted }
    // One that was run again after such an end is ended by the first.
    require(
      deaths >= 2 || deaths == 1 && progress.attemptsBefore > 0,
      "\(row.record.id) was ended for \(deaths) deaths")
    require(row.attempts.last?.outcome == .interrupted, "\(row.record.id) was ended for a death that it has survived")
  }
}
