internal import RedialStore
internal import RedialModel

/// Finds faults in the order of calls, as far as they are visible without reading the calls.
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

  /// A call's part in an order; nil if it has none.
  func turn(of id: CallID) throws(StoreError) -> CallTurn? {
    row.bind(1, id.rawValue)
    return try row.first { row throws(StoreError) in CallTurn(key: row.text(0), hasTurn: row.integer(1) != 0) }
  }

  /// Adds turns of calls that no longer wait for one or belong to another namespace, and keys whose turn no call has.
  func add(to finding: inout StoreFinding) throws(StoreError) {
    for (id, isMissing) in try ended.rows({ row throws(StoreError) in (Self.id(row), row.integer(1) != 0) }) {
      finding.add(turnOf: id, isMissing: isMissing)
    }
    for id in try elsewhere.rows({ row throws(StoreError) in Self.id(row) }) {
      finding.add(turnElsewhere: id)
    }
    for (id, count) in try stuck.rows({ row throws(StoreError) in (Self.id(row), row.integer(1)) }) {
      finding.add(waitingForNobody: id, count: count)
    }
  }

  private static func id(_ row: SQLiteStatement) -> CallID { CallID(rawValue: row.integer(0)) }
}
