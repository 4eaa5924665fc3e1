internal import RedialCore
internal import RedialStore

/// Finds what does no harm yet on the server: settings, old snapshots, dead rows, clocks, transaction numbers.
struct ServerInspection {
  /// From when on something is a warning.
  struct Limits {
    /// How long a transaction may be open.
    var snapshot = Duration.seconds(300)
    /// How many dead rows a table may have that was not vacuumed for so long, if they are ten times as many as the live ones.
    var deadRows: Int64 = 100_000
    var unvacuumed = Duration.seconds(600)
    /// How much the clocks may differ.
    var clock = Duration.seconds(1)
    /// The age of the oldest transaction number; the server stops at 2,100 million.
    var age: Int64 = 1_000_000_000
  }

  let limits: Limits

  /// Whether no standby has a change before it is acknowledged, as far as the server says.
  static let lacksStandby =
    "current_setting('synchronous_standby_names') = '' OR current_setting('synchronous_commit') = 'local'"

  private static let server = PostgresQuery(
    "inspect_server", "look at the server",
    """
    SELECT \(lacksStandby),
      current_setting('autovacuum') = 'off', \(LeaseQueries.now("$1")), age(datfrozenxid)::int8, mxid_age(datminmxid)::int8,
      current_setting('data_checksums') = 'off'
    FROM pg_database WHERE datname = current_database()
    """)
  /// Of sessions of other roles a role without pg_read_all_stats sees neither transaction nor start.
  private static let snapshots = PostgresQuery(
    "inspect_snapshots", "look for old snapshots",
    """
    SELECT what, (seconds)::int8 FROM (
      SELECT format('process %s of role %s', pid, usename) AS what, extract(epoch FROM clock_timestamp() - xact_start) AS seconds
        FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'
          AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
      UNION ALL SELECT format('prepared transaction %s', quote_ident(gid)), extract(epoch FROM clock_timestamp() - prepared)
        FROM pg_prepared_xacts WHERE database = current_database()) s
    WHERE seconds * 1000000 >= $1::int8 ORDER BY seconds DESC LIMIT 10
    """)
  private static let deadRows = PostgresQuery(
    "inspect_dead_rows", "look for dead rows",
    """
    SELECT relname::text, n_dead_tup, n_live_tup FROM pg_stat_user_tables
    WHERE schemaname = current_schema() AND n_dead_tup >= $1::int8 AND n_dead_tup > 10 * n_live_tup
      AND clock_timestamp() - coalesce(greatest(last_vacuum, last_autovacuum), pg_postmaster_start_time())
        >= $2::int8 * interval '1 microsecond'
    ORDER BY relname
    """)
  private static let unattended = PostgresQuery(
    "inspect_autovacuum", "look for tables without autovacuum",
    """
    SELECT c.relname::text FROM pg_class c CROSS JOIN LATERAL pg_options_to_table(c.reloptions) o
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND o.option_name = 'autovacuum_enabled'
      AND NOT o.option_value::bool ORDER BY c.relname
    """)

  /// Looks at all of it.
  ///
  /// - Parameters:
  ///   - database: The time of the database, for tests; nil for its clock's.
  ///   - clock: Tells the time of this machine.
  func warnings(
    _ snapshots: Snapshots, database: Timestamp?, _ clock: () -> Timestamp
  ) throws(PostgresFailure) -> [StoreWarning] {
    var look = PostgresStatement(Self.server)
    look.add(database?.microseconds)
    let before = clock()
    let server = try snapshots.rows([look])[0]
    let after = clock()
    var (old, dead) = (PostgresStatement(Self.snapshots), PostgresStatement(Self.deadRows))
    old.add(limits.snapshot.wholeMicroseconds)
    dead.add(limits.deadRows)
    dead.add(limits.unvacuumed.wholeMicroseconds)
    let found = try snapshots.rows([old, dead, PostgresStatement(Self.unattended)])
    var warnings: [StoreWarning] = []
    if server.integer(0, 0) == 1 {
      warnings.append(
        StoreWarning(
          .noStandby,
          "no standby has a call before it is accepted, because synchronous_standby_names is empty or synchronous_commit is "
            + "local; a failover may lose calls"))
    }
    if server.integer(0, 5) == 1 {
      warnings.append(
        StoreWarning(
          .noPageChecksums,
          "a changed bit in the state or the times of a call would go unnoticed, because data_checksums is off; stop the server "
            + "and run pg_checksums --enable"))
    }
    for row in 0..<found[0].count {
      warnings.append(
        StoreWarning(
          .oldSnapshot,
          "\(found[0].text(row, 0)) has been in one transaction for \(found[0].integer(row, 1)) s, and dead rows stay until "
            + "it ends; end it"))
    }
    for row in 0..<found[1].count {
      let (dead, live) = (found[1].integer(row, 1), found[1].integer(row, 2))
      warnings.append(
        StoreWarning(
          .deadRows,
          "the table \(found[1].text(row, 0)) has \(dead) dead rows and \(live) live ones, and was not vacuumed lately; see "
            + "whether autovacuum gets to it"))
    }
    let unattended = found[2].map { found[2].text($0, 0) }
    if server.integer(0, 1) == 1 || !unattended.isEmpty {
      let which = server.integer(0, 1) == 1 ? "" : " for \(unattended.joined(separator: ", "))"
      warnings.append(
        StoreWarning(.autovacuum, "autovacuum is off\(which), so that tables grow and get slow; switch it on"))
    }
    warnings += clockWarning(server.integer(0, 2), before, after)
    let age = max(server.integer(0, 3), server.integer(0, 4))
    if age >= limits.age {
      warnings.append(
        StoreWarning(
          .wraparound,
          "the oldest transaction number is \(age) behind, and the server stops at 2,100,000,000; vacuum the database"))
    }
    return warnings
  }

  /// The database's time lies between two of this machine's, if the clocks agree.
  private func clockWarning(_ database: Int64, _ before: Timestamp, _ after: Timestamp) -> [StoreWarning] {
    let (early, late) = (before.microseconds - database, database - after.microseconds)
    guard max(early, late) > limits.clock.wholeMicroseconds else { return [] }
    let seconds = Double(max(early, late) / 100_000) / 10
    return [
      StoreWarning(
        .clock,
        "the clock of this machine is \(seconds) s \(early > late ? "ahead of" : "behind") the database's; let a time service "
          + "set both")
    ]
  }
}
