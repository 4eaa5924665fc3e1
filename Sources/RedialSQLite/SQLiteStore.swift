package import Dispatch
internal import RedialLanes
package import RedialStore
package import RedialCore
package import RedialModel

/// Calls in one SQLite file. Only this process writes to it.
///
/// The write-ahead log is synced at every commit (`synchronous = FULL`), so a change survives a crash of the machine
/// once its method has returned. One change costs as much as hundreds: commit many at a time.
package final class SQLiteStore: CallStore {
  /// Whether only the reserve is left, or less.
  package var isShortOfRoom: Bool { file.isShortOfRoom }

  let file: SQLiteFile
  /// The log that changes of calls go to first.
  let log: CallLog
  let notices: StoreNotices
  let counts: FinishedCounts
  let targets: TargetTable
  let namespaces: NamespaceTable
  let calls: CallTables
  let turns: TurnTable
  let search: ClaimQueries
  let leases: StoreLease
  let time: TimeTable
  let eviction: Eviction
  let pages: PageRelease
  let service: ServiceTables
  let vault: Vault
  /// What seals calls again; nil if that was never wanted.
  var rekeyRows: RekeyRows?

  /// Opens the store in a file. The file and its folder are created if they do not exist.
  ///
  /// - Parameters:
  ///   - payloads: Which payloads are kept, and how.
  ///   - reserveBytes: The room to reserve on the disk, see ``isShortOfRoom``; nil to leave it unchanged.
  ///   - vault: Seals what is stored.
  ///   - forms: How documents are read, before an older file is upgraded.
  ///   - notices: Gets what the store reports by itself.
  ///   - syncFailed: Called, on any thread, with the first fsync that failed. From then on the store refuses everything:
  ///     the process must end at once, by `_exit`, and be started again. See ``StoreError/Kind/syncFailed``.
  /// - Throws: `inUse` if another process, or this one, has it open; `corrupt` if the file is not a store, or is one
  ///   of a newer version (it is not changed then); `syncFailed` if the files cannot be made durable.
  package convenience init(
    path: String, payloads: PayloadRule = PayloadRule(), vault: Vault = .none, forms: DocumentForms = .ofStores,
    reserveBytes: Int? = nil,
    notices: StoreNotices = StoreNotices(),
    syncFailed: @escaping @Sendable (StoreError) -> Void = { _ in }
  ) throws(StoreError) {
    try self.init(
      path: path, payloads: payloads, vault: vault, forms: forms, reserveBytes: reserveBytes, notices: notices,
      log: LogBounds(), syncFailed: syncFailed)
  }

  /// The same with other bounds of the log.
  ///
  /// - Parameter isFilling: Whether it may be only partly filled, because a migration goes on.
  init(
    path: String, payloads: PayloadRule = PayloadRule(), vault: Vault = .none, forms: DocumentForms = .ofStores,
    reserveBytes: Int? = nil,
    notices: StoreNotices = StoreNotices(),
    log bounds: LogBounds, isFilling: Bool = false, syncFailed: @escaping @Sendable (StoreError) -> Void = { _ in }
  ) throws(StoreError) {
    let file = try SQLiteFile(
      path: path, vault: vault, forms: forms, reserveBytes: reserveBytes, notices: notices,
      syncFailed: syncFailed)
    let connection = file.connection
    self.file = file
    self.notices = notices
    self.vault = vault
    let documents = try DocumentTable(on: connection)
    // The log and all tables may have sealed values.
    let old = try vault.load(documents.all(.dataKey))
    let settings = try SettingTable(on: connection)
    let sealing = try settings.sealing(with: vault, documents)
    if let key = vault.missingKeys.first, sealing != .secrets, try documents.hasSealedPayloads() {
      throw Vault.missing(key, "Calls in \(file.path) are encrypted.")
    }
    vault.read { [path = file.path] () throws(StoreError) in try StoredDataKeys.read(path) }
    counts = try FinishedCounts(on: connection)
    targets = try TargetTable(on: connection, documents)
    namespaces = try NamespaceTable(on: connection)
    calls = try CallTables(on: connection, payloads: payloads, counts: counts, documents)
    var turns = try TurnTable(on: connection)
    search = try ClaimQueries(on: connection)
    leases = try StoreLease(on: connection)
    let isMarked = try settings.value(of: MigrationMark.settingName) != nil
    guard isFilling || !isMarked else { throw MigrationMark.refusal(of: file.path) }
    time = TimeTable(settings: settings)
    eviction = try Eviction(on: connection, settings: settings)
    pages = try PageRelease(on: connection)
    service = try ServiceTables(on: connection, settings: settings, documents)
    var bounds = bounds
    // All of it is written to the tables at once.
    bounds.mostBytes = min(bounds.mostBytes, file.transactionBytes)
    let found = try CallLog(on: connection, after: try search.lastID(), bounds)
    log = found
    turns.fold = { [calls] id throws(StoreError) in try found.fold([id], into: calls) }
    self.turns = turns
    let session = try file.begin { [targets, leases, service] () throws(StoreError) in
      for key in old { try documents.put(key, isNew: false) }
      if let sealing { try settings.set(SealedContents.settingName, to: sealing.rawValue) }
      try service.sealSecrets()
      try targets.completeShards()
      return try leases.takeAll()
    }
    vault.didCommit()
    leases.didJoin(session)
  }

  /// From now on the store's connection belongs to this queue.
  package func pass(to queue: DispatchQueue) { file.connection.pass(to: .queue(queue)) }

  /// The call that was accepted under a key which has not expired.
  package func find(key: IdempotencyName, at now: Timestamp) throws(StoreError) -> KeyRecord? {
    if let logged = log.key(key), logged.expiresAt > now { return logged }
    return try calls.find(key, at: now)
  }

  /// A value of the service, stored under a name.
  package func setting(_ name: String) throws(StoreError) -> String? {
    try service.setting(name)
  }

  /// Stores a value of the service under a name.
  package func setSetting(_ name: String, to value: String) throws(StoreError) {
    try transaction { () throws(StoreError) in try service.set(name, to: value) }
  }

  /// Stores a value of the service under a name, unless there is one that can be read; the value that is stored then.
  package func keepSetting(_ name: String, orElse value: String) throws(StoreError) -> String {
    try transaction { () throws(StoreError) in
      do throws(StoreError) {
        if let kept = try service.setting(name) { return kept }
      } catch {
        guard error.kind == .corrupt else { throw error }
      }
      try service.set(name, to: value)
      return value
    }
  }

  /// Closes the store; later requests fail.
  package func close() {
    // If this fails, the next process finds the log.
    if log.isWritten { try? transaction { () throws(StoreError) in try log.empty(into: calls) } }
    file.close()
  }

  /// Runs a transaction, and lets all parts know how it ended.
  ///
  /// - Parameter isFenced: Whether it is refused without a valid lease.
  func transaction<Result>(isFenced: Bool = true, _ body: () throws(StoreError) -> Result) throws(StoreError) -> Result
  {
    do {
      let result = try file.transaction { () throws(StoreError) in
        if isFenced { try leases.check() }
        let result = try body()
        try log.write(calls)
        try counts.write()
        return result
      }
      log.didCommit()
      targets.didCommit()
      namespaces.didCommit()
      vault.didCommit()
      file.didCommit()
      return result
    } catch {
      log.didRollBack()
      targets.didRollBack()
      namespaces.didRollBack()
      vault.didRollBack()
      counts.forget()
      time.forget()
      file.didRollBack(error)
      throw error
    }
  }
}
