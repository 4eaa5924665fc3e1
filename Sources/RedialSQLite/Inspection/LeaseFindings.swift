internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Finds leases that do not keep instances apart, and calls that no instance owns.
struct LeaseFindings {
  private let strays: SQLiteStatement
  private let sessions: SQLiteStatement
  private let targets: SQLiteStatement
  private let expired: SQLiteStatement
  private let unowned: SQLiteStatement

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    strays = try connection.prepare(
      "find leases of nobody",
      "SELECT shard, owner FROM leases WHERE owner IS NOT NULL AND owner NOT IN (SELECT id FROM sessions)")
    sessions = try connection.prepare(
      "find sessions that exclude each other",
      "SELECT id FROM sessions WHERE expires_at IS NULL AND (SELECT count(*) FROM sessions) > 1")
    targets = try connection.prepare("read the targets' shards", "SELECT key, shard FROM targets")
    expired = try connection.prepare(
      "find leases that are over",
      "SELECT s.id, count(*) FROM sessions s JOIN leases l ON l.owner = s.id WHERE s.expires_at < ?1 GROUP BY s.id")
    unowned = try connection.prepare(
      "find calls that nobody holds",
      """
      SELECT c.id FROM calls c JOIN targets t ON t.id = c.target_id LEFT JOIN leases l ON l.shard = t.shard
      WHERE \(Conditions.anyKind) AND c.state = \(StateColumns.inMemory)
        AND l.owner IS NULL
      """)
  }

  /// The findings of the three checks; ended leases are a finding only if a time is given.
  func findings(at now: Timestamp?) throws(StoreError) -> [StoreFinding] {
    var sound = StoreFinding(check: .leases)
    for (shard, owner) in try strays.rows({ row throws(StoreError) in (row.integer(0), row.integer(1)) }) {
      sound.add(shard: shard, ofMissingSession: owner)
    }
    for id in try sessions.rows({ row throws(StoreError) in row.integer(0) }) {
      sound.add(exclusiveSession: id)
    }
    let placed = try targets.rows { row throws(StoreError) in (row.key(0, as: TargetKey.self), row.integerIfPresent(1))
    }
    for (key, shard) in placed { sound.checkShard(of: key, found: shard) }
    var unowned = StoreFinding(check: .unowned)
    for id in try self.unowned.rows({ row throws(StoreError) in CallID(rawValue: row.integer(0)) }) {
      unowned.add("\(id)")
    }
    guard let now else { return [sound, unowned] }
    var late = StoreFinding(check: .expiredLeases)
    expired.bind(1, Lateness(at: now).limit.microseconds)
    for (id, count) in try expired.rows({ row throws(StoreError) in (row.integer(0), row.integer(1)) }) {
      late.add(expiredSession: id, shards: count)
    }
    return [sound, late, unowned]
  }
}
