internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Finds the data in the shards of one session, in a store that several instances share.
///
/// These queries use the same indexes as ``ClaimQueries`` and leave out the rows of other sessions; a store that is not
/// shared never uses them.
struct ShardQueries {
  /// The calls that are due in the session's shards.
  let due: DueCalls
  private let running: SQLiteStatement
  private let queueCounts: SQLiteStatement
  private let release: SQLiteStatement

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    let owner = "(SELECT owner FROM leases l JOIN targets t ON t.shard = l.shard WHERE t.id = calls.target_id)"
    due = try DueCalls(on: connection, condition: "\(owner) = ?4")
    let shard = "(SELECT shard FROM targets t WHERE t.id = calls.target_id)"
    running = try connection.prepare(
      "find running calls of a shard",
      "SELECT id FROM calls WHERE \(Conditions.anyKind) AND \(StateColumns.condition(.running)) AND \(shard) = ?1")
    queueCounts = try connection.prepare(
      "count queued calls of a shard",
      """
      SELECT t.key, (SELECT count(*) FROM calls WHERE \(Conditions.queued) AND target_id = t.id) AS queued
      FROM targets t WHERE t.shard = ?1 AND queued > 0
      """)
    release = try connection.prepare(
      "give held calls of a shard back",
      CallSum.update(
        ["state": CallChanges.stateOfReleased],
        where: "\(Conditions.anyKind) AND \(StateColumns.condition(.held)) AND \(shard) = ?1"))
  }

  /// Calls with an attempt in flight.
  func running(in shards: ShardSet) throws(StoreError) -> [CallID] {
    var all: [CallID] = []
    for shard in shards.shards {
      running.bind(1, Int64(shard))
      all += try running.rows(Self.id)
    }
    return all.sorted()
  }

  /// How many calls are in each target's queue.
  func queueLengths(in shards: ShardSet) throws(StoreError) -> [(target: TargetKey, count: Int)] {
    var all: [(target: TargetKey, count: Int)] = []
    for shard in shards.shards {
      queueCounts.bind(1, Int64(shard))
      all += try queueCounts.rows { row throws(StoreError) in (row.key(0), Int(row.integer(1))) }
    }
    return all
  }

  /// Puts every held call of these shards back into the state from which it was claimed.
  func releaseHeld(in shards: ShardSet) throws(StoreError) {
    for shard in shards.shards {
      release.bind(1, Int64(shard))
      try release.run()
    }
  }

  private static func id(_ row: SQLiteStatement) throws(StoreError) -> CallID {
    CallID(rawValue: row.integer(0))
  }
}
