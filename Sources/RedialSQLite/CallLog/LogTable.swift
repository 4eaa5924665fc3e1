internal import RedialModel
internal import RedialStore

/// The table of the log: `call_log`, a row for each commit whose changes are not all in the tables of calls.
struct LogTable {
  private let connection: SQLiteConnection
  private let insert: SQLiteStatement
  private let select: SQLiteStatement
  private let removeAll: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    insert = try connection.prepare(
      "write to the log", "INSERT OR REPLACE INTO call_log (place, changes) VALUES (?1, ?2)")
    select = try connection.prepare("read the log", "SELECT place, changes FROM call_log")
    removeAll = try connection.prepare("empty the log", "DELETE FROM call_log")
  }

  /// Writes a row.
  func write(_ row: [UInt8], at place: Int64) throws(StoreError) {
    try row.withUnsafeBufferPointer { bytes throws(StoreError) in
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
    guard let last = found.max(by: { $0.number < $1.number }) else { return logged }
    found = found.filter { $0.number >= last.tail }.sorted { $0.number < $1.number }
    var next = last.tail
    for (number, _, place, row) in found {
      guard number == next else { throw damage("row \(next) is missing") }
      guard let batch = LogRecords.batch(in: row, at: place, after: logged) else {
        throw damage("row \(number) has a record that cannot be read")
      }
      logged.load(batch, bytes: row.count)
      next += 1
    }
    if let id = logged.calls.first(where: { $0.value.new == nil && $0.value.stored == nil })?.key {
      throw damage("it has progress of \(id), and lacks the call")
    }
    let places = try connection.value("read the log", "SELECT max(place) FROM call_log") { $0.integer(0) } ?? 0
    logged.didLoad(places: places + 1)
    return logged
  }

  private func damage(_ reason: String) -> StoreError {
    StoreError(
      kind: .corrupt,
      message: "The log of calls in \(connection.path) cannot be read: \(reason). It has the latest changes of calls. "
        + "Nothing was changed. Keep a copy of the file, and restore the last backup, or ask for help with the copy.")
  }
}
