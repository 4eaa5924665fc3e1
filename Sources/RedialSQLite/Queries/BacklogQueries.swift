internal import RedialCore
internal import RedialModel
internal import RedialStore

/// Counts the waiting calls in the store, up to a limit, so that the cost depends on the limit and not on the backlog.
struct BacklogQueries {
  private let later: SQLiteStatement
  private let laterOfOne: SQLiteStatement
  private let awaiting: SQLiteStatement
  private let awaitingOfOne: SQLiteStatement
  private let key: SQLiteStatement

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    let scheduled = "state = \(StoredState.scheduled.rawValue)"
    let ordering = WaitReason.ordering.rawValue
    // A call without a stored reason waits only for its due time.
    let reason = "coalesce(waiting, \(WaitReason.startTime.rawValue))"
    later = try connection.prepare(
      "count what waits for its time",
      """
      SELECT target_id, \(reason) FROM calls WHERE namespace = ?2 AND kind IN (\(Conditions.kinds)) AND \(scheduled)
        AND waiting IS NOT \(ordering) LIMIT ?1
      """)
    laterOfOne = try connection.prepare(
      "count what waits for its time, of one target",
      """
      SELECT target_id, \(reason) FROM calls
      WHERE \(Conditions.anyKind) AND \(scheduled) AND target_id = ?2 AND \(Conditions.notInMemory) AND waiting IS NOT \(ordering) LIMIT ?1
      """)
    awaiting = try connection.prepare(
      "count what awaits its turn",
      """
      SELECT target_id, \(ordering) FROM turns INDEXED BY turns_by_namespace
      WHERE has_turn = 0 AND namespace = ?2 LIMIT ?1
      """)
    awaitingOfOne = try connection.prepare(
      "count what awaits its turn, of one target",
      "SELECT target_id, \(ordering) FROM turns WHERE has_turn = 0 AND target_id = ?2 LIMIT ?1")
    key = try connection.prepare("read a target's key", "SELECT key FROM targets WHERE id = ?1")
  }

  /// Counts them.
  ///
  /// - Parameters:
  ///   - targetID: The target; nil for all of the namespace.
  ///   - namespace: The namespace's number.
  func backlog(of targetID: Int64?, in namespace: Int64, limit: Int) throws(StoreError) -> StoredBacklog {
    struct Waiting: Hashable {
      var target: Int64
      var reason: Int64
    }
    var (counts, isComplete) = ([Waiting: Int](), true)
    for (all, ofOne) in [(later, laterOfOne), (awaiting, awaitingOfOne)] {
      let statement = targetID == nil ? all : ofOne
      // One more than the limit shows whether there are more.
      statement.bind(1, Int64(limit) + 1)
      statement.bind(2, targetID ?? namespace)
      let rows = try statement.rows { row throws(StoreError) in
        Waiting(target: row.integer(0), reason: row.integer(1))
      }
      if rows.count > limit { isComplete = false }
      for row in rows.prefix(limit) { counts[row, default: 0] += 1 }
    }
    var (backlog, keys) = (StoredBacklog(isComplete: isComplete), [Int64: TargetKey]())
    for (waiting, count) in counts.sorted(by: { ($0.key.target, $0.key.reason) < ($1.key.target, $1.key.reason) }) {
      guard let reason = UInt8(exactly: waiting.reason).flatMap(WaitReason.init(rawValue:)) else {
        backlog.isComplete = false
        continue
      }
      if keys[waiting.target] == nil {
        key.bind(1, waiting.target)
        keys[waiting.target] = try key.first { row throws(StoreError) in row.key(0) }
      }
      if let key = keys[waiting.target] { backlog.counts.append((key, reason, count)) }
    }
    return backlog
  }
}
