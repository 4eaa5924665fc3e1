internal import RedialModel

/// The statements of claims. A claim notes which calls it took, so that its answer can be given again after a lost
/// connection.
enum ClaimQueries {
  private static let own = "(SELECT shard FROM leases WHERE owner = $1::int8)"
  private static let columns = CallColumns.list(bodies: true, largest: "$3::int8", past: past)
  private static let past = "CASE WHEN c.callback THEN c.past END"
  private static let waits = "state <> \(StoredPlace.inMemory)"
  private static let held = "state = \(StoredPlace.inMemory), waiting = nullif(l.waiting, \(StoredPlace.inFlight))"
  private static let noted = """
    noted AS (INSERT INTO claims (session, seq, ids, callbacks)
      SELECT $1::int8, $2::int8, coalesce(array_agg(id ORDER BY place), '{}'), array_agg(id) FILTER (WHERE callback) FROM held)
    """

  /// Holds due calls: an equal number of each namespace as far as it has so many, those that are due first. $4 is the
  /// time, $5 the limit, $6 the time from which on it looks, see ``ClaimFloor``.
  ///
  /// Of each shard and namespace it looks at a quarter of the limit, so that a claim costs no more than sixteen index
  /// entries for each call; a claim may return fewer calls than are due, and then says that the next is due already.
  static let due = PostgresQuery(
    "claim_due", "claim due calls",
    """
    WITH own AS \(own),
      candidates AS (SELECT n.id AS namespace, c.id, c.due FROM namespaces n CROSS JOIN own CROSS JOIN LATERAL (
        SELECT m.id, m.due FROM live m WHERE m.shard = own.shard AND m.namespace = n.id AND m.\(waits)
          AND m.due <= $4::int8 AND m.due >= $6::int8 ORDER BY m.due LIMIT greatest(64, $5::int8 / 4)) c),
      ranked AS (SELECT id, due, row_number() OVER (PARTITION BY namespace ORDER BY due, id) AS rank,
        min(due) OVER (PARTITION BY namespace) AS head, namespace FROM candidates),
      picked AS (SELECT id, row_number() OVER (ORDER BY head, namespace, due, id) AS place
        FROM (SELECT * FROM ranked ORDER BY rank, head, namespace LIMIT $5::int8) p),
      held AS (UPDATE live l SET \(held) FROM picked WHERE \(Lookup.row("l.id", "picked.id")) RETURNING l.*, picked.place),
      \(noted)
    SELECT \(columns) FROM held c JOIN requests r ON \(Lookup.row("r.id", "c.id")) ORDER BY c.place
    """)

  /// Holds calls of the queue of the target $4, up to $5.
  static let queued = PostgresQuery(
    "claim_queued", "claim queued calls",
    """
    WITH own AS \(own),
      picked AS (SELECT q.id, row_number() OVER (ORDER BY q.priority DESC, q.id) AS place FROM (
        SELECT m.id, m.priority FROM live m
        WHERE m.target_id = (SELECT id FROM targets WHERE key = $4::text AND shard IN (SELECT shard FROM own))
          AND m.state = \(StoredState.queued.rawValue) ORDER BY m.priority DESC, m.id LIMIT $5::int8) q),
      held AS (UPDATE live l SET \(held) FROM picked WHERE \(Lookup.row("l.id", "picked.id")) RETURNING l.*, picked.place),
      \(noted)
    SELECT \(columns) FROM held c JOIN requests r ON \(Lookup.row("r.id", "c.id")) ORDER BY c.place
    """)

  /// Holds those of the calls $3 that belong to the namespaces $4, have not ended and are in the session's shards. One that
  /// has ended is spared by retention for a minute, whoever does that: a command may change it.
  static let named = PostgresQuery(
    "claim_named", "claim calls",
    """
    WITH named AS \(named("$3", "$4")),
      held AS (UPDATE live l SET \(held) FROM named u WHERE \(Lookup.row("l.id", "u.id")) AND l.namespace IS NOT DISTINCT FROM u.namespace
        AND l.shard IN \(own) RETURNING l.id, l.callback, u.place),
      spared AS (UPDATE done d SET spared_until = \(LeaseQueries.now("NULL")) + 60000000 FROM named u
        WHERE \(Lookup.row("d.id", "u.id")) AND d.namespace IS NOT DISTINCT FROM u.namespace),
      \(noted)
    SELECT id FROM held
    """)

  /// The calls $2 of the namespaces $3, wherever they are, and the place of each among these, from 1.
  static let find = PostgresQuery(
    "claim_find", "read calls",
    """
    SELECT \(CallColumns.list(bodies: true, largest: "$1::int8", past: past)), u.place FROM \(named("$2", "$3")) u
      JOIN calls c ON \(Lookup.row("c.id", "u.id")) AND c.namespace IS NOT DISTINCT FROM u.namespace
      JOIN requests r ON \(Lookup.row("r.id", "c.id"))
    """)

  /// The column with that place.
  static let place = CallColumns.past + 1

  /// Each call once, with the number of its namespace.
  private static func named(_ ids: String, _ names: String) -> String {
    """
    (SELECT u.id, n.id AS namespace, min(u.place) AS place
      FROM unnest(\(ids)::int8[], \(names)::text[]) WITH ORDINALITY AS u (id, name, place)
      JOIN namespaces n ON \(Lookup.row("n.name", "u.name")) GROUP BY u.id, n.id ORDER BY u.id)
    """
  }

  /// Which of the calls $1 are in the store, and of each whether it has begun: 1 if it was started or has ended, else 0.
  static let stored = PostgresQuery(
    "claim_stored", "look for calls",
    """
    SELECT r.id, CASE WHEN EXISTS (SELECT 1 FROM live l WHERE l.id = r.id AND l.attempts = 0) THEN 0 ELSE 1 END::int8
    FROM requests r WHERE r.id = ANY($1::int8[])
    """)

  /// The calls that the claim $2 took, again.
  static let again = PostgresQuery(
    "claim_again", "read claimed calls again",
    """
    SELECT \(columns) FROM claims k CROSS JOIN LATERAL unnest(k.ids) WITH ORDINALITY AS u (id, place)
      JOIN live c ON \(Lookup.row("c.id", "u.id")) JOIN requests r ON \(Lookup.row("r.id", "c.id"))
    WHERE k.session = $1::int8 AND k.seq = $2::int8 ORDER BY u.place
    """)

  /// The attempts of the calls that the claim $2 took, of those whose webhooks contain them.
  static let attempts = PostgresQuery(
    "claim_attempts", "read the attempts of claimed calls",
    """
    SELECT \(AttemptColumns.list(head: "false", body: "false")) FROM claims k CROSS JOIN LATERAL unnest(k.callbacks) AS u (id)
      JOIN attempts a ON \(Lookup.row("a.call_id", "u.id"))
    WHERE k.session = $1::int8 AND k.seq = $2::int8 ORDER BY a.call_id, a.number
    """)

  /// Their retries.
  static let retries = PostgresQuery(
    "claim_retries", "read the retries of claimed calls",
    """
    SELECT \(AttemptColumns.retries) FROM claims k CROSS JOIN LATERAL unnest(k.callbacks) AS u (id)
      JOIN retries t ON \(Lookup.row("t.call_id", "u.id"))
    WHERE k.session = $1::int8 AND k.seq = $2::int8 ORDER BY t.call_id, t.at
    """)

  /// When the first call in no engine's memory is due, in the session's shards, from $2 on.
  static let next = PostgresQuery(
    "claim_next", "find the next due call",
    """
    SELECT min(c.due) FROM namespaces n CROSS JOIN \(own) own CROSS JOIN LATERAL (
      SELECT m.due FROM live m WHERE m.shard = own.shard AND m.namespace = n.id AND m.\(waits) AND m.due >= $2::int8
      ORDER BY m.due LIMIT 1) c
    """)

  /// The calls with an attempt in flight in the shards $2. The sum keeps the server from reading all calls in this order.
  static let running = PostgresQuery(
    "running", "find running calls",
    """
    SELECT \(CallColumns.list(bodies: true, largest: "$1::int8", past: past)) FROM live c JOIN requests r ON \(Lookup.row("r.id", "c.id"))
    WHERE c.shard = ANY($2::int8[]) AND c.\(StoredPlace.condition(.running)) ORDER BY c.id + 0
    """)

  static let runningAttempts = PostgresQuery(
    "running_attempts", "read the attempts of running calls",
    """
    SELECT \(AttemptColumns.list(head: "false", body: "false")) FROM live c JOIN attempts a ON \(Lookup.row("a.call_id", "c.id"))
    WHERE c.shard = ANY($1::int8[]) AND c.\(StoredPlace.condition(.running)) AND c.callback ORDER BY a.call_id, a.number
    """)

  static let runningRetries = PostgresQuery(
    "running_retries", "read the retries of running calls",
    """
    SELECT \(AttemptColumns.retries) FROM live c JOIN retries t ON \(Lookup.row("t.call_id", "c.id"))
    WHERE c.shard = ANY($1::int8[]) AND c.\(StoredPlace.condition(.running)) AND c.callback ORDER BY t.call_id, t.at
    """)

  /// The calls under keys that have not expired.
  static let keys = PostgresQuery(
    "find_keys", "find keys",
    """
    SELECT u.place, k.call_id, k.fingerprint, k.created_at, k.expires_at, k.sum
    FROM unnest($1::text[]) WITH ORDINALITY AS u (key, place) JOIN keys k ON \(Lookup.row("k.key", "u.key"))
    WHERE k.expires_at > $2::int8
    """)

  /// Ends calls that cannot be read, so that no claim finds them again.
  static let setAside = PostgresQuery(
    "set_aside", "set damaged calls aside",
    """
    WITH gone AS (DELETE FROM live l WHERE l.id = ANY($1::int8[])
        AND EXISTS (SELECT 1 FROM sessions WHERE id = $2::int8 FOR SHARE) RETURNING *),
      d AS (INSERT INTO done (id, shard, namespace, kind, target_id, created_at, priority, callback, state, at, attempts,
          interruptions, attempts_before, round_started_at, previous_wait, total_wait, finished_at, last_outcome, last_status, past)
        SELECT id, shard, namespace, kind, target_id, created_at, priority, callback, \(StoredState.failed.rawValue), at,
          attempts, interruptions, attempts_before, round_started_at, previous_wait, total_wait,
          coalesce($3::int8, round_started_at), last_outcome, last_status, past FROM gone),
      c AS (\(UnfinishedCounts.add("gone", sign: "-"))),
      f AS (INSERT INTO finished (kind, state, n)
        SELECT kind, \(StoredState.failed.rawValue), count(*) FROM gone GROUP BY kind)
    SELECT g.id, n.name FROM gone g JOIN namespaces n ON n.id = g.namespace
    """)
}
