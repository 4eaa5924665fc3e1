package import RedialCore
package import RedialModel
package import RedialStore
internal import Synchronization

/// Calls in a PostgreSQL database, which several instances share.
///
/// Work is made on a connection of its own, two at a time, and its outcome comes later, see ``report(to:)``. After a lost
/// connection the store asks the database on the next one which works were made. All other methods use a second
/// connection, and return when what they change is on disk.
package final class PostgresStore: CallStore, Sendable {
  let side: SideConnection
  private let lookups: SideConnection
  let lane: PostgresLane
  let notices: StoreNotices
  let clock: (@Sendable () -> Timestamp)?
  let payloads: PayloadRule
  let vault: Vault
  let isShared: Bool
  let shown: ShownByClaims
  let size = Mutex(SizeWatch())
  let heartbeat = Mutex<Heartbeat?>(nil)
  private let commits: CommitWorks

  /// Opens the store in a database. Its tables are made if there are none.
  ///
  /// - Parameters:
  ///   - payloads: Which payloads are kept, and how.
  ///   - sharing: Whether this process ends all others' sessions and takes every shard at once; for tools, and for a
  ///     single instance. By default it shares the database, and must request a lease.
  ///   - clock: The time by which leases end, for tests; nil for the database's.
  ///   - notices: Gets what the store reports by itself.
  /// - Throws: `unavailable` if the database cannot be reached, or has settings that would lose accepted calls;
  ///   `corrupt` if its tables are of another version.
  package init(
    _ settings: PostgresSettings, payloads: PayloadRule = PayloadRule(), sharing: StoreSharing = .shared,
    clock: (@Sendable () -> Timestamp)? = nil, notices: StoreNotices = StoreNotices()
  ) throws(StoreError) {
    try settings.check()
    let ledgers = KnownLedgers()
    let side = SideConnection(settings, made: { ledgers.made($0, in: $1) })
    let shown = ShownByClaims()
    self.side = side
    self.shown = shown
    self.payloads = payloads
    vault = settings.vault
    self.clock = clock
    self.notices = notices
    isShared = sharing == .shared
    let commits = CommitWorks(numbers: NumberTable(settings), payloads: payloads)
    self.commits = commits
    // The lane waits for this connection: it is not the one that does slow work, such as retention.
    let lookups = commits.numbers.side
    self.lookups = lookups
    try side.use { connection throws(StoreError) in
      try PostgresSchema.open(connection, schema: settings.schema, forms: settings.forms)
    }
    try Self.checkUse(side)
    let keys = try StoredDataKeys.all(side)
    let rewrapped = try vault.load(keys)
    StoredDataKeys.prepare(settings)
    vault.watch { notices.post(.keyMissing($0)) }
    try StoredDataKeys.rewrap(rewrapped, in: keys, side)
    var standing = PostgresLane.Standing()
    if !isShared { standing = try Self.takeAll(side, at: clock?()) }
    lane = try PostgresLane(
      settings, standing,
      PostgresLane.Needs(
        now: { clock?() }, meet: { commits.numbers.meet($0) },
        taken: { keys throws(StoreError) in try Self.taken(keys, lookups) },
        stored: { calls throws(StoreError) in try Self.stored(calls, lookups) },
        renewKeys: { [vault = settings.vault] () throws(StoreError) in try vault.readAgain() },
        didShow: { shown.remember($0) }, notices: notices, largest: payloads.streamBodiesAbove,
        ledgers: ledgers))
    try sealSecrets()
    if isShared, try side.run([PostgresStatement(Self.standby)])[0].integer(0, 0) == 1 { notices.post(.noStandby) }
  }

  private static let standby = PostgresQuery(
    "standby", "look for a standby", "SELECT \(ServerInspection.lacksStandby)")

  /// Throws if the store is only partly filled, or is being copied into another one.
  private static func checkUse(_ side: SideConnection) throws(StoreError) {
    let found = try side.run([PostgresStatement(IdleQueries.obstacles)])[0]
    if found.integer(0, 0) > 0 { throw MigrationMark.refusal(of: side.settings.place) }
    guard found.integer(0, 1) == 0 else {
      throw StoreError(
        kind: .inUse,
        message:
          "`redial migrate` or `redial import` is copying \(side.settings.place), or into it. Start the service when "
          + "that has ended: after a migration on the new store.")
    }
  }

  /// Makes the tables if there are none, or upgrades them, as the role that is to own them, and lets another role work with
  /// them: one that can neither change nor drop them. The service then uses that one.
  ///
  /// - Returns: What was done.
  /// - Throws: `unavailable` if the database cannot be reached, if this role must not make them, or if there is no such
  ///   role to grant their use to; `corrupt` if there are tables of another version that cannot be upgraded.
  @discardableResult
  package static func makeTables(
    _ settings: PostgresSettings, granting role: String?
  ) throws(StoreError) -> PostgresTables {
    try settings.check()
    let side = SideConnection(settings)
    defer { side.close() }
    var tables = PostgresTables.existing
    try side.use { connection throws(StoreError) in
      tables = try PostgresSchema.open(connection, schema: settings.schema, forms: settings.forms)
      if let role { try PostgresSchema.grant(to: role, on: connection, schema: settings.schema) }
    }
    return tables
  }

  /// Sets who receives the outcomes of work.
  package func report(to listener: @escaping @Sendable (StoreOutcome) -> Void) {
    lane.report(to: listener)
  }

  /// Submits work. Its outcome comes later, unless there is nothing to do.
  package func submit(_ work: StoreWork, as sequence: Int64, _ trial: StoreTrial) -> StoreOutcome? {
    if case .commit(let writes) = work, writes.isEmpty { return .made(.done) }
    lane.post(job(work, sequence, trial))
    return nil
  }

  /// Ends the connections. Works without an outcome get none; the next connection of the session would learn it.
  package func close() {
    heartbeat.withLock { $0 }?.close()
    lane.close()
    side.close()
    lookups.close()
  }

  // MARK: Work

  private func job(_ work: StoreWork, _ sequence: Int64, _ trial: StoreTrial) -> LaneJob {
    // What was made needs no statements to be made.
    guard case .commit(let writes) = work, trial.kind != .answer else {
      return LaneJob(
        work: work, sequence: sequence, trial: trial,
        statements: LaneJob.statements(work, largest: payloads.streamBodiesAbove))
    }
    do throws(StoreError) {
      return try commits.job(writes, sequence, trial, shards: lane.standing.withLock { $0.shards })
    } catch {
      return LaneJob(work: work, sequence: sequence, trial: trial, refusal: error)
    }
  }

  /// The statements of changes outside of the chain.
  func statements(
    _ writes: FoldedWrites, _ proof: [PostgresStatement]
  ) throws(StoreError) -> [PostgresStatement] {
    try commits.statements(writes, proof, shards: lane.standing.withLock { $0.shards }).statements(writes)
  }

  /// Of the keys of a refused commit, those under which other calls were accepted.
  private static func taken(_ keys: [KeyRecord], _ side: SideConnection) throws(StoreError) -> [TakenKey] {
    var find = PostgresStatement(ClaimQueries.keys)
    find.add(texts: keys.map(\.key.name.text))
    find.add(keys.map(\.createdAt.microseconds).min() ?? 0)
    let found = KeyRows.records(of: keys.map(\.key.name), try side.run([find])[0])
    return zip(keys, found).compactMap { submitted, earlier in
      guard let earlier, earlier.call != submitted.call, earlier.expiresAt > submitted.createdAt else { return nil }
      return TakenKey(submitted: submitted, earlier: earlier)
    }
  }

  /// Of the calls of a refused commit, those that are in the store.
  private static func stored(_ calls: [CallID], _ side: SideConnection) throws(StoreError) -> StoredFirst {
    var find = PostgresStatement(ClaimQueries.stored)
    find.add(calls.map(\.rawValue))
    let found = try side.run([find])[0]
    func ids(_ begun: Int64) -> [CallID] {
      (0..<found.count).filter { found.integer($0, 1) == begun }.map { CallID(rawValue: found.integer($0, 0)) }
    }
    return StoredFirst(waiting: ids(0), begun: ids(1))
  }

  /// Ends all sessions, and gives every shard to a new one without an end.
  private static func takeAll(
    _ side: SideConnection, at now: Timestamp?
  ) throws(StoreError) -> PostgresLane.Standing {
    let id = LeaseQueries.randomID()
    var (join, take) = (PostgresStatement(LeaseQueries.join), PostgresStatement(LeaseQueries.takeAll))
    join.add(id)
    join.add(now?.microseconds)
    join.add(nil as Int64?)
    join.add(0)
    join.add(text: nil)
    join.add(text: "")
    take.add(id)
    let rows = try side.run([
      PostgresStatement(LeaseQueries.lock), PostgresStatement(LeaseQueries.endAll), join, take,
    ])
    return PostgresLane.Standing(
      session: LeaseSession(id: id, instance: Int(rows[2].integer(0, 0))), shards: .all)
  }
}
