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
    let (logged, damage) = try read { (error) throws(StoreError) in throw error }
    if let first = damage.first { throw error(first) }
    return logged
  }

  /// What can be read of the log, and what cannot, as clauses. Of a call there may then be an older state than its last one,
  /// or only its progress.
  ///
  /// - Parameter everyPage: Whether rows are looked for in every page of the file, which has no write-ahead log.
  func readable(everyPage: Bool) throws(StoreError) -> (logged: LoggedCalls, damage: [String]) {
    var lost: [String] = []
    let (logged, damage) = try read(everyPage: everyPage) { (error) throws(StoreError) in lost.append(error.message) }
    return (logged, lost + damage)
  }

  /// - Parameter failed: Called if a page of the table cannot be read.
  private func read(
    everyPage: Bool = false, _ failed: (StoreError) throws(StoreError) -> Void
  ) throws(StoreError) -> (LoggedCalls, damage: [String]) {
    var found: [(number: Int64, tail: Int64, place: Int64, row: [UInt8])] = []
    var damage: [String] = []
    do throws(StoreError) {
      try select.each { row throws(StoreError) in
        let (place, bytes) = (row.integer(0), row.bytes(1))
        if let numbers = LogRecords.numbers(of: bytes) {
          found.append((numbers.number, numbers.tail, place, bytes))
        } else {
          damage.append(self.damage(at: place, bytes))
        }
        return true
      }
    } catch {
      guard error.kind == .corrupt else { throw error }
      try failed(error)
    }
    var strays = 0
    if everyPage {
      var known = Set(found.map(\.number))
      try LogPages(of: connection.path)?.each { place, row in
        guard let numbers = LogRecords.numbers(of: row), known.insert(numbers.number).inserted else { return }
        found.append((numbers.number, numbers.tail, place, row))
        strays += 1
      }
    }
    var logged = LoggedCalls()
    let places = found.map { LogPlaces.Place(number: $0.place, bytes: $0.row.count) }
    guard let last = found.max(by: { $0.number < $1.number }) else { return (logged, damage) }
    found = found.filter { $0.number >= last.tail }.sorted { $0.number < $1.number }
    var (next, missing) = (last.tail, [String]())
    for (number, _, place, row) in found {
      while next < number {
        missing.append("row \(next) is missing")
        logged.load(LogBatch(number: next, tail: last.tail), at: LogPlaces.Place(number: -1, bytes: 0))
        next += 1
      }
      let batch = LogRecords.batch(in: row, after: logged, connection.vault)
      if batch == nil { missing.append("row \(number) has a record that cannot be read") }
      logged.load(
        batch ?? LogBatch(number: number, tail: last.tail), at: LogPlaces.Place(number: place, bytes: row.count))
      next += 1
    }
    // A damaged row is missing by its number, too.
    damage += missing.dropFirst(damage.count)
    for id in logged.calls.filter({ $0.value.new == nil && $0.value.stored == nil }).keys.sorted() {
      damage.append("it has progress of \(id), and lacks the call")
    }
    if strays > 0 { damage.append("the pages that lead to \(strays) of its rows are damaged, and the rows were found") }
    logged.didLoad(places)
    return (logged, damage)
  }

  private func damage(at place: Int64, _ row: [UInt8]) -> String {
    let calls = LogRecords.calls(inDamaged: row, connection.vault)
    let names = calls.prefix(10).map(\.description).joined(separator: ", ")
    let about =
      calls.isEmpty ? "" : "; it seems to be about \(names)\(calls.count > 10 ? " and \(calls.count - 10) more" : "")"
    return "the row at place \(place) is damaged\(about)"
  }

  private func error(_ reason: String) -> StoreError {
    StoreError(
      kind: .corrupt,
      message: "The log of calls in \(connection.path) cannot be read: \(reason). It has the latest changes of calls. "
        + "Nothing was changed. \(StoreError.advice(for: .corrupt))")
  }
}
