internal import RedialCore
internal import RedialModel
internal import RedialStore

/// Finds the deadlines of the first calls in a target's queue and of the last one, so that the cost depends on the limit
/// and not on the length of the queue.
struct DeadlineQueries {
  private let first: SQLiteStatement
  private let last: SQLiteStatement

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    // The due time of a queued call is its deadline.
    first = try connection.prepare(
      "find the deadlines of a queue",
      "SELECT due FROM calls WHERE \(Conditions.queued) AND target_id = ?1 ORDER BY priority DESC, id LIMIT ?2")
    last = try connection.prepare(
      "find the last deadline of a queue",
      "SELECT due FROM calls WHERE \(Conditions.queued) AND target_id = ?1 ORDER BY priority, id DESC LIMIT 1")
  }

  /// The deadlines of a target's queue.
  func deadlines(of targetID: Int64, limit: Int) throws(StoreError) -> QueueDeadlines {
    first.bind(1, targetID)
    first.bind(2, Int64(limit))
    last.bind(1, targetID)
    func time(_ row: SQLiteStatement) -> Timestamp { Timestamp(microseconds: row.integer(0)) }
    return QueueDeadlines(
      first: try first.rows { row throws(StoreError) in time(row) },
      last: try last.first { row throws(StoreError) in time(row) })
  }
}
