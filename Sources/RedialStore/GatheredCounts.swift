/// Counts that a table keeps by two numbers: what a transaction changes of them is gathered, and written at its end.
///
/// Triggers did it before, one for each row: they were a third of all that SQLite had to do for a call. Who changes what is
/// counted says so here instead, and `redial doctor` compares the counts with the calls.
final class GatheredCounts {
  private struct Key: Equatable {
    var first: Int64
    var second: Int64
  }

  private let add: SQLiteStatement
  /// The changes of the current transaction: a handful of entries; nearly all changes go to the first.
  private var changes: [(key: Key, count: Int64)] = []

  /// Prepares the statement.
  ///
  /// - Parameters:
  ///   - table: Has a column `count` besides the two that are its key.
  ///   - first: The one of these.
  ///   - second: The other.
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

  /// Notes that so many more are to be counted.
  func note(_ first: Int64, _ second: Int64, _ change: Int64) {
    let key = Key(first: first, second: second)
    if let index = changes.firstIndex(where: { $0.key == key }) {
      changes[index].count += change
    } else {
      changes.append((key, change))
    }
  }

  /// Writes what has been noted, at the end of the transaction.
  func write() throws(StoreError) {
    for (key, count) in changes where count != 0 {
      add.bind(1, key.first)
      add.bind(2, key.second)
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
