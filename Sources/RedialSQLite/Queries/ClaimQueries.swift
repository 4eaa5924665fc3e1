internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Finds the calls to claim, and counts the calls of a store. Each query uses an index whose size depends on the work
/// to do, not on the history.
struct ClaimQueries {
  let due: DueCalls
  private let queued: SQLiteStatement
  private let running: SQLiteStatement
  private let waiting: SQLiteStatement
  private let queueCounts: SQLiteStatement
  private let newest: SQLiteStatement

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    due = try DueCalls(on: connection)
    queued = try connection.prepare(
      "find queued calls",
      "SELECT id FROM calls WHERE \(Conditions.queued) AND target_id = ?1 ORDER BY priority DESC, id LIMIT ?2")
    running = try connection.prepare(
      "find running calls",
      "SELECT id FROM calls WHERE \(Conditions.anyKind) AND \(StateColumns.condition(.running))")
    waiting = try connection.prepare(
      "find calls that wait",
      """
      SELECT id FROM calls WHERE \(Conditions.anyKind) AND state BETWEEN 0 AND \(StateColumns.lastUnfinished)
        AND (due > ?1 OR round_started_at > ?1)
      """)
    queueCounts = try connection.prepare(
      "count queued calls",
      """
      SELECT t.key, q.count
      FROM (SELECT target_id, count(*) AS count FROM calls WHERE \(Conditions.queued) GROUP BY target_id) q
      CROSS JOIN targets t ON t.id = q.target_id
      """)
    newest = try connection.prepare("find the newest call", "SELECT max(id) FROM calls")
  }

  /// Calls in the queue of a target, the most urgent first, then the oldest.
  func queued(targetID: Int64, limit: Int) throws(StoreError) -> [CallID] {
    queued.bind(1, targetID)
    queued.bind(2, Int64(limit))
    return try queued.rows(Self.id)
  }

  /// Calls with an attempt in flight.
  func allRunning() throws(StoreError) -> [CallID] {
    try running.rows(Self.id)
  }

  /// The unfinished calls of which a time lies in the future.
  func unfinished(after now: Timestamp) throws(StoreError) -> [CallID] {
    waiting.bind(1, now.microseconds)
    return try waiting.rows(Self.id)
  }

  /// How many calls are in each target's queue.
  func queueLengths() throws(StoreError) -> [(target: TargetKey, count: Int)] {
    try queueCounts.rows { row throws(StoreError) in (row.key(0), Int(row.integer(1))) }
  }

  /// The highest id in the store; 0 for an empty one.
  func lastID() throws(StoreError) -> CallID {
    CallID(rawValue: try newest.first { row throws(StoreError) in row.integer(0) } ?? 0)
  }

  private static func id(_ row: SQLiteStatement) throws(StoreError) -> CallID {
    CallID(rawValue: row.integer(0))
  }
}
