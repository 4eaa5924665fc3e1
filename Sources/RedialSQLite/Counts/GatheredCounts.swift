internal import RedialStore
internal import RedialModel

/// Counts in a table whose key is two numbers: a transaction collects its changes, and writes them at its end.
///
/// Triggers, one per row, did it before: they were a third of SQLite's work for a call. Code that changes counted rows
/// now calls this type, and `redial doctor` compares the counts with the calls.
final class GatheredCounts {
  private let add: SQLiteStatement
  private var changes = GatheredChanges()

  /// Prepares the statement.
  ///
  /// - Parameters:
  ///   - table: Has a column `count` besides the two columns of its key.
  ///   - first: The first column of the key.
  ///   - second: The second column of the key.
  init(
    on connection: SQLiteConnection, _ purpose: StaticString, in table: String, by first: String, _ second: String
  ) throws(StoreError) {
    add = try connection.prepare(
      purpose,
      """
      INSERT INTO \(table) (\(first), \(second), count) VALUES (?1, ?2, ?3)
        ON CONFLICT (\(first), \(second)) DO UPDATE SET count = count + excluded.count
      """)
  }

  /// Adds to what a count changes by.
  func gather(_ first: Int64, _ second: Int64, _ change: Int64) {
    changes.gather(first, second, change)
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
