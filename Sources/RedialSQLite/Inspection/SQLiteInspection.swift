package import RedialStore
package import RedialCore
package import RedialModel

/// Checks a store against the invariants, on its own connection, which cannot write.
///
/// Beside a running service it is one more reader: neither waits for the other. No read transaction lasts longer than
/// one check, or a thousand calls, so that the log can start again; only the check of the file's integrity needs one
/// transaction for the whole file.
package final class SQLiteInspection: StoreInspection {
  /// Calls that are read in one transaction.
  private static let batch: Int64 = 1000

  private let connection: SQLiteConnection
  private let usage: UsageQueries
  private let rows: CallRows
  private let specs: CallRows
  private let attempts: AttemptRows
  private let next: SQLiteStatement
  private let timely: TimelinessQueries
  private let turns: TurnQueries
  private let leases: LeaseFindings
  private let log: LogFollower
  private let records: RecordQueries
  private let forms: DocumentForms
  private let inTransaction: Transaction
  /// The version of the file, if it is older: then all of this happens in an upgrade that is not committed.
  private let old: Int64?

  /// Opens a store for reading. One of an older version is upgraded in a transaction that is never committed, so that what is
  /// checked is what a service would have.
  ///
  /// - Throws: If there is no such file, it is not a store, it has a version that cannot be upgraded, or a service of an older
  ///   version uses it.
  package convenience init(
    path: String, vault: Vault = .none, forms: DocumentForms = .ofStores
  ) throws(StoreError) {
    try WriteAheadFile.check(path)
    var connection = try SQLiteConnection(path: path, role: .reader, vault: vault)
    if try Schema.checkIsStore(connection) < Schema.version, !StoreFile.isOwned(path) {
      let hasLog = try RegularFile.size(path + "-wal") ?? 0 > 0
      connection.close()
      connection = try SQLiteConnection(path: path, role: .writer, vault: vault)
      if hasLog { connection.keepLogOnClose() }
      // Its data keys are not read again: nobody else can store one meanwhile.
      if let old = try Schema.beginUpgrade(of: connection) {
        try self.init(upgraded: connection, from: old, forms)
        return
      }
      connection.close()
      connection = try SQLiteConnection(path: path, role: .reader, vault: vault)
    }
    try Schema.openForReading(connection)
    try StoredDataKeys.load(into: vault, on: connection)
    try self.init(on: connection, from: nil, forms)
  }

  /// Checks a store in the transaction that has upgraded it, by the connection of that.
  convenience init(
    upgraded connection: SQLiteConnection, from old: Int64, _ forms: DocumentForms
  ) throws(StoreError) {
    _ = try connection.vault.load(try DocumentTable(on: connection).all(.dataKey))
    try self.init(on: connection, from: old, forms)
  }

  private init(on connection: SQLiteConnection, from old: Int64?, _ forms: DocumentForms) throws(StoreError) {
    (self.connection, self.old, self.forms) = (connection, old, forms)
    records = try RecordQueries(on: connection)
    usage = try UsageQueries(on: connection)
    rows = try CallRows(on: connection, bodies: true)
    specs = try CallRows(on: connection, bodies: false)
    attempts = try AttemptRows(on: connection)
    timely = try TimelinessQueries(on: connection)
    turns = try TurnQueries(on: connection)
    leases = try LeaseFindings(on: connection)
    log = try LogFollower(on: connection)
    next = try connection.prepare("read the calls", "SELECT id FROM calls WHERE id > ?1 ORDER BY id LIMIT ?2")
    inTransaction = try old == nil ? Transaction(on: connection, role: .reader) : Transaction(within: connection)
  }

  /// The report of a store whose write-ahead log is damaged, so that it must not be opened; nil if it is not.
  package static func report(ofDamagedLog path: String) throws(StoreError) -> StoreReport? {
    do {
      try WriteAheadFile.check(path)
      return nil
    } catch {
      guard error.kind == .corrupt else { throw error }
      let size = StoreUsage(usedBytes: try RegularFile.size(path) ?? 0, freeBytes: 0, finished: [])
      return StoreReport(
        place: path, isLive: StoreFile.isOwned(path), calls: 0, usage: size,
        findings: [StoreFinding(check: .integrity, count: 1, examples: [error.message])])
    }
  }

  /// Makes all checks. Quick ones leave out the comparison of each index with its table.
  package func report(at now: Timestamp, quick: Bool = false) throws(StoreError) -> StoreReport {
    let isLive = StoreFile.isOwned(connection.path)
    var integrity = StoreFinding(check: .integrity)
    var findings: [StoreFinding] = []
    var calls = CallFindings(overlapTolerance: .milliseconds(100))
    // A check that meets a damaged page ends there; the others continue.
    func check(_ body: () throws(StoreError) -> Void) throws(StoreError) {
      do {
        try body()
      } catch {
        guard error.kind == .corrupt else { throw error }
        integrity.add(error.message)
      }
    }
    try check { () throws(StoreError) in try checkFile(quick: quick, &integrity) }
    var found = RecordFindings(forms, areTables: areTables)
    try check { () throws(StoreError) in
      try inTransaction { () throws(StoreError) in try records.read(into: &found) }
    }
    findings.append(found.unreadable)
    try check { () throws(StoreError) in try readAll(rows, into: &calls) }
    try check { () throws(StoreError) in try checkLog(&integrity) }
    findings.append(calls.damaged)
    if isLive {
      try check { () throws(StoreError) in
        try inTransaction { () throws(StoreError) in findings += try timely.late(at: now, log.read()).findings }
      }
    }
    try check { () throws(StoreError) in findings.append(try orphaned()) }
    try check { () throws(StoreError) in findings.append(try orphanedWebhooks()) }
    findings.append(calls.doublyLeased)
    try check { () throws(StoreError) in
      try inTransaction { () throws(StoreError) in findings += try leases.findings(at: isLive ? now : nil) }
    }
    findings += [calls.miscounted, calls.halfEnded]
    var order = calls.unordered
    try check { () throws(StoreError) in try inTransaction { () throws(StoreError) in try turns.add(to: &order) } }
    findings.append(order)
    try check { () throws(StoreError) in findings.append(try keptCounts()) }
    var size = try usage.usage()
    try check { () throws(StoreError) in size = try usageWithLog() }
    let upgrade = UpgradeCheck(found, calls: calls.unreadable)
    var warnings = old.map { [upgrade.warning(from: $0, to: Schema.version)] } ?? []
    try check { () throws(StoreError) in warnings += try readable() }
    return StoreReport(
      place: connection.path, isLive: isLive, calls: calls.count, usage: size,
      findings: [integrity] + findings, warnings: warnings)
  }

  /// Reads what the service has to read after an upgrade: records, documents, and calls apart from their bodies, which have
  /// no form of their own.
  func upgradeCheck() throws(StoreError) -> UpgradeCheck {
    var found = RecordFindings(forms, areTables: areTables)
    try records.read(into: &found)
    var calls = CallFindings(overlapTolerance: .zero, namesRows: true)
    try readAll(specs, into: &calls)
    return UpgradeCheck(found, calls: calls.unreadable)
  }

  private var areTables: Bool { old.map { $0 < 27 } ?? false }

  /// Closes the file.
  package func close() {
    connection.rollBack()
    connection.close()
  }

  /// The size of the store, and the calls that have ended, also those whose end only the log has.
  private func usageWithLog() throws(StoreError) -> StoreUsage {
    try inTransaction { () throws(StoreError) in
      var size = try usage.usage()
      size.finished = try log.read().finished(with: size.finished)
      return size
    }
  }

  // MARK: Checks

  private func checkFile(quick: Bool, _ finding: inout StoreFinding) throws(StoreError) {
    let pragma = quick ? "PRAGMA quick_check(100)" : "PRAGMA integrity_check(100)"
    let lines = try connection.prepare("check the file", pragma).rows { row throws(StoreError) in row.text(0) }
    for line in lines where line != "ok" { finding.add(line) }
  }

  /// What the log has must fit the tables, or it cannot be written to them.
  private func checkLog(_ finding: inout StoreFinding) throws(StoreError) {
    try inTransaction { () throws(StoreError) in
      for (id, call) in try log.read().calls {
        let isThere = try rows.contains(id)
        if call.new != nil, isThere { finding.add("The log has \(id) as a new call, and the tables have it too.") }
        if call.stored != nil, !isThere { finding.add("The log has progress of \(id), and the tables lack it.") }
      }
    }
  }

  private func readAll(_ rows: CallRows, into findings: inout CallFindings) throws(StoreError) {
    var last = Int64.min
    while true {
      let count = try inTransaction { () throws(StoreError) -> Int in
        next.bind(1, last)
        next.bind(2, Self.batch)
        let stored = try next.rows { row throws(StoreError) in CallID(rawValue: row.integer(0)) }
        let logged = try log.read()
        for id in logged.page(after: last, stored, isLast: stored.count < Int(Self.batch)) {
          let (found, attempts) = try logged.read(id, rows, attempts)
          guard let found else { continue }
          try findings.check(id, found, attempts) { () throws(StoreError) in try turns.turn(of: id) }
        }
        last = stored.last?.rawValue ?? last
        return stored.count
      }
      if count < Int(Self.batch) { return }
    }
  }

  private func orphaned() throws(StoreError) -> StoreFinding {
    var finding = StoreFinding(check: .orphaned)
    let missing = [
      ("an attempt", "SELECT a.call_id FROM attempts a LEFT JOIN calls c ON c.id = a.call_id WHERE c.id IS NULL"),
      ("a request", "SELECT r.id FROM requests r LEFT JOIN calls c ON c.id = r.id WHERE c.id IS NULL"),
      ("a key", "SELECT k.call_id FROM idempotency_keys k LEFT JOIN calls c ON c.id = k.call_id WHERE c.id IS NULL"),
      ("a label", "SELECT l.call_id FROM labels l LEFT JOIN calls c ON c.id = l.call_id WHERE c.id IS NULL"),
      ("a retry", "SELECT r.call_id FROM retries r LEFT JOIN calls c ON c.id = r.call_id WHERE c.id IS NULL"),
    ]
    for (what, sql) in missing {
      for id in try ids(sql) { finding.add(what, ofMissing: id) }
    }
    for id in try ids("SELECT c.id FROM calls c LEFT JOIN requests r ON r.id = c.id WHERE r.id IS NULL") {
      finding.add(withoutRequest: id)
    }
    return finding
  }

  /// A webhook's call ended when the webhook was made. It may be missing only if it ended before the last call that was
  /// removed.
  private func orphanedWebhooks() throws(StoreError) -> StoreFinding {
    var finding = StoreFinding(check: .orphanedWebhooks)
    try inTransaction { () throws(StoreError) in
      guard let horizon = try horizon() else { return }
      let webhooks = try ids(
        "SELECT id FROM calls WHERE kind = \(CallKind.webhook.rawValue) AND state <= \(StateColumns.lastUnfinished)"
          + " AND created_at > \(horizon)")
      for id in webhooks {
        guard case .intact(let webhook) = try rows.call(id), let call = WebhookSubject.id(in: webhook.body) else {
          continue
        }
        if try rows.call(call) == nil, try log.read().calls[call] == nil {
          finding.add(webhook: id, aboutMissing: call)
        }
      }
    }
    return finding
  }

  /// The time of the end up to which calls may be missing: the stored one, or, in a store without it, that of the first
  /// call.
  private func horizon() throws(StoreError) -> Int64? {
    if let kept = try SettingTable(on: connection).value(of: Retention.goneBy) { return Int64(kept) }
    return try connection.value(
      "find the first end", "SELECT min(finished_at) FROM calls WHERE \(Conditions.finished)"
    ) { $0.integerIfPresent(0) } ?? nil
  }

  private func keptCounts() throws(StoreError) -> StoreFinding {
    var finding = StoreFinding(check: .keptCounts)
    try inTransaction { () throws(StoreError) in
      let kept = try connection.prepare(
        "compare the kept counts",
        """
        SELECT kind, state, sum(kept), sum(found) FROM (
          SELECT kind, state, count AS kept, 0 AS found FROM finished_counts
          UNION ALL SELECT kind, state, 0, count(*) FROM calls WHERE state >= 5 GROUP BY kind, state)
        GROUP BY kind, state HAVING sum(kept) <> sum(found)
        """)
      let counts = try kept.rows { row throws(StoreError) in
        (row.integer(2), row.code(0, as: CallKind.self), row.code(1, as: StoredState.self), row.integer(3))
      }
      for (kept, kind, state, found) in counts { finding.add(kept: kept, kind: kind, state: state, found: found) }
    }
    return finding
  }

  /// What is not sealed although there is a key.
  private func readable() throws(StoreError) -> [StoreWarning] {
    guard connection.vault.sealsAll else { return [] }
    let mark = "x'F5'"
    func count(_ sql: String) throws(StoreError) -> Int {
      try connection.value("look for readable values", "SELECT count(*) FROM \(sql)") { Int($0.integer(0)) } ?? 0
    }
    let warning = StoreWarning.readable(
      calls: try count("requests WHERE substr(spec, 1, 1) <> \(mark)"),
      attempts: try count("attempts WHERE truncated & 2 = 0 OR substr(failure_message, 1, 1) <> char(1)"),
      documents: try count("documents WHERE kind <> 'dataKey' AND substr(content, 1, 1) <> \(mark)"))
    return warning.map { [$0] } ?? []
  }

  private func ids(_ sql: String) throws(StoreError) -> [CallID] {
    try connection.prepare("check the store", sql).rows { row throws(StoreError) in
      CallID(rawValue: row.integer(0))
    }
  }
}
