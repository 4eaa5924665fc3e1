internal import RedialModel

/// Keeps the counts of finished calls: what a transaction changes of them is gathered here, and written at its end.
///
/// Triggers did it before, one for each row: they were a third of all that SQLite had to do for a call. Who changes a
/// call's state says so here instead, and `redial doctor` compares the counts with the calls.
final class FinishedCounts {
  private struct Key: Hashable {
    var kind: Int64
    var state: Int64
  }

  private let add: SQLiteStatement
  /// What the transaction under way has changed; a handful of entries, of which nearly all changes go to the first.
  private var changes: [(key: Key, count: Int64)] = []

  /// Prepares the statement.
  init(on connection: SQLiteConnection) throws(StoreError) {
    add = try connection.prepare(
      "count finished calls",
      """
      INSERT INTO finished_counts (kind, state, count) VALUES (?1, ?2, ?3)
        ON CONFLICT (kind, state) DO UPDATE SET count = count + excluded.count
      """)
  }

  /// Notes that a call was put into a state, or out of it; only states of finished calls are counted.
  func note(kind: Int64, state: Int64, _ change: Int64) {
    guard state >= StateColumns.firstFinished else { return }
    let key = Key(kind: kind, state: state)
    if let index = changes.firstIndex(where: { $0.key == key }) {
      changes[index].count += change
    } else {
      changes.append((key, change))
    }
  }

  /// Writes what has been noted, at the end of the transaction.
  func write() throws(StoreError) {
    for (key, count) in changes where count != 0 {
      add.bind(1, key.kind)
      add.bind(2, key.state)
      add.bind(3, count)
      try add.run()
    }
    changes.removeAll(keepingCapacity: true)
  }

  /// Forgets what has been noted: the transaction is rolled back.
  func forget() {
    changes.removeAll(keepingCapacity: true)
  }
}
