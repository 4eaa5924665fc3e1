internal import RedialCore
internal import RedialModel

/// Calls of one target with one ordering key run one at a time, in the order in which they were accepted.
///
/// Whose turn it is the store knows, not the engine: a key's calls may wait by the thousand for days, and memory holds
/// only what is soon. A call awaits its turn in the store, `queued` until its deadline. Its turn is given to it in the
/// very transaction in which the call before it ends, or in its own if there is none before it; from then on it is a
/// scheduled call like others, and is claimed when it is due. So at most one of a key's calls is anywhere else than
/// there, whatever crashes in between.
///
/// The turn stays with a call between its attempts. One whose start lies ahead holds up those behind it.
extension Engine {
  /// Puts a new call behind those of its key.
  mutating func insertOrdered(_ new: CallRecord, _ key: String) -> CallRecord {
    var record = new
    let start = new.progress.due
    record.progress.state = .queued
    record.progress.waiting = .ordering
    record.progress.due = record.lastStart
    writes.append(.insert(record))
    writes.append(.awaitTurn(record.id, target: record.spec.target, orderingKey: key))
    stored(due: min(start, record.lastStart))
    // Whether it has its turn is known only once it is on disk; until then it is shown what it waits for at least.
    if start > now {
      record.progress.waiting = .startTime
      record.progress.due = start
    }
    return record
  }

  /// Has a call that is in the store, and not in memory, await its turn.
  mutating func awaitTurn(_ call: CallRecord) {
    guard let key = call.spec.orderingKey else { return }
    var progress = call.progress
    progress.state = .queued
    progress.waiting = .ordering
    progress.due = call.lastStart
    writes.append(.update(call.id, progress, nil))
    writes.append(.awaitTurn(call.id, target: call.spec.target, orderingKey: key))
    stored(due: min(progress.roundStartedAt, progress.due))
    // Answers that are on their way tell of it as it was.
    if let fetch = fetches[call.id] { fetches[call.id]?.stale = fetch.outstanding }
  }

  /// A call with a key has ended: the next may be due at once.
  mutating func passTurn(_ ended: CallRecord) {
    writes.append(.passTurn(ended.id))
    stored(due: now)
    claiming?.ended.insert(ended.id)
  }
}
