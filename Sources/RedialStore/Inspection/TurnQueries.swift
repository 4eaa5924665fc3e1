internal import RedialModel

/// What the order of a key says of a call.
struct TurnRow: Sendable, Hashable {
  /// The ordering key.
  var key: String
  /// Whether it is this call's turn.
  var hasTurn: Bool
}

/// Finds what is wrong with the order of calls, as far as it can be seen without reading them.
struct TurnQueries {
  private let row: SQLiteStatement
  private let ended: SQLiteStatement
  private let stuck: SQLiteStatement
  private let elsewhere: SQLiteStatement

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    row = try connection.prepare("read a call's turn", "SELECT key, has_turn FROM turns WHERE call_id = ?1")
    ended = try connection.prepare(
      "check the turns",
      """
      SELECT t.call_id, c.id IS NULL FROM turns t LEFT JOIN calls c ON c.id = t.call_id
      WHERE c.id IS NULL OR c.\(Conditions.finished) ORDER BY t.call_id
      """)
    elsewhere = try connection.prepare(
      "check the turns",
      """
      SELECT t.call_id FROM turns t JOIN calls c ON c.id = t.call_id WHERE c.namespace <> t.namespace ORDER BY t.call_id
      """)
    stuck = try connection.prepare(
      "check the turns",
      """
      SELECT min(call_id), count(*) FROM turns GROUP BY target_id, key HAVING max(has_turn) = 0 ORDER BY min(call_id)
      """)
  }

  /// What the order says of a call; nil when it has no part in one.
  func turn(of id: CallID) throws(StoreError) -> TurnRow? {
    row.bind(1, id.rawValue)
    return try row.first { row throws(StoreError) in TurnRow(key: row.text(0), hasTurn: row.integer(1) != 0) }
  }

  /// Adds turns of calls that do not await one any more or are of another namespace, and keys whose turn nobody has.
  func add(to finding: inout StoreFinding) throws(StoreError) {
    for (id, isMissing) in try ended.rows({ row throws(StoreError) in (Self.id(row), row.integer(1) != 0) }) {
      finding.add("\(id) has a place in the order and \(isMissing ? "is not there" : "has ended")")
    }
    for id in try elsewhere.rows({ row throws(StoreError) in Self.id(row) }) {
      finding.add("\(id) has a place in the order of another namespace than its own")
    }
    for (id, count) in try stuck.rows({ row throws(StoreError) in (Self.id(row), row.integer(1)) }) {
      finding.add("nobody has the turn that \(id) awaits, and with it \(count - 1) others")
    }
  }

  private static func id(_ row: SQLiteStatement) -> CallID { CallID(rawValue: row.integer(0)) }
}
