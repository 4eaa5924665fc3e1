internal import RedialModel
internal import RedialStore

/// Reads the packed attempts of calls, in the order of the calls.
struct PackedContents {
  private let counts: SQLiteStatement
  private let page: SQLiteStatement
  private let one: SQLiteStatement

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    counts = try connection.prepare(
      "count the attempts", "SELECT substr(past, 2, 1) FROM requests WHERE past IS NOT NULL")
    page = try connection.prepare(
      "read the attempts",
      "SELECT id, past FROM requests WHERE past IS NOT NULL AND id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3")
    one = try connection.prepare(
      "read the attempts", "SELECT id, past FROM requests WHERE id = ?1 AND past IS NOT NULL")
  }

  /// How many there are: the second byte of each value is its number of attempts.
  func count() throws(StoreError) -> Int {
    var count = 0
    try counts.each { row throws(StoreError) in
      count += Int(row.bytes(0).first ?? 0)
      return true
    }
    return count
  }

  /// The first calls with packed attempts.
  func calls(
    from first: Int64, to last: Int64, most: Int
  ) throws(StoreError) -> [(id: Int64, attempts: [StoredAttempt])] {
    page.bind(1, first)
    page.bind(2, last)
    page.bind(3, Int64(most))
    return try page.rows { row throws(StoreError) in try Self.read(row) }
  }

  /// A call with its packed attempts, if it has any.
  func call(_ id: Int64) throws(StoreError) -> (id: Int64, attempts: [StoredAttempt]) {
    one.bind(1, id)
    return try one.first { row throws(StoreError) in try Self.read(row) } ?? (id, [])
  }

  private static func read(_ row: SQLiteStatement) throws(StoreError) -> (id: Int64, attempts: [StoredAttempt]) {
    do throws(AttemptDamage) {
      return (row.integer(0), try PackedAttempts.attempts(in: row.bytes(1)))
    } catch {
      throw DamagedCall(id: CallID(rawValue: row.integer(0)), reason: error.reason).error
    }
  }
}
