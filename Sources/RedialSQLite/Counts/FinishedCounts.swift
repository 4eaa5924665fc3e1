internal import RedialStore
internal import RedialModel

/// Keeps the counts of finished calls, by kind and state, in a table of their own: a transaction collects its changes, and
/// writes them at its end.
///
/// Triggers, one per row, did it before: they were a third of SQLite's work for a call. Code that changes counted rows
/// now calls this type, and `redial doctor` compares the counts with the calls.
final class FinishedCounts {
  private let add: SQLiteStatement
  private var changes = GatheredChanges()

  /// Prepares the statement.
  init(on connection: SQLiteConnection) throws(StoreError) {
    add = try connection.prepare(
      "count finished calls",
      """
      INSERT INTO finished_counts (kind, state, count) VALUES (?1, ?2, ?3)
        ON CONFLICT (kind, state) DO UPDATE SET count = count + excluded.count
      """)
  }

  /// A call has come from a state, or is new, into another, or is removed. Only states of finished calls are counted.
  func moved(kind: Int64, from before: Int64? = nil, to state: Int64?) {
    if let before, before >= StateColumns.firstFinished { changes.gather(kind, before, -1) }
    if let state, state >= StateColumns.firstFinished { changes.gather(kind, state, 1) }
  }

  /// Writes the recorded changes, at the end of the transaction.
  func write() throws(StoreError) {
    try changes.flush { first, second, count throws(StoreError) in
      add.bind(1, first)
      add.bind(2, second)
      add.bind(3, count)
      try add.run()
    }
  }

  /// Drops the recorded changes: the transaction is rolled back.
  func forget() {
    changes.forget()
  }
}
