internal import RedialCore
internal import RedialModel
internal import RedialStore

/// Reads all calls with what belongs to them, some at a time, each time in a snapshot of its own. So a table of any size is
/// checked without a long snapshot; a call is always seen whole, because what belongs to it is in the same one.
struct CallInspection {
  /// About how many calls and attempts are read in one snapshot.
  private static let batch = 2000
  /// The maximum size of the bodies that are read and decoded, in bytes.
  private static let largest: Int64 = 16 * 1024
  /// In a shared store the clocks of several machines are compared.
  private static let overlapTolerance = Duration.seconds(1)

  private(set) var calls: CallFindings
  private(set) var remains = RemainFindings()
  /// Damaged idempotency keys and retries.
  private(set) var damagedRows = StoreFinding(check: .unreadable)
  private(set) var orphanedWebhooks = StoreFinding(check: .orphanedWebhooks)
  private let largest: Int64

  /// - Parameters:
  ///   - bodies: Whether bodies are read.
  ///   - namesRows: Whether the rows of damaged calls are named.
  init(bodies: Bool, namesRows: Bool = false) {
    calls = CallFindings(overlapTolerance: Self.overlapTolerance, namesRows: namesRows)
    largest = bodies ? Self.largest : 0
  }

  private static let next = PostgresQuery(
    "inspect_next", "read the calls",
    """
    SELECT id, attempts FROM ((SELECT id, attempts FROM live WHERE id > $1::int8 ORDER BY id LIMIT \(batch))
      UNION ALL (SELECT id, attempts FROM done WHERE id > $1::int8 ORDER BY id LIMIT \(batch))) c ORDER BY id LIMIT \(batch)
    """)
  private static let newest = PostgresQuery(
    "inspect_newest", "read the calls",
    "SELECT greatest((SELECT max(id) FROM live), (SELECT max(id) FROM done), (SELECT max(id) FROM requests))")
  private static let calls = PostgresQuery(
    "inspect_calls", "read the calls",
    """
    SELECT \(CallColumns.list(bodies: true, largest: "$3::int8", past: "c.past")) FROM calls c JOIN requests r ON \(Lookup.row("r.id", "c.id"))
    WHERE c.id > $1::int8 AND c.id <= $2::int8 ORDER BY c.id
    """)
  private static let attempts = PostgresQuery(
    "inspect_attempts", "read the attempts",
    """
    SELECT \(AttemptColumns.list(head: "true", body: "coalesce(length(a.response_body), 0) <= $3::int8")) FROM attempts a
    WHERE a.call_id > $1::int8 AND a.call_id <= $2::int8 ORDER BY a.call_id, a.number
    """)
  private static let turns = PostgresQuery(
    "inspect_turns", "read the turns",
    "SELECT call_id, key, has_turn FROM turns WHERE call_id > $1::int8 AND call_id <= $2::int8")
  private static let keys = PostgresQuery(
    "inspect_keys", "read the keys",
    """
    SELECT \(KeyRows.columns) FROM keys k WHERE k.call_id > $1::int8 AND k.call_id <= $2::int8 AND k.sum IS NOT NULL
    """)
  private static let retries = PostgresQuery(
    "inspect_retries", "read the retries",
    "SELECT \(AttemptColumns.retries) FROM retries t WHERE t.call_id > $1::int8 AND t.call_id <= $2::int8")
  /// A webhook's call ended when the webhook was made. It may be missing only if it ended before all that are there: those
  /// that ended first are removed first, except for some that a command has used. A store that was copied knows until when
  /// calls were missing in the one before.
  private static let horizon = PostgresQuery(
    "inspect_horizon", "find the first end",
    """
    SELECT greatest(first, (SELECT value::int8 FROM settings WHERE name = '\(Retention.goneBy)'))
    FROM (SELECT min(finished_at) AS first FROM done WHERE spared_until IS NULL) d WHERE first IS NOT NULL
    """)
  private static let present = PostgresQuery(
    "inspect_present", "find calls",
    "SELECT id FROM live WHERE id = ANY($1::int8[]) UNION ALL SELECT id FROM done WHERE id = ANY($1::int8[])")

  /// Reads them all, except for those that come meanwhile.
  mutating func read(_ snapshots: Snapshots) throws(PostgresFailure) {
    let end = try snapshots.rows([PostgresStatement(Self.newest)])[0].integer(0, 0)
    var last: Int64? = Int64.min
    while let after = last { last = try readBatch(after: after, end, snapshots) }
  }

  /// Reads some. Returns the last of them; nil if there are no more.
  private mutating func readBatch(
    after first: Int64, _ end: Int64, _ snapshots: Snapshots
  ) throws(PostgresFailure) -> Int64? {
    var last: Int64?
    let rows = try snapshots.take { run throws(PostgresFailure) in
      var next = PostgresStatement(Self.next)
      next.add(first)
      last = Self.last(of: try run([next])[0])
      if let id = last, id >= end { last = nil }
      // The last range has no end, so that it has everything that belongs to no call.
      let statements = [Self.calls, Self.attempts, Self.turns, CallFault.query, Self.keys, Self.retries].map { query in
        var statement = PostgresStatement(query)
        statement.add(first)
        statement.add(last ?? .max)
        if query.name == Self.calls.name || query.name == Self.attempts.name { statement.add(largest) }
        return statement
      }
      let rows = try run(statements)
      try checkWebhooks(rows[0], run)
      return rows
    }
    check(rows[0], attempts: rows[1], turns: rows[2])
    remains.add(rows[3])
    checkSums(keys: rows[4], retries: rows[5])
    return last
  }

  /// The last call of a batch; nil if it has all that are left.
  private static func last(of rows: PostgresRows) -> Int64? {
    var size = 0
    for row in 0..<rows.count {
      size += 1 + Int(rows.integer(row, 1))
      if size >= batch { return rows.integer(row, 0) }
    }
    return nil
  }

  private mutating func check(_ rows: PostgresRows, attempts: PostgresRows, turns: PostgresRows) {
    var histories: [CallID: Result<[AttemptRecord], DamagedCall>] = [:]
    for row in 0..<attempts.count {
      let id = CallID(rawValue: attempts.integer(row, 0))
      histories[id, default: .success([])].add(AttemptColumns.read(attempts, row))
    }
    var order: [CallID: CallTurn] = [:]
    for row in 0..<turns.count {
      order[CallID(rawValue: turns.integer(row, 0))] = CallTurn(
        key: turns.text(row, 1), hasTurn: turns.integer(row, 2) == 1)
    }
    for row in 0..<rows.count {
      let id = CallID(rawValue: rows.integer(row, 0))
      calls.check(id, CallColumns.read(rows, row), CallColumns.attempts(rows, row, then: histories[id] ?? .success([])))
      { order[id] }
    }
  }

  private mutating func checkSums(keys: PostgresRows, retries: PostgresRows) {
    for row in 0..<keys.count {
      let key = KeyRows.record(keys, row)
      if !key.checksum.fits(keys.integerIfPresent(row, 5)) { damagedRows.add(key.damage.message) }
    }
    for row in 0..<retries.count {
      if case .failure(let damage) = AttemptColumns.readRetry(retries, row).retry {
        damagedRows.add(damage.error.message)
      }
    }
  }

  /// Looks for the calls that waiting webhooks are about.
  private mutating func checkWebhooks(
    _ rows: PostgresRows, _ run: ([PostgresStatement]) throws(PostgresFailure) -> [PostgresRows]
  ) throws(PostgresFailure) {
    var subjects: [(webhook: CallRecord, call: CallID)] = []
    for row in 0..<rows.count where rows.code(row, 1, as: CallKind.self) == .webhook {
      guard case .success(let webhook) = CallColumns.read(rows, row), !webhook.progress.state.isFinal,
        let call = WebhookSubject.id(in: webhook.body)
      else { continue }
      subjects.append((webhook, call))
    }
    guard !subjects.isEmpty else { return }
    var present = PostgresStatement(Self.present)
    present.add(subjects.map(\.call.rawValue))
    let found = try run([PostgresStatement(Self.horizon), present])
    guard found[0].count > 0 else { return }
    let horizon = found[0].integer(0, 0)
    let ids = Set(found[1].map { found[1].integer($0, 0) })
    for (webhook, call) in subjects where webhook.createdAt.microseconds > horizon && !ids.contains(call.rawValue) {
      orphanedWebhooks.add(webhook: webhook.id, aboutMissing: call)
    }
  }
}
