internal import RedialModel
internal import RedialStore

/// The statements of leases. Times are those of the database's clock, except in tests, which give theirs.
enum LeaseQueries {
  static func now(_ parameter: String) -> String {
    "coalesce(\(parameter)::int8, (extract(epoch FROM clock_timestamp()) * 1000000)::int8)"
  }

  static let begin = PostgresQuery("begin", "begin a transaction", "BEGIN")
  /// The transaction has several steps. If the instance stalls between two of them, the server ends it: nobody else divides
  /// the shards meanwhile.
  static let limit = PostgresQuery(
    "limit", "limit a transaction", "SET LOCAL idle_in_transaction_session_timeout = '2s'")
  static let commit = PostgresQuery("commit", "commit", "COMMIT")
  static let rollBack = PostgresQuery("rollback", "roll back", "ROLLBACK")
  /// What a transaction with this changes need not be on disk, nor at a standby, when it ends. For the renewal of a lease: a
  /// server that lacks it was started anew, and is followed by a quiet time. And no row of `beats` may be locked by a transaction
  /// that waits for a standby, because heartbeats would wait for it until the lease has ended.
  static let lazily = PostgresQuery(
    "lazily", "begin a change", "SELECT set_config('synchronous_commit', 'off', true)")
  /// Whoever ends sessions of others or takes shards holds this lock.
  static let lock = PostgresQuery("control", "lock the leases", "SELECT 1 FROM control FOR UPDATE")
  /// The same without waiting: there is no row if another has the lock. An instance that stalls while it has it then delays
  /// the division of shards only, and no commit.
  static let tryLock = PostgresQuery("try_control", "lock the leases", "SELECT 1 FROM control FOR UPDATE SKIP LOCKED")

  /// Whether nobody may end sessions of others or take shards now: for a whole lease ($2) after another server has taken
  /// over. It may have lost the last changes of the one before: renewed leases, and shards whose new owner has attempts in
  /// flight.
  ///
  /// A server is known by the time at which it was started. Its address would differ between instances that reach it in
  /// different ways.
  static let quiet = PostgresQuery(
    "lease_quiet", "look for another server",
    """
    WITH s AS (SELECT \(serverStart) AS start),
      c AS (UPDATE control SET server = s.start,
          quiet_until = CASE WHEN control.server = 0 THEN 0 ELSE \(now("$1")) + $2::int8 END
        FROM s WHERE control.server <> s.start RETURNING quiet_until)
    SELECT coalesce((SELECT quiet_until FROM c), (SELECT quiet_until FROM control)) > \(now("$1"))
    """)
  static let serverStart = "(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::int8"

  /// Whether a renewal changes who has which shards: some session is over, or shards are free.
  static let probe = PostgresQuery(
    "lease_probe", "look at the leases",
    """
    SELECT (SELECT count(*) FROM beats WHERE expires_at <= \(now("$2"))),
      (SELECT count(*) FROM leases WHERE owner IS NULL), (SELECT count(*) FROM leases WHERE owner = $1::int8),
      (SELECT count(*) FROM sessions)
    """)

  /// Ends the sessions whose time is over. One that is in a commit goes later: its row is locked. Both rows are locked, so
  /// that one that has been renewed meanwhile is seen as it is now.
  static let expire = PostgresQuery(
    "lease_expire", "end sessions that are over",
    """
    WITH e AS (SELECT s.id FROM sessions s JOIN beats b ON b.session = s.id WHERE b.expires_at <= \(now("$1"))
        FOR UPDATE OF s, b SKIP LOCKED),
      g AS (DELETE FROM sessions s USING e WHERE s.id = e.id RETURNING s.id),
      h AS (DELETE FROM beats b USING g WHERE b.session = g.id)
    UPDATE leases l SET owner = NULL, epoch = l.epoch + 1 FROM g WHERE l.owner = g.id
    """)

  /// Ends the server processes of sessions that were over two seconds ago and are still in a commit: no timeout catches a
  /// pipeline of which only a half was sent.
  static let terminate = PostgresQuery(
    "lease_terminate", "end the connections of sessions that are over",
    """
    SELECT pg_terminate_backend(a.pid) FROM beats b
      JOIN pg_stat_activity a ON a.pid = b.backend AND a.backend_start = b.backend_start
    WHERE b.expires_at <= \(now("$1")) - 2000000 AND \(isFree("a"))
      AND EXISTS (SELECT 1 FROM control WHERE quiet_until <= \(now("$1")) AND server IN (0, \(serverStart)))
    """)

  /// A server process that waits for a standby is left alone. Its commit is on disk here; if the process were ended, the commit
  /// could be seen, and be reported as made, before the standby has it.
  ///
  /// Nor is one that uses another database: this one may be a copy, with the instances of the other in its tables.
  private static func isFree(_ process: String) -> String {
    "\(process).wait_event IS DISTINCT FROM 'SyncRep' AND \(process).datname = current_database()"
  }

  /// Ends one server process of this role.
  static let stop = PostgresQuery(
    "lease_stop", "end the connection before",
    """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = $1::int8 AND usename = current_user AND pid <> pg_backend_pid()
      AND \(isFree("pg_stat_activity"))
    """)

  /// Ends a session: it can no longer write, and its shards have no owner.
  static let end = PostgresQuery(
    "lease_end", "end a session",
    """
    WITH g AS (DELETE FROM sessions WHERE id = $1::int8), h AS (DELETE FROM beats WHERE session = $1::int8)
    UPDATE leases SET owner = NULL, epoch = epoch + 1 WHERE owner = $1::int8
    """)

  /// Ends all sessions: for a process that has the store for itself.
  static let endAll = PostgresQuery(
    "lease_end_all", "end all sessions", "WITH h AS (DELETE FROM beats) DELETE FROM sessions")

  /// Begins the session $1 with the lowest free instance number; $2 is the time, $3 the duration or NULL for no end, $4 the
  /// place of the work in the chain, $5 the address at which the others reach the instance, $6 its version. Without a row
  /// the store is only partly filled, and the transaction must be rolled back.
  static let join = PostgresQuery(
    "lease_join", "begin a session", duplicate: .instance,
    """
    WITH i AS (SELECT min(n) AS instance FROM generate_series(0, 1023) n
        WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.instance = n)),
      s AS (INSERT INTO sessions (id, instance, conn, address, version)
        SELECT $1::int8, instance, 0, $5::text, $6::text FROM i
        WHERE NOT EXISTS (SELECT 1 FROM settings WHERE name = '\(MigrationMark.settingName)') RETURNING instance),
      b AS (INSERT INTO beats (session, expires_at, backend, backend_start)
        SELECT $1::int8, \(now("$2")) + $3::int8, pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()),
      c AS (INSERT INTO commits (session, seq) VALUES ($1::int8, $4::int8))
    SELECT instance FROM s
    """)

  /// Makes sure that a join that is in doubt is not made any more: its place in the ledger is taken, or it is undone.
  static let preventJoin = PostgresQuery(
    "lease_prevent", "undo a session",
    "INSERT INTO commits (session, seq) VALUES ($1::int8, $2::int8) ON CONFLICT (session, seq) DO NOTHING")

  /// Locks the session for a transaction that is no part of the chain.
  static let hold = PostgresQuery(
    "lease_hold", "check the lease", check: .fence,
    "WITH f AS (SELECT 1 FROM sessions WHERE id = $1::int8 FOR SHARE) SELECT 1 / count(*) FROM f")

  static let renew = PostgresQuery(
    "lease_renew", "renew the lease",
    "UPDATE beats SET expires_at = \(now("$2")) + $3::int8 WHERE session = $1::int8")

  static let shards = PostgresQuery(
    "lease_shards", "read the leases",
    "SELECT shard, coalesce(owner, 0), (SELECT count(*) FROM sessions) FROM leases ORDER BY shard")

  static let give = PostgresQuery(
    "lease_give", "give shards back",
    "UPDATE leases SET owner = NULL, epoch = epoch + 1 WHERE owner = $1::int8 AND shard = ANY($2::int8[])")

  static let take = PostgresQuery(
    "lease_take", "take shards",
    "UPDATE leases SET owner = $1::int8, epoch = epoch + 1 WHERE owner IS NULL AND shard = ANY($2::int8[])")

  static let takeAll = PostgresQuery(
    "lease_take_all", "take all shards", "UPDATE leases SET owner = $1::int8, epoch = epoch + 1")

  /// Puts the calls in the memory of an earlier owner back to where they were claimed from.
  static let releaseHeld = PostgresQuery(
    "lease_release", "give held calls back",
    """
    UPDATE live SET state = \(StoredPlace.released), due = at
    WHERE shard = ANY($1::int8[]) AND \(StoredPlace.condition(.held))
    """)

  /// The id of a new session. It is random, so that none is ever given twice, not even by a server that has lost the last
  /// ones.
  static func randomID() -> Int64 { Int64.random(in: 1...Int64.max) }

  // MARK: Connections

  /// Ends the server process of the session's connection before, if it is still there: of a pipeline of which only a half
  /// was sent, it would wait for the rest.
  static let endOwn = PostgresQuery(
    "end_own", "end the connection before",
    """
    SELECT pg_terminate_backend(a.pid) FROM beats b
      JOIN pg_stat_activity a ON a.pid = b.backend AND a.backend_start = b.backend_start AND a.pid <> pg_backend_pid()
    WHERE b.session = $1::int8 AND \(isFree("a"))
    """)

  /// Records the server process of the session's new connection.
  static let recordProcess = PostgresQuery(
    "note_process", "note the connection",
    """
    UPDATE beats SET backend = a.pid, backend_start = a.backend_start FROM pg_stat_activity a
    WHERE a.pid = pg_backend_pid() AND session = $1::int8
    """)

  /// Makes the lane's new connection the only one that may commit. It waits for a commit on the one before; and at its end
  /// a synchronous standby has that one, too.
  static let reconnect = PostgresQuery(
    "reconnect", "take the session over", "UPDATE sessions SET conn = conn + 1 WHERE id = $1::int8 RETURNING conn")

  /// The last work that was made. A statement of its own: it must see what those have done whose locks the one before
  /// waited for.
  static let lastMade = PostgresQuery(
    "last_made", "find the last commit", "SELECT coalesce(max(seq), -1) FROM commits WHERE session = $1::int8")

  // MARK: What an owner must know

  static let queues = PostgresQuery(
    "queues", "count queued calls",
    """
    SELECT t.key, q.n FROM (SELECT target_id, count(*) AS n FROM live
      WHERE state = \(StoredState.queued.rawValue) AND shard = ANY($1::int8[]) GROUP BY target_id) q
      JOIN targets t ON t.id = q.target_id
    """)

  /// The records of targets, and the time.
  static let records = PostgresQuery(
    "records", "read the records of targets",
    "SELECT key, record, \(now("$2")) FROM targets WHERE record IS NOT NULL AND shard = ANY($1::int8[])")

  static let newest = PostgresQuery("newest", "find the newest call", "SELECT coalesce(max(id), 0) FROM requests")
}
