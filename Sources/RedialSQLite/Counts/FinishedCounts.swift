internal import RedialStore
internal import RedialModel

/// Keeps the counts of finished calls, by kind and state.
struct FinishedCounts {
  private let counts: GatheredCounts

  /// Prepares the statement.
  init(on connection: SQLiteConnection) throws(StoreError) {
    counts = try GatheredCounts(on: connection, "count finished calls", in: "finished_counts", by: "kind", "state")
  }

  /// Counts a call that has entered a state (1) or left it (-1); only states of finished calls are counted.
  func count(kind: Int64, state: Int64, _ change: Int64) {
    if state >= StateColumns.firstFinished { counts.gather(kind, state, change) }
  }

  /// Writes the recorded changes, at the end of the transaction.
  func write() throws(StoreError) { try counts.write() }

  /// Drops the recorded changes: the transaction is rolled back.
  func forget() { counts.forget() }
}
