internal import RedialCore
internal import RedialModel

/// Calls of one target with the same ordering key run one at a time, in the order in which they were accepted.
///
/// The store knows which call has the turn, not the engine: thousands of calls of one key may wait for days, and
/// memory holds only what runs soon. A call waits for its turn in the store, `queued` until its deadline. It gets its
/// turn in the same transaction that ends the call before it, or in its own if there is none before it. From then on
/// it is a scheduled call like others, and is claimed when it is due. So whatever crashes, at most one call of a key
/// is outside the queue.
///
/// A call keeps its turn between its attempts. A call that starts later also delays those behind it.
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
    desk.claims.stored(due: min(start, record.lastStart))
    // Only the commit decides whether it has its turn. Until then the call shows the reason that it waits for at
    // least.
    if start > now {
      record.progress.waiting = .startTime
      record.progress.due = start
    }
    return record
  }

  /// Lets a call that is in the store, and not in memory, wait for its turn.
  mutating func awaitTurn(_ call: CallRecord) {
    guard let key = call.spec.orderingKey else { return }
    var progress = call.progress
    progress.state = .queued
    progress.waiting = .ordering
    progress.due = call.lastStart
    writes.append(.update(call.id, progress, nil))
    writes.append(.awaitTurn(call.id, target: call.spec.target, orderingKey: key))
    desk.claims.stored(due: min(progress.roundStartedAt, progress.due))
    // Answers that the store has already sent show it as it was.
    desk.fetches.outdate(call.id)
  }

  /// A call with an ordering key has ended: the next may be due at once.
  mutating func passTurn(_ ended: CallRecord) {
    writes.append(.passTurn(ended.id))
    if let place = roster.place(of: ended.spec.target) { roster[place].passTurn() }
    desk.claims.stored(due: now)
    desk.claims.ended(ended.id)
  }
}
