/// Keeps the counts of finished calls, by kind and state.
struct FinishedCounts {
  private let counts: GatheredCounts

  /// Prepares the statement.
  init(on connection: SQLiteConnection) throws(StoreError) {
    counts = try GatheredCounts(on: connection, "count finished calls", in: "finished_counts", by: "kind", "state")
  }

  /// Notes that a call was put into a state, or out of it; only states of finished calls are counted.
  func note(kind: Int64, state: Int64, _ change: Int64) {
    if state >= StateColumns.firstFinished { counts.note(kind, state, change) }
  }

  /// Writes what has been noted, at the end of the transaction.
  func write() throws(StoreError) { try counts.write() }

  /// Forgets what has been noted: the transaction is rolled back.
  func forget() { counts.forget() }
}
