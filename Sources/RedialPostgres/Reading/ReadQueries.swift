internal import RedialModel

/// The statements of a reader about single calls, counts and late work.
enum ReadQueries {
  /// The call $2, of the namespace $3 or of any. A namespace without calls has no such id; the query takes as long.
  static let call = PostgresQuery(
    "read_call", "read a call",
    """
    SELECT \(CallColumns.list(bodies: true, largest: "$1::int8", past: "c.past")), \(TargetColumn.name)
    FROM calls c JOIN requests r ON \(Lookup.row("r.id", "c.id")) \(TargetColumn.join)
    WHERE c.id = $2::int8 AND ($3::text IS NULL OR c.namespace = (SELECT id FROM namespaces WHERE name = $3::text))
    """)

  /// The attempts of the call $1 that are rows. $2: 0 without responses, 1 with the last one's, 2 with all, 3 with all heads.
  static let attempts = PostgresQuery(
    "read_attempts", "read a call's attempts",
    """
    SELECT \(AttemptColumns.list(head: shown, body: "$2::int8 <> 3 AND (\(shown))"))
    FROM attempts a WHERE a.call_id = $1::int8 ORDER BY a.number
    """)

  private static let shown =
    "$2::int8 >= 2 OR ($2::int8 = 1 AND a.number = (SELECT max(number) FROM attempts WHERE call_id = $1::int8))"

  static let retries = PostgresQuery(
    "read_retries", "read a call's retries",
    "SELECT \(AttemptColumns.retries) FROM retries t WHERE t.call_id = $1::int8 ORDER BY t.at")

  /// The calls with these ids, without bodies, in any order, with what a list shows of the last attempt: its status, or
  /// else the code of its failure. Packed attempts come before those that are rows.
  static let listed = PostgresQuery(
    "read_listed", "list calls",
    """
    SELECT \(CallColumns.list(bodies: false, past: "CASE WHEN \(failed) THEN c.past END")), \(TargetColumn.name),
      c.last_status, CASE WHEN \(failed) THEN (
        SELECT a.failure_code FROM attempts a WHERE a.call_id = c.id ORDER BY a.number DESC LIMIT 1) END
    FROM calls c JOIN requests r ON \(Lookup.row("r.id", "c.id")) \(TargetColumn.join) WHERE c.id = ANY($1::int8[])
    """)

  private static let failed = "c.last_status IS NULL AND c.attempts > 0"

  /// The calls with these ids, without bodies, in any order.
  static let records = PostgresQuery(
    "read_records", "read calls",
    """
    SELECT \(CallColumns.list(bodies: false)), \(TargetColumn.name)
    FROM calls c JOIN requests r ON \(Lookup.row("r.id", "c.id")) \(TargetColumn.join) WHERE c.id = ANY($1::int8[])
    """)

  static let namespace = PostgresQuery(
    "read_namespace", "find a namespace", "SELECT id FROM namespaces WHERE name = $1::text")

  static let target = PostgresQuery("read_target", "find a target", "SELECT id FROM targets WHERE key = $1::text")

  // MARK: Waiting calls

  private static let reason = "coalesce(c.waiting, \(WaitReason.startTime.rawValue))"
  private static let later =
    "c.state = \(StoredState.scheduled.rawValue) AND c.waiting IS DISTINCT FROM \(WaitReason.ordering.rawValue)"

  /// What waits for its time, or for its turn: target and reason, at most $2 rows of each kind. $1 is the namespace.
  static let waiting = PostgresQuery(
    "waiting", "count waiting calls",
    waiting("c.namespace = $1::int8", "u.namespace = $1::int8"))

  /// The same of the target $1.
  static let waitingOfTarget = PostgresQuery(
    "waiting_of_target", "count waiting calls of a target",
    waiting("c.target_id = $1::int8", "u.target_id = $1::int8"))

  private static func waiting(_ call: String, _ turn: String) -> String {
    """
    SELECT t.key, w.reason, w.n, w.part FROM (
      SELECT target_id, reason, count(*) AS n, 0 AS part FROM (
        SELECT c.target_id, \(reason) AS reason FROM live c WHERE \(call) AND \(later) LIMIT $2::int8) c
        GROUP BY target_id, reason
      UNION ALL SELECT target_id, \(WaitReason.ordering.rawValue), count(*), 1 FROM (
        SELECT u.target_id FROM turns u WHERE \(turn) AND NOT u.has_turn LIMIT $2::int8) u GROUP BY target_id) w
      JOIN targets t ON t.id = w.target_id ORDER BY w.target_id, w.reason
    """
  }

  // MARK: Counts

  static let statistics = PostgresQuery(
    "statistics", "list statistics",
    """
    SELECT s.start, u.place, sum(u.n)::int8 FROM statistics s
      CROSS JOIN LATERAL unnest(s.counts) WITH ORDINALITY AS u (n, place)
    WHERE s.namespace = (SELECT id FROM namespaces WHERE name = $1::text) AND s.step = $2::int8 AND s.start >= $3::int8
    GROUP BY s.start, u.place ORDER BY s.start, u.place
    """)

  static let ping = PostgresQuery("read_ping", "reach the store", "SELECT max(id) FROM requests")

  static let ended = PostgresQuery(
    "find_ended", "look for calls that have ended", "SELECT id FROM done WHERE id = ANY($1::int8[])")

  static let setting = PostgresQuery(
    "find_setting", "read a setting", "SELECT value FROM settings WHERE name = $1::text")
}
