internal import Glibc
internal import RedialModel
internal import RedialStore

/// A connection to a database that no instance uses, by which all of it is copied, or filled.
///
/// It is not made again when it is lost: what it has locked would not be locked any more.
final class IdleDatabase {
  /// How long an answer may take. Large tables are counted as a whole.
  static let patience = Duration.seconds(3600)

  private static let lockTimeout = "55P03"

  let connection: PostgresConnection

  /// Connects.
  init(_ settings: PostgresSettings) throws(StoreError) {
    do throws(PostgresFailure) {
      connection = try PostgresConnection(settings)
    } catch {
      throw error.error(at: settings.place)
    }
  }

  /// The store, for messages.
  var place: String { connection.place }

  /// Makes statements in one transaction, or as part of the one that was begun, and returns the rows of each.
  func run(_ statements: [PostgresStatement]) throws(StoreError) -> [PostgresRows] {
    do throws(PostgresFailure) {
      return try connection.run(statements, within: Self.patience)
    } catch {
      throw error.error(at: place)
    }
  }

  /// Makes statements without arguments in one transaction.
  func execute(_ statements: [String], purpose: String) throws(StoreError) {
    do throws(PostgresFailure) {
      try connection.execute(statements, purpose: purpose, within: Self.patience)
    } catch {
      throw error.error(at: place)
    }
  }

  // MARK: The lock

  /// Begins a transaction that changes nothing and may last as long as the other side of a copy takes.
  func beginToWait(_ purpose: String) throws(StoreError) {
    try execute(
      [
        "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ ONLY",
        "SET LOCAL idle_in_transaction_session_timeout = 0",
        "SET LOCAL statement_timeout = 0",
      ], purpose: purpose)
  }

  /// Locks the sessions until the transaction ends, if no instance uses the store: none can join, and none can commit.
  func lockOut() throws(StoreError) {
    try waitForLeases()
    try execute(
      ["SET LOCAL lock_timeout = '5s'", "LOCK TABLE sessions IN EXCLUSIVE MODE", "SET LOCAL lock_timeout = 0"],
      purpose: "lock the store, which a migration, an import or new data keys may have, or this role may not change")
    guard try lastSession() == nil else { throw inUse }
  }

  /// Keeps migrations, imports and other changes of data keys away until the transaction ends. Instances are not disturbed.
  func lockForKeys() throws(StoreError) {
    let busy = StoreError(
      kind: .inUse,
      message:
        "Another command copies \(place), fills it or changes its data keys. Wait until it has ended. Nothing was changed."
    )
    do throws(PostgresFailure) {
      try connection.execute(
        ["SET LOCAL lock_timeout = '5s'", "LOCK TABLE sessions IN ROW SHARE MODE", "SET LOCAL lock_timeout = 0"],
        purpose: "lock the data keys", within: Self.patience)
    } catch {
      throw error.state == Self.lockTimeout ? busy : error.error(at: place)
    }
    guard try !isMarked() else { throw MigrationMark.refusal(of: place) }
    guard try run([PostgresStatement(IdleQueries.keyLock)])[0].integer(0, 0) == 1 else { throw busy }
  }

  /// Ends all sessions: an instance that stood still could renew its lease later, and go on beside what it does not know.
  ///
  /// - Throws: `inUse` if another migration or an import has the store.
  func expireSessions() throws(StoreError) {
    var expire = PostgresStatement(LeaseQueries.expire)
    expire.add(nil as Int64?)
    try execute(["SET lock_timeout = '5s'"], purpose: "limit the time for locks")
    do throws(PostgresFailure) {
      _ = try connection.run([PostgresStatement(LeaseQueries.lock), expire], within: Self.patience)
    } catch {
      guard error.state == Self.lockTimeout else { throw error.error(at: place) }
      throw StoreError(
        kind: .inUse, message: "A migration or an import has \(place). Wait until it has ended. Nothing was changed.")
    }
  }

  /// Whether the store is only partly filled.
  func isMarked() throws(StoreError) -> Bool {
    try run([PostgresStatement(IdleQueries.obstacles)])[0].integer(0, 0) > 0
  }

  /// Throws if instances use the store. The lease of one that died is waited for.
  func waitForLeases() throws(StoreError) {
    guard let first = try lastSession() else { return }
    guard let left = first.left else { throw inUse }
    let deadline = ContinuousClock.now + left + .milliseconds(100)
    while ContinuousClock.now < deadline {
      guard let now = try lastSession() else { return }
      if now.end != first.end { throw inUse }
      usleep(100_000)
    }
    if try lastSession() != nil { throw inUse }
  }

  /// The session that ends last, if one has not ended: how long it has to live, and when it ends; nil for never.
  private func lastSession() throws(StoreError) -> (left: Duration?, end: Int64?)? {
    let rows = try run([PostgresStatement(IdleQueries.lastSession)])[0]
    guard rows.count == 1 else { return nil }
    guard let left = rows.integerIfPresent(0, 0) else { return (nil, nil) }
    return left <= 0 ? nil : (.microseconds(left), rows.integerIfPresent(0, 1))
  }

  private var inUse: StoreError {
    StoreError(
      kind: .inUse, message: "\(place) is in use by instances of Redial. Stop all of them first. Nothing was changed.")
  }
}

/// The statements that ask whether instances use a database.
enum IdleQueries {
  /// How long the session that ends last has to live, in microseconds, or NULL for one without an end; and when it ends.
  /// No row if there is none.
  static let lastSession = PostgresQuery(
    "idle_sessions", "look for instances",
    """
    SELECT b.expires_at - \(LeaseQueries.now("NULL")), b.expires_at FROM sessions s LEFT JOIN beats b ON b.session = s.id
    ORDER BY b.expires_at DESC NULLS FIRST LIMIT 1
    """)

  /// Locks the data keys against other commands until the transaction ends: 1, or 0 if another one has them.
  static let keyLock = PostgresQuery(
    "key_lock", "lock the data keys",
    "SELECT pg_try_advisory_xact_lock(hashtext(current_schema()), hashtext('redial data keys'))::int::int8")

  /// How often shards and documents changed.
  static let state = PostgresQuery(
    "idle_state", "read the leases",
    "SELECT (SELECT sum(epoch)::int8 FROM leases), (SELECT coalesce(sum(n), 0)::int8 FROM versions)")

  /// Whether the store is only partly filled, and whether it is being copied.
  static let obstacles = PostgresQuery(
    "idle_obstacles", "look for a migration",
    """
    SELECT (SELECT count(*) FROM settings WHERE name = '\(MigrationMark.settingName)'), (SELECT count(*) FROM pg_locks
      WHERE locktype = 'relation' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND relation = 'sessions'::regclass AND mode = 'ExclusiveLock' AND granted)
    """)
}
