internal import RedialModel
internal import RedialStore

/// The table of the log: `call_log`, a row for each commit whose changes are not all in the tables of calls.
struct LogTable {
  private let connection: SQLiteConnection
  private let insert: SQLiteStatement
  private let replace: SQLiteStatement
  private let select: SQLiteStatement
  private let removeAll: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    insert = try connection.prepare("write to the log", "INSERT INTO call_log (place, changes) VALUES (?1, ?2)")
    // SQLite overwrites a row of the same size where it is only if it has looked at its size.
    replace = try connection.prepare(
      "write to the log", "UPDATE call_log SET changes = ?2 WHERE place = ?1 AND length(changes) >= 0")
    select = try connection.prepare("read the log", "SELECT place, changes FROM call_log")
    removeAll = try connection.prepare("empty the log", "DELETE FROM call_log")
  }

  /// Writes a row.
  func write(_ row: [UInt8], at place: Int64) throws(StoreError) {
    try row.withUnsafeBufferPointer { bytes throws(StoreError) in
      replace.bind(1, place)
      replace.bind(2, bytes: bytes)
      try replace.run()
      guard connection.changes == 0 else { return }
      insert.bind(1, place)
      insert.bind(2, bytes: bytes)
      try insert.run()
    }
  }

  /// Removes all rows.
  func empty() throws(StoreError) {
    try removeAll.run()
  }

  /// What the log has.
  ///
  /// - Throws: `corrupt` if a row cannot be read, or one is missing.
  func load() throws(StoreError) -> LoggedCalls {
    var found: [(number: Int64, tail: Int64, place: Int64, row: [UInt8])] = []
    try select.each { row throws(StoreError) in
      let (place, bytes) = (row.integer(0), row.bytes(1))
      guard let numbers = LogRecords.numbers(of: bytes) else { throw damage("the row at place \(place) is damaged") }
      found.append((numbers.number, numbers.tail, place, bytes))
      return true
    }
    var logged = LoggedCalls()
    let places = found.map { LogPlaces.Place(number: $0.place, bytes: $0.row.count) }
    guard let last = found.max(by: { $0.number < $1.number }) else { return logged }
    found = found.filter { $0.number >= last.tail }.sorted { $0.number < $1.number }
    var next = last.tail
    for (number, _, place, row) in found {
      guard number == next else { throw damage("row \(next) is missing") }
      guard let batch = LogRecords.batch(in: row, after: logged) else {
        throw damage("row \(number) has a record that cannot be read")
      }
      logged.load(batch, at: LogPlaces.Place(number: place, bytes: row.count))
      next += 1
    }
    if let id = logged.calls.first(where: { $0.value.new == nil && $0.value.stored == nil })?.key {
      throw damage("it has progress of \(id), and lacks the call")
    }
    logged.didLoad(places)
    return logged
  }

  private func damage(_ reason: String) -> StoreError {
    StoreError(
      kind: .corrupt,
      message: "The log of calls in \(connection.path) cannot be read: \(reason). It has the latest changes of calls. "
        + "Nothing was changed. Keep a copy of the file, and restore the last backup, or ask for help with the copy.")
  }
}
