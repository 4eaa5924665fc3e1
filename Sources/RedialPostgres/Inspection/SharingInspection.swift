internal import RedialCore
internal import RedialModel
internal import RedialStore

/// Finds leases that do not keep instances apart, leases of instances that are gone, and gaps in the ledger.
struct SharingInspection {
  private enum Fault: String {
    case lease, shard, beat, session, exclusive, control, gap, unnoted
  }

  private(set) var leases = StoreFinding(check: .leases)
  private(set) var ledger = StoreFinding(check: .ledger)
  private(set) var expired = StoreFinding(check: .expiredLeases)

  private static let faults = PostgresQuery(
    "inspect_sharing", "check the leases",
    """
    SELECT 'lease', shard::int8, owner FROM leases WHERE owner IS NOT NULL AND owner NOT IN (SELECT id FROM sessions)
    UNION ALL SELECT 'shard', s::int8, 0 FROM generate_series(0, \(ShardSet.count - 1)) s
      WHERE s NOT IN (SELECT shard FROM leases)
    UNION ALL SELECT 'beat', id, 0 FROM sessions WHERE id NOT IN (SELECT session FROM beats)
    UNION ALL SELECT 'session', session, 0 FROM beats WHERE session NOT IN (SELECT id FROM sessions)
    UNION ALL SELECT 'exclusive', session, 0 FROM beats WHERE expires_at IS NULL AND (SELECT count(*) FROM sessions) > 1
    UNION ALL SELECT 'control', (SELECT count(*) FROM control), 0 WHERE (SELECT count(*) FROM control) <> 1
    UNION ALL SELECT 'unnoted', id, 0 FROM sessions WHERE id NOT IN (SELECT session FROM commits)
    UNION ALL SELECT 'gap', session, seq FROM (
      SELECT session, seq, lead(seq) OVER w AS next, max(seq) OVER (PARTITION BY session) AS last FROM commits
      WHERE session IN (SELECT id FROM sessions) WINDOW w AS (PARTITION BY session ORDER BY seq)) c
      WHERE next <> seq + 1 AND next > last - 1000
    """)
  private static let ended = PostgresQuery(
    "inspect_expired", "find leases that are over",
    """
    SELECT b.session, (SELECT count(*) FROM leases l WHERE l.owner = b.session) FROM beats b WHERE b.expires_at < $1::int8
    """)

  /// Checks them, as of one moment.
  ///
  /// - Parameter lateness: What is late, if an instance is live: then leases that ended earlier are a finding.
  mutating func read(_ snapshots: Snapshots, _ lateness: Lateness?) throws(PostgresFailure) {
    var ended = PostgresStatement(Self.ended)
    ended.add(lateness?.limit.microseconds)
    let found = try snapshots.rows([PostgresStatement(Self.faults), ended])
    for row in 0..<found[0].count {
      guard let fault = Fault(rawValue: found[0].text(row, 0)) else { continue }
      add(fault, found[0].integer(row, 1), found[0].integer(row, 2))
    }
    for row in 0..<found[1].count {
      expired.add(expiredSession: found[1].integer(row, 0), shards: found[1].integer(row, 1))
    }
  }

  private mutating func add(_ fault: Fault, _ id: Int64, _ number: Int64) {
    switch fault {
    case .lease: leases.add(shard: id, ofMissingSession: number)
    case .shard: leases.add("shard \(id) is not in the table of leases")
    case .beat: leases.add("session \(id) has no time at which its lease ends")
    case .session: leases.add("session \(id) has a time at which its lease ends, and is not there")
    case .exclusive: leases.add(exclusiveSession: id)
    case .control: leases.add("the table control has \(id) rows, so that nobody can divide the shards, or two can")
    case .unnoted: ledger.add("session \(id) has no work in the ledger")
    case .gap: ledger.add("session \(id) lacks the work after \(number)")
    }
  }

  // MARK: Targets

  private static let targets = PostgresQuery(
    "inspect_targets", "read the targets' shards",
    "SELECT id, key, shard::int8 FROM targets WHERE id > $1::int8 ORDER BY id LIMIT 5000")

  /// Checks the shards of all targets.
  mutating func readTargets(_ snapshots: Snapshots) throws(PostgresFailure) {
    var last = Int64.min
    while true {
      var select = PostgresStatement(Self.targets)
      select.add(last)
      let rows = try snapshots.rows([select])[0]
      guard rows.count > 0 else { return }
      for row in 0..<rows.count { leases.checkShard(of: rows.key(row, 1), found: rows.integer(row, 2)) }
      last = rows.integer(rows.count - 1, 0)
    }
  }

  // MARK: Calls in memory

  private static let ownerless = PostgresQuery(
    "inspect_unowned", "find calls in memory without an owner",
    """
    SELECT c.id FROM live c LEFT JOIN leases l ON l.shard = c.shard
    WHERE c.state = \(StoredPlace.inMemory) AND l.owner IS NULL ORDER BY c.id LIMIT \(Lateness.most)
    """)

  /// The calls that are in an instance's memory according to their rows, and whose shards have no owner.
  static func unowned(_ snapshots: Snapshots) throws(PostgresFailure) -> [CallID] {
    let rows = try snapshots.rows([PostgresStatement(ownerless)])[0]
    return rows.map { CallID(rawValue: rows.integer($0, 0)) }
  }

  // MARK: Turns

  private static let free = PostgresQuery(
    "inspect_free_turns", "check the turns",
    """
    SELECT min(call_id), count(*) FROM turns GROUP BY target_id, key HAVING NOT bool_or(has_turn OR offered)
    ORDER BY min(call_id) LIMIT \(Lateness.most)
    """)

  /// Adds the keys whose turn no call has, and that no owner is going to give.
  static func addFreeTurns(to finding: inout StoreFinding, _ snapshots: Snapshots) throws(PostgresFailure) {
    let rows = try snapshots.rows([PostgresStatement(free)])[0]
    for row in 0..<rows.count {
      finding.add(waitingForNobody: CallID(rawValue: rows.integer(row, 0)), count: rows.integer(row, 1))
    }
  }
}
