internal import Glibc
package import RedialCore
package import RedialModel
package import RedialStore

/// Checks a PostgreSQL store against the invariants, on a connection of its own, in short transactions that only read.
///
/// What it compares is always of one moment. So it finds nothing wrong with a store on which instances work.
package final class PostgresInspection: StoreInspection {
  /// How long it waits for what is only wrong if it lasts: shards of an instance that is gone are taken within a few
  /// seconds.
  static let patience = Duration.seconds(15)
  private static let pause = Duration.milliseconds(250)

  private let place: String
  private let connection: PostgresConnection
  private let snapshots: Snapshots
  private let server: ServerInspection
  private let vault: Vault
  private let forms: DocumentForms
  /// The version of the tables, if they are older: then all of this happens in an upgrade that is not committed.
  private let old: Int64?
  private let patience: Duration
  private let clock: (@Sendable () -> Timestamp)?
  private var integrity = StoreFinding(check: .integrity)
  private var warnings: [StoreWarning] = []

  /// Connects.
  ///
  /// - Throws: If the database cannot be reached, or has no tables of this version. None are made.
  package convenience init(_ settings: PostgresSettings) throws(StoreError) {
    try self.init(settings, limits: ServerInspection.Limits())
  }

  /// - Parameters:
  ///   - limits: From when on something is a warning.
  ///   - longest: How long a statement may take.
  ///   - patience: How long it waits for what is only wrong if it lasts.
  ///   - clock: The time by which leases end, for tests; nil for the database's.
  init(
    _ settings: PostgresSettings, limits: ServerInspection.Limits, longest: Duration = .seconds(10),
    patience: Duration = PostgresInspection.patience, clock: (@Sendable () -> Timestamp)? = nil
  ) throws(StoreError) {
    try settings.check()
    place = settings.place
    self.clock = clock
    (vault, forms) = (settings.vault, settings.forms)
    self.patience = patience
    do throws(PostgresFailure) {
      connection = try PostgresConnection(settings)
    } catch {
      throw error.error(at: settings.place)
    }
    let found = try PostgresSchema.findVersion(on: connection, schema: settings.schema)
    if let found, found < PostgresSchema.version,
      try PostgresSchema.beginUpgrade(from: found, on: connection, schema: settings.schema)
    {
      old = found
      snapshots = Snapshots(within: connection, longest: longest)
    } else {
      old = nil
      try PostgresSchema.openForReading(connection, schema: settings.schema)
      snapshots = Snapshots(connection, longest: longest)
    }
    try StoredDataKeys.load(settings, connection)
    server = ServerInspection(limits: limits)
  }

  /// How long a statement may take that reads for an upgrade.
  private static let longestReading = Duration.seconds(600)

  /// Reads what the service has to read after an upgrade, in the transaction that has upgraded the tables: records,
  /// documents, and calls apart from their bodies, which have no form of their own.
  static func upgradeCheck(
    on connection: PostgresConnection, from old: Int64, _ forms: DocumentForms
  ) throws(StoreError) -> UpgradeCheck {
    let snapshots = Snapshots(within: connection, longest: longestReading)
    var records = RecordFindings(forms, areTables: old < 5)
    var calls = CallInspection(bodies: false, namesRows: true)
    let read: Result<Void, StoreError>
    do throws(PostgresFailure) {
      let keys = try snapshots.rows([StoredDocument.findAll(.dataKey)])[0]
      let queries = try RecordQueries.read(snapshots)
      read = Result { () throws(StoreError) in
        _ = try keys.vault.load(StoredDocument.all(.dataKey, in: keys))
        try queries.add(to: &records)
      }
      if case .success = read { try calls.read(snapshots) }
    } catch {
      throw error.error(at: connection.place)
    }
    try read.get()
    return UpgradeCheck(records, calls: calls.calls.unreadable)
  }

  /// Ends nothing: the connection ends with this object, and a transaction with it.
  package func close() {}

  /// Makes all checks. Quick ones read no bodies, and do not count the calls that have ended.
  package func report(at now: Timestamp, quick: Bool = false) throws(StoreError) -> StoreReport {
    let started = ContinuousClock.now
    integrity = StoreFinding(check: .integrity)
    warnings = []
    var (time, isLive, usage) = (now, false, StoreUsage(usedBytes: 0, freeBytes: 0, finished: []))
    try check("the instances") { () throws(PostgresFailure) in (time, isLive) = try standing() }
    try check("the size of the store") { () throws(PostgresFailure) in
      usage = UsageQueries.usage(try snapshots.rows(UsageQueries.statements))
    }
    let lateness = isLive ? Lateness(at: time) : nil
    var records = RecordFindings(forms, areTables: old.map { $0 < 5 } ?? false)
    var rows = RecordQueries(rows: [])
    try check("the documents") { () throws(PostgresFailure) in rows = try RecordQueries.read(snapshots) }
    try rows.add(to: &records)
    if let loss = records.lostCommits, loss.isShown(at: time) { warnings.append(StoreWarning(loss)) }
    var calls = CallInspection(bodies: !quick)
    try check("the calls") { () throws(PostgresFailure) in try calls.read(snapshots) }
    if let old {
      warnings.append(
        UpgradeCheck(records, calls: calls.calls.unreadable).warning(from: old, to: PostgresSchema.version))
    }
    var sharing = SharingInspection()
    try check("the leases") { () throws(PostgresFailure) in try sharing.read(snapshots, lateness) }
    try check("the shards of targets") { () throws(PostgresFailure) in try sharing.readTargets(snapshots) }
    var late: [StoreFinding] = []
    if let lateness {
      try check("late calls") { () throws(PostgresFailure) in
        late = LatenessQueries.late(try snapshots.rows(LatenessQueries.statements(lateness)), lateness).findings
      }
    }
    var (turns, counts) = (StoreFinding(check: .turns), StoreFinding(check: .keptCounts))
    try check("the turns") { () throws(PostgresFailure) in
      try SharingInspection.addFreeTurns(to: &turns, snapshots)
    }
    try check("the count of calls that have not ended") { () throws(PostgresFailure) in
      try CountInspection.addUnfinished(to: &counts, snapshots)
    }
    if !quick {
      try check("the count of calls that have ended") { () throws(PostgresFailure) in
        try CountInspection.addFinished(to: &counts, snapshots)
      }
    }
    var unowned: [StoreFinding] = []
    if isLive { unowned = [try lastingUnowned()] }
    try check("the server") { () throws(PostgresFailure) in
      let elapsed = { now + (ContinuousClock.now - started) }
      warnings = try server.warnings(snapshots, database: clock?(), elapsed) + warnings
    }
    let found =
      [
        integrity, records.unreadable, calls.damagedRows, calls.calls.damaged, calls.remains.orphaned,
        calls.orphanedWebhooks,
        calls.calls.doublyLeased,
        calls.remains.misplaced, sharing.leases, sharing.ledger, calls.calls.miscounted, calls.calls.halfEnded,
        calls.remains.halfEnded, calls.calls.unordered, calls.remains.turns, turns, counts,
      ] + late + (isLive ? [sharing.expired] : []) + unowned
    if vault.sealsAll {
      try check("what is readable") { () throws(PostgresFailure) in
        let rows = try snapshots.rows([PostgresStatement(Self.readable)])[0]
        let (calls, attempts, documents) = (rows.integer(0, 0), rows.integer(0, 1), rows.integer(0, 2))
        if let warning = StoreWarning.readable(calls: Int(calls), attempts: Int(attempts), documents: Int(documents)) {
          warnings.append(warning)
        }
      }
    } else {
      try check("which secrets are readable") { () throws(PostgresFailure) in
        var find = PostgresStatement(Self.secrets)
        find.add(texts: StoredDocument.Kind.allCases.filter(\.isSecret).map(\.rawValue))
        let secrets = try snapshots.rows([find])[0].integer(0, 0)
        if let warning = StoreWarning.readable(secrets: Int(secrets)) { warnings.append(warning) }
      }
    }
    return StoreReport(
      place: place, isLive: isLive, calls: calls.calls.count, usage: usage, findings: StoreFinding.joined(found),
      warnings: warnings)
  }

  /// Makes a check. Damage and a check that takes too long do not end the others.
  private func check(
    _ what: String, _ body: () throws(PostgresFailure) -> Void
  ) throws(StoreError) {
    do throws(PostgresFailure) {
      try body()
    } catch {
      if Snapshots.isTimeout(error) {
        warnings.append(
          StoreWarning(
            .unchecked,
            "\(what) could not be checked: a statement took longer than \(snapshots.longest); try it when less "
              + "is to do"))
        return
      }
      let error = error.error(at: place)
      guard error.kind == .corrupt else { throw error }
      integrity.add(error.message)
    }
  }

  private static let readable = PostgresQuery(
    "inspect_readable", "look for readable values",
    """
    SELECT (SELECT count(*) FROM requests WHERE substr(spec, 1, 1) <> '\\xf5'::bytea),
      (SELECT count(*) FROM attempts WHERE truncated & 2 = 0 OR substr(failure_message, 1, 1) <> chr(1)),
      (SELECT count(*) FROM documents WHERE kind <> 'dataKey' AND substr(content, 1, 1) <> '\\xf5'::bytea)
    """)
  private static let secrets = PostgresQuery(
    "inspect_secrets", "look for readable secrets",
    """
    SELECT (SELECT count(*) FROM settings WHERE name = 'webhookSecret') + (SELECT count(*) FROM documents
      WHERE kind = ANY($1::text[]) AND (kind <> 'alert' OR position('"channel":'::bytea IN content) > 0))
    """)
  private static let live = PostgresQuery(
    "inspect_live", "look for instances",
    """
    SELECT \(LeaseQueries.now("$1")), EXISTS (SELECT 1 FROM beats WHERE coalesce(expires_at > \(LeaseQueries.now("$1")), true))
    """)

  /// The time of the leases, and whether an instance is live.
  private func standing() throws(PostgresFailure) -> (Timestamp, Bool) {
    var live = PostgresStatement(Self.live)
    live.add(clock?().microseconds)
    let rows = try snapshots.rows([live])[0]
    return (Timestamp(microseconds: rows.integer(0, 0)), rows.integer(0, 1) == 1)
  }

  /// The calls in memory in shards without an owner, if that lasts: the next owner of a shard takes them over.
  private func lastingUnowned() throws(StoreError) -> StoreFinding {
    var lasting: Set<CallID>?
    let end = ContinuousClock.now + patience
    while lasting?.isEmpty != true, ContinuousClock.now < end {
      if lasting != nil { usleep(UInt32(Self.pause.wholeMicroseconds)) }
      var found: Set<CallID> = []
      try check("calls without an owner") { () throws(PostgresFailure) in
        found = Set(try SharingInspection.unowned(snapshots))
      }
      lasting = lasting?.intersection(found) ?? found
    }
    var finding = StoreFinding(check: .unowned)
    for id in (lasting ?? []).sorted() { finding.add("\(id)") }
    return finding
  }
}
