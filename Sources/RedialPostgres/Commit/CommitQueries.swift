internal import RedialModel
internal import RedialStore

/// The statements of a commit. Each changes all rows of its kind at once, given as arrays; each array is a column.
enum CommitQueries {
  /// Refuses a commit of a session that has ended, or on a connection that another has replaced, or behind one that was
  /// not made; and notes the commit in the ledger. It locks the session's row, so that nobody can end the session before
  /// the commit is made: a look-up without a lock would see a session that is about to end.
  static let fence = PostgresQuery(
    "fence", "commit", check: .fence,
    """
    WITH f AS (SELECT 1 FROM sessions WHERE id = $1::int8 AND conn = $2::int8 FOR SHARE),
      i AS (INSERT INTO commits (session, seq) SELECT $1::int8, $3::int8 FROM f
        WHERE EXISTS (SELECT 1 FROM commits WHERE session = $1::int8 AND seq = $3::int8 - 1) RETURNING 1)
    SELECT 1 / count(*) FROM i
    """)

  /// Removes what nobody can ask about any more from the ledger.
  static let trim = PostgresQuery(
    "trim", "shorten the ledger",
    """
    WITH c AS (DELETE FROM claims WHERE session = $1::int8 AND seq < $2::int8 - 1000 AND seq > $2::int8 - 5000)
    DELETE FROM commits WHERE session = $1::int8 AND seq < $2::int8 - 1000 AND seq > $2::int8 - 5000
    """)

  // MARK: Calls

  /// The columns of a call.
  ///
  /// - Parameter due: The column of the due time with a comma, or none: only unfinished calls have it.
  private static func columns(_ due: String) -> String {
    """
    id, shard, namespace, kind, target_id, created_at, priority, callback, state, \(due)at, waiting, attempts, \
    interruptions, attempts_before, round_started_at, previous_wait, total_wait, finished_at, failure, last_outcome, \
    last_status
    """
  }

  private static let new = "unnest($1::\(PostgresRowType.newCall.name)[]) AS u"

  private static func values(_ due: String) -> String {
    """
    id, shard, namespace, kind, target_id, created_at, priority, callback = 1, state, \(due)at, waiting, attempts,
      interruptions, attempts_before, round_started_at, previous_wait, total_wait, finished_at, failure, outcome, status
    """
  }

  static let insertRequests = PostgresQuery(
    "insert_requests", "store calls", duplicate: .call,
    """
    INSERT INTO requests (id, spec, body, body_size, sums)
    SELECT * FROM unnest($1::int8[], $2::bytea[], $3::bytea[], $4::int8[], $5::int8[])
    """)

  static let insertLive = PostgresQuery(
    "insert_live", "store calls", duplicate: .call,
    """
    WITH u AS (SELECT * FROM \(new)),
      l AS (INSERT INTO live (\(columns("due, "))) SELECT \(values("at, ")) FROM u)
    \(UnfinishedCounts.add("u"))
    """)

  static let insertDone = PostgresQuery(
    "insert_done", "store calls that have ended",
    """
    WITH u AS (SELECT * FROM \(new)),
      d AS (INSERT INTO done (\(columns(""))) SELECT \(values("")) FROM u)
    INSERT INTO finished (kind, state, n) SELECT kind, state, count(*) FROM u GROUP BY kind, state
    """)

  /// For calls of other owners: one of them may have the call already, and its changes stay.
  static let insertForeignRequests = PostgresQuery(
    "insert_foreign_requests", "store calls for other instances",
    """
    INSERT INTO requests (id, spec, body, body_size, sums)
    SELECT * FROM unnest($1::int8[], $2::bytea[], $3::bytea[], $4::int8[], $5::int8[]) ON CONFLICT (id) DO NOTHING
    """)

  static let insertForeign = PostgresQuery(
    "insert_foreign", "store calls for other instances",
    """
    WITH u AS (SELECT * FROM \(new) WHERE \(Lookup.none("live", "id", "u.id"))
        AND \(Lookup.none("done", "id", "u.id"))),
      l AS (INSERT INTO live (\(columns("due, "))) SELECT \(values("at, ")) FROM u WHERE state < \(StoredPlace.firstEnded)),
      d AS (INSERT INTO done (\(columns(""))) SELECT \(values("")) FROM u
        WHERE state >= \(StoredPlace.firstEnded)),
      f AS (INSERT INTO finished (kind, state, n) SELECT kind, state, count(*) FROM u
        WHERE state >= \(StoredPlace.firstEnded) GROUP BY kind, state)
    \(UnfinishedCounts.add("u WHERE state < \(StoredPlace.firstEnded)"))
    """)

  /// The progress of calls.
  private static let changed = "unnest($1::\(PostgresRowType.progress.name)[]) AS u"

  /// Changes calls that do not end. In memory the due time of a claim stays, so that no index is written.
  static let update = PostgresQuery(
    "update", "change calls", check: .standing,
    """
    WITH u AS (SELECT * FROM \(changed)),
      n AS (UPDATE live l SET state = u.state, at = u.at, waiting = u.waiting, attempts = u.attempts,
        due = CASE WHEN u.state = \(StoredPlace.inMemory) THEN l.due ELSE u.at END, interruptions = u.interruptions,
        attempts_before = u.attempts_before, round_started_at = u.round_started_at, previous_wait = u.previous_wait,
        total_wait = u.total_wait, finished_at = u.finished_at, failure = u.failure,
        last_status = CASE WHEN u.outcome IS NULL THEN l.last_status ELSE u.status END,
        last_outcome = coalesce(u.outcome, l.last_outcome)
        FROM u WHERE \(Lookup.row("l.id", "u.id")) RETURNING 1)
    SELECT 1 / (CASE WHEN count(*) = $2::int8 THEN 1 ELSE 0 END) FROM n
    """)

  /// Ends calls: they leave `live` for `done`.
  static let end = PostgresQuery(
    "end", "end calls", check: .standing,
    """
    WITH u AS (SELECT * FROM \(changed)),
      gone AS (DELETE FROM live l USING u WHERE \(Lookup.row("l.id", "u.id"))
        RETURNING l.id, l.shard, l.namespace, l.kind, l.target_id, l.created_at, l.priority, l.callback, u.state, u.at,
          u.waiting, u.attempts, u.interruptions, u.attempts_before, u.round_started_at, u.previous_wait, u.total_wait,
          u.finished_at, u.failure, coalesce(u.outcome, l.last_outcome) AS last_outcome,
          CASE WHEN u.outcome IS NULL THEN l.last_status ELSE u.status END AS last_status, coalesce(u.past, l.past) AS past),
      d AS (INSERT INTO done (\(columns("")), past) SELECT \(columns("")), past FROM gone),
      c AS (\(UnfinishedCounts.add("gone", sign: "-"))),
      f AS (INSERT INTO finished (kind, state, n) SELECT kind, state, count(*) FROM gone GROUP BY kind, state)
    SELECT 1 / (CASE WHEN count(*) = $2::int8 THEN 1 ELSE 0 END) FROM gone
    """)

  /// Brings calls that have ended back, before they are changed.
  static let revive = PostgresQuery(
    "revive", "bring back calls that have ended",
    """
    WITH r AS (DELETE FROM done WHERE id = ANY($1::int8[]) RETURNING *),
      l AS (INSERT INTO live (\(columns("due, ")), past) SELECT \(columns("at, ")), past FROM r),
      f AS (INSERT INTO finished (kind, state, n) SELECT kind, state, -count(*) FROM r GROUP BY kind, state)
    \(UnfinishedCounts.add("r"))
    """)

  // MARK: Attempts

  static let insertAttempts = PostgresQuery(
    "insert_attempts", "store attempts",
    """
    INSERT INTO attempts (call_id, number, started_at, duration, outcome, status, truncated, response_body_size,
      failure_code, failure_message, decision, response_head, response_body, figures, sum, response_sum)
    SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[],
      $9::text[], $10::text[], $11::bytea[], $12::bytea[], $13::bytea[], $14::bytea[], $15::int8[], $16::int8[])
    """)

  static let forgetBodies = PostgresQuery(
    "forget_bodies", "forget response bodies",
    """
    UPDATE attempts a SET response_body = NULL, response_body_size = NULL, truncated = a.truncated | 1,
      response_sum = \(AttemptSums.withoutBody("a.response_sum"))
    FROM unnest($1::int8[], $2::int8[]) AS u (call_id, number)
    WHERE \(Lookup.row("a.call_id", "u.call_id")) AND a.number = u.number AND length(a.response_body) > 0
    """)

  /// Forgets the bodies of packed attempts.
  static let forgetPackedBodies = PostgresQuery(
    "forget_packed_bodies", "forget response bodies", change(ofPast: PackedColumn.withoutBodies))

  private static func change(ofPast value: String) -> String {
    """
    WITH l AS (UPDATE live SET past = \(value) WHERE id = ANY($1::int8[]) AND past IS NOT NULL)
    UPDATE done SET past = \(value) WHERE id = ANY($1::int8[]) AND past IS NOT NULL
    """
  }

  // MARK: What belongs to calls

  static let insertLabels = PostgresQuery(
    "insert_labels", "store labels",
    """
    INSERT INTO labels (name, value, call_id) SELECT * FROM unnest($1::text[], $2::text[], $3::int8[])
    ON CONFLICT DO NOTHING
    """)

  /// A key of another call that has not expired is not replaced, and then there are fewer rows than keys.
  static let insertKeys = PostgresQuery(
    "insert_keys", "store idempotency keys", check: .keys,
    """
    WITH n AS (INSERT INTO keys AS k (key, call_id, fingerprint, created_at, expires_at, sum)
      SELECT * FROM unnest($1::text[], $2::int8[], $3::bytea[], $4::int8[], $5::int8[], $7::int8[])
        AS u (key, c, f, created, e, s)
      ORDER BY key COLLATE "C"
      ON CONFLICT (key) DO UPDATE SET call_id = excluded.call_id, fingerprint = excluded.fingerprint,
        created_at = excluded.created_at, expires_at = excluded.expires_at, sum = excluded.sum
      WHERE k.expires_at <= excluded.created_at OR k.call_id = excluded.call_id RETURNING 1)
    SELECT 1 / (CASE WHEN count(*) = $6::int8 THEN 1 ELSE 0 END) FROM n
    """)

  static let sweepKeys = PostgresQuery(
    "sweep_keys", "remove expired keys",
    """
    DELETE FROM keys WHERE key IN (SELECT key FROM keys WHERE expires_at <= $1::int8 ORDER BY expires_at LIMIT $2::int8
      FOR UPDATE SKIP LOCKED)
    """)

  static let insertRetries = PostgresQuery(
    "insert_retries", "store retries",
    """
    INSERT INTO retries (call_id, at, after_attempt, actor, reason, sum)
    SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::text[], $5::text[], $6::int8[])
    ON CONFLICT (call_id, at) DO UPDATE SET after_attempt = excluded.after_attempt, actor = excluded.actor,
      reason = excluded.reason, sum = excluded.sum
    """)

  static let removeOldRetries = PostgresQuery(
    "remove_old_retries", "remove old retries",
    """
    DELETE FROM retries r USING unnest($1::int8[]) AS u (call_id) WHERE \(Lookup.row("r.call_id", "u.call_id")) AND r.at <= (
      SELECT at FROM retries WHERE call_id = u.call_id ORDER BY at DESC LIMIT 1 OFFSET \(ManualRetry.mostKept))
    """)

  static let eraseRequests = PostgresQuery(
    "erase_requests", "erase payloads",
    """
    UPDATE requests r SET spec = u.spec, body = NULL, body_size = NULL, sums = u.sums
    FROM unnest($1::int8[], $2::bytea[], $3::int8[]) AS u (id, spec, sums) WHERE \(Lookup.row("r.id", "u.id"))
    """)

  static let eraseResponses = PostgresQuery(
    "erase_responses", "erase payloads",
    """
    UPDATE attempts SET truncated = NULL, response_head = NULL, response_body = NULL, response_body_size = NULL,
      response_sum = NULL
    WHERE call_id = ANY($1::int8[])
    """)

  /// Erases the responses of packed attempts.
  static let erasePackedResponses = PostgresQuery(
    "erase_packed_responses", "erase payloads", change(ofPast: PackedColumn.withoutResponses))

  static let removeLabels = PostgresQuery(
    "remove_labels", "remove labels", "DELETE FROM labels WHERE call_id = ANY($1::int8[])")

  // MARK: Discards

  /// Removes calls, except for those that another instance has, or had, in its memory.
  static let discard = PostgresQuery(
    "discard", "remove calls",
    """
    WITH own AS (SELECT shard FROM leases WHERE owner = $2::int8),
      l AS (DELETE FROM live WHERE id = ANY($1::int8[])
        AND (state <> \(StoredPlace.inMemory) OR shard IN (SELECT shard FROM own)) RETURNING shard, namespace),
      d AS (DELETE FROM done WHERE id = ANY($1::int8[]) AND shard IN (SELECT shard FROM own) RETURNING kind, state),
      f AS (INSERT INTO finished (kind, state, n) SELECT kind, state, -count(*) FROM d GROUP BY kind, state)
    \(UnfinishedCounts.add("l", sign: "-"))
    """)

  /// The tables with what belongs to calls, and their columns with a call's id.
  static let remains: [(table: String, column: String)] = [
    ("requests", "id"), ("attempts", "call_id"), ("labels", "call_id"), ("keys", "call_id"),
    ("retries", "call_id"),
  ]

  /// Removes what calls have left that are gone.
  static let removeRemains = remains.map { table, column in
    PostgresQuery(
      "remove_\(table)", "remove calls",
      """
      DELETE FROM \(table) t WHERE t.\(column) = ANY($1::int8[])
        AND \(Lookup.none("live", "id", "t.\(column)")) AND \(Lookup.none("done", "id", "t.\(column)"))
      """)
  }

  // MARK: Targets

  static let setRecords = PostgresQuery(
    "set_records", "store the records of targets",
    """
    UPDATE targets t SET record = u.record FROM unnest($1::int8[], $2::bytea[]) AS u (id, record)
    WHERE \(Lookup.row("t.id", "u.id"))
    """)
}
