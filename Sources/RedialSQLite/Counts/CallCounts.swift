internal import RedialStore
internal import RedialModel

/// How many calls are in which state, as far as the store keeps it in tables of its own: a transaction's changes are
/// gathered, and written at its end.
final class CallCounts {
  private let finished: FinishedCounts
  /// Nil if this process has the store for itself.
  private let unfinished: UnfinishedCounts?

  /// Prepares the statements.
  init(on connection: SQLiteConnection, isShared: Bool) throws(StoreError) {
    finished = try FinishedCounts(on: connection)
    unfinished = isShared ? try UnfinishedCounts(on: connection) : nil
  }

  func added(_ new: NewCall, _ progress: CallProgress) {
    finished.count(kind: Int64(new.call.kind.rawValue), state: StateColumns.state(progress.state), 1)
    if !progress.state.isFinal { unfinished?.count(target: new.call.spec.target, namespace: new.namespace, 1) }
  }

  /// A client's unfinished call has come into another state.
  func advanced(_ id: CallID, to state: Int64) throws(StoreError) {
    if let unfinished, state >= StateColumns.firstFinished { try unfinished.count(id, -1) }
    finished.count(kind: Int64(CallKind.call.rawValue), state: state, 1)
  }

  /// Any call has come from a state into another.
  func moved(_ id: CallID, kind: Int64, from before: Int64, to state: Int64) throws(StoreError) {
    finished.count(kind: kind, state: before, -1)
    finished.count(kind: kind, state: state, 1)
    try countEnd(of: id, from: before, to: state)
  }

  /// A call is about to be removed.
  func removed(_ id: CallID, kind: Int64, state: Int64) throws(StoreError) {
    finished.count(kind: kind, state: state, -1)
    try countEnd(of: id, from: state, to: StateColumns.firstFinished)
  }

  /// Counts a stored call that has ended, or is no longer ended.
  private func countEnd(of id: CallID, from before: Int64, to state: Int64) throws(StoreError) {
    guard let unfinished else { return }
    let (was, isNow) = (before < StateColumns.firstFinished, state < StateColumns.firstFinished)
    if was != isNow { try unfinished.count(id, isNow ? 1 : -1) }
  }

  /// Writes the changes, at the end of the transaction.
  func write() throws(StoreError) {
    try finished.write()
    try unfinished?.write()
  }

  /// Drops the changes: the transaction is rolled back.
  func forget() {
    finished.forget()
    unfinished?.forget()
  }

  // MARK: Sharing

  /// Counts all calls, if that was not done since a process had the store for itself. Only within a transaction.
  func beginSharing() throws(StoreError) {
    try unfinished?.begin()
  }

  /// Every namespace that has had a call, with the number of its unfinished calls in a session's shards, and in all
  /// other shards; empty if this process has the store for itself.
  func unfinished(of session: Int64) throws(StoreError) -> [(namespace: Namespace, own: Int, elsewhere: Int)] {
    try unfinished?.counts(of: session) ?? []
  }
}
