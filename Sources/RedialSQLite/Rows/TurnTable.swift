internal import RedialStore
internal import RedialModel

/// Which of the calls of one target with one ordering key has the turn.
struct TurnTable {
  private let insertTurn: SQLiteStatement
  private let grant: SQLiteStatement
  private let next: SQLiteStatement
  private let add: SQLiteStatement
  private let awaited: SQLiteStatement
  private let row: SQLiteStatement
  private let remove: SQLiteStatement
  private let free: SQLiteStatement
  private let scheduleCall: SQLiteStatement
  /// Has a call written to its table, before its row is changed there.
  var fold: (CallID) throws(StoreError) -> Void = { _ throws(StoreError) in }

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    insertTurn = try connection.prepare(
      "have a call await its turn",
      "INSERT OR IGNORE INTO turns (call_id, target_id, key, has_turn, namespace) VALUES (?1, ?2, ?3, 0, ?4)")
    free = try connection.prepare(
      "see whose turn it is", "SELECT call_id FROM turns WHERE target_id = ?1 AND key = ?2 AND has_turn = 1")
    next = try connection.prepare(
      "find whose turn is next",
      "SELECT call_id FROM turns WHERE target_id = ?1 AND key = ?2 AND has_turn = 0 ORDER BY call_id LIMIT 1")
    grant = try connection.prepare("give a turn", "UPDATE turns SET has_turn = 1 WHERE call_id = ?1")
    row = try connection.prepare("find a turn", "SELECT target_id, key, has_turn FROM turns WHERE call_id = ?1")
    remove = try connection.prepare("end a turn", "DELETE FROM turns WHERE call_id = ?1")
    add = try connection.prepare(
      "note a turn",
      """
      INSERT INTO turns (call_id, target_id, key, has_turn, namespace) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (call_id) DO UPDATE SET target_id = excluded.target_id, key = excluded.key,
          has_turn = excluded.has_turn, namespace = excluded.namespace
      """)
    awaited = try connection.prepare(
      "find turns that nobody has",
      """
      SELECT target_id, key FROM turns WHERE has_turn = 0 AND NOT EXISTS (
        SELECT 1 FROM turns h WHERE h.target_id = turns.target_id AND h.key = turns.key AND h.has_turn = 1)
      GROUP BY target_id, key
      """)
    scheduleCall = try connection.prepare(
      "schedule the call whose turn it is",
      CallSum.update(
        [
          "state": "\(StoredState.scheduled.rawValue)", "due": "round_started_at",
          "waiting": "\(WaitReason.startTime.rawValue)",
        ], where: "id = ?1"))
  }

  /// Lets a call wait for its turn, or gives it the turn at once if no other call of the key has it.
  ///
  /// - Parameter namespace: The number of the target's namespace.
  func enter(_ id: CallID, targetID: Int64, namespace: Int64, key: String) throws(StoreError) {
    insertTurn.bind(1, id.rawValue)
    insertTurn.bind(2, targetID)
    insertTurn.bind(3, text: key)
    insertTurn.bind(4, namespace)
    try insertTurn.run()
    guard let holder = try holder(targetID: targetID, key: key) else {
      return try giveTurn(targetID: targetID, key: key)
    }
    // It may have got the turn while it was set to wait for another reason.
    if holder == id { try schedule(id.rawValue) }
  }

  func holder(targetID: Int64, key: String) throws(StoreError) -> CallID? {
    free.bind(1, targetID)
    free.bind(2, text: key)
    return try free.first { row throws(StoreError) in CallID(rawValue: row.integer(0)) }
  }

  /// Records a call as given, without giving turns. It is an error if another call has the turn already.
  ///
  /// - Parameter namespace: The number of the target's namespace.
  func add(
    _ id: CallID, targetID: Int64, namespace: Int64, key: String, hasTurn: Bool
  ) throws(StoreError) {
    add.bind(1, id.rawValue)
    add.bind(2, targetID)
    add.bind(3, text: key)
    add.bind(4, hasTurn ? 1 : 0)
    add.bind(5, namespace)
    try add.run()
  }

  /// Gives each free turn to the oldest call that waits for it. Free turns are left by an import, until it ends.
  /// It reads all calls that wait for their turn.
  func grantFree() throws(StoreError) {
    let free = try awaited.rows { row throws(StoreError) in (targetID: row.integer(0), key: row.text(1)) }
    for turn in free { try giveTurn(targetID: turn.targetID, key: turn.key) }
  }

  /// Removes a call from the order, and gives its turn, if it had it, to the oldest call that waits for it.
  func pass(_ id: CallID) throws(StoreError) {
    row.bind(1, id.rawValue)
    let found = try row.first { row throws(StoreError) in (row.integer(0), row.text(1), row.integer(2) != 0) }
    guard let (targetID, key, hadTurn) = found else { return }
    remove.bind(1, id.rawValue)
    try remove.run()
    if hadTurn { try giveTurn(targetID: targetID, key: key) }
  }

  private func giveTurn(targetID: Int64, key: String) throws(StoreError) {
    next.bind(1, targetID)
    next.bind(2, text: key)
    guard let id = try next.first({ row throws(StoreError) in row.integer(0) }) else { return }
    grant.bind(1, id)
    try grant.run()
    try schedule(id)
  }

  private func schedule(_ id: Int64) throws(StoreError) {
    try fold(CallID(rawValue: id))
    scheduleCall.bind(1, id)
    try scheduleCall.run()
  }
}
