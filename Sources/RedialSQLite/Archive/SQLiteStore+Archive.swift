internal import Glibc
package import RedialStore
package import RedialCore
package import RedialModel

extension StoreImport {
  /// Opens a store, or creates it if there is none.
  ///
  /// - Parameter now: The time of the wall clock: expired keys are left out.
  /// - Throws: `inUse` if a service uses the store, because the service would not see the calls.
  package convenience init(
    path: String, payloads: PayloadRule = PayloadRule(), vault: Vault = .none, forms: DocumentForms = .ofStores,
    at now: Timestamp
  ) throws(StoreError) {
    self.init(into: try SQLiteArchiveDestination(path: path, payloads: payloads, vault: vault, forms: forms), at: now)
  }
}

/// A file that gets what an archive, or another store, has.
package final class SQLiteArchiveDestination: MigrationDestination {
  private let store: SQLiteStore

  /// Does nothing: a file always has a key, if need be beside it.
  package func check(_ item: StoreItem) throws(StoreError) {}

  /// Opens a store, or creates it if there is none. The lock on the file keeps others away.
  ///
  /// - Throws: `inUse` if a service uses the store, because the service would not see the calls.
  init(path: String, payloads: PayloadRule, vault: Vault, forms: DocumentForms) throws(StoreError) {
    store = try SQLiteStore(path: path, payloads: payloads, vault: vault, forms: forms)
    // A copy of a running service's store, and a killed service's store, have calls that only the log knows. Archived calls
    // go to the tables, and are looked for there.
    try store.fold()
  }

  /// Opens a store to get all of another one.
  ///
  /// - Throws: `unavailable` if it is of an older version, too: it is not changed then.
  package init(filling path: String, payloads: PayloadRule, vault: Vault = .none) throws(StoreError) {
    try WriteAheadFile.check(path)
    if (try RegularFile.size(path) ?? 0) > 0 { try Self.checkVersion(path) }
    // All responses are wanted that the other one has.
    var payloads = payloads
    payloads.keptResponses = .max
    store = try SQLiteStore(path: path, payloads: payloads, vault: vault, log: LogBounds(), isFilling: true)
  }

  package var place: String { store.file.path }

  package func known(_ ids: [CallID]) throws(StoreError) -> Set<CallID> {
    var known: Set<CallID> = []
    for id in ids where try store.calls.contains(id) { known.insert(id) }
    return known
  }

  package func insert(_ items: [StoreItem]) throws(StoreError) -> Int { try store.insert(items) }

  package func insert(_ calls: [ArchivedCall], at now: Timestamp) throws(StoreError) {
    try store.insert(calls, at: now)
  }

  package func finish() throws(StoreError) { try store.grantFreeTurns() }

  package func close() { store.close() }

  // MARK: A migration

  package func contents() throws(StoreError) -> any ArchiveSource {
    try StoreExport(path: place, state: nil, vault: store.vault, mayBeMarked: true)
  }

  package func mark() throws(StoreError) -> MigrationMark? {
    guard let text = try store.setting(MigrationMark.settingName) else { return nil }
    return try MigrationMark(text, at: place)
  }

  package func begin(_ mark: MigrationMark) throws(StoreError) {
    try store.setSetting(MigrationMark.settingName, to: mark.text)
  }

  package func end() throws(StoreError) {
    try store.transaction { () throws(StoreError) in try store.service.removeSetting(MigrationMark.settingName) }
  }

  /// Throws unless a file is a store of this version, before anything is changed in it.
  private static func checkVersion(_ path: String) throws(StoreError) {
    // A process that was killed while it made the file has left a journal. Only a writer can undo what that says, and then
    // the file is as it was before.
    let hasJournal = access(path + "-journal", F_OK) == 0
    let connection = try SQLiteConnection(path: path, role: hasJournal ? .writer : .reader)
    defer { connection.close() }
    connection.keepLogOnClose()
    if try Schema.isEmpty(connection) { return }
    try Schema.openForReading(connection)
  }
}

extension SQLiteStore {
  /// Puts archived calls into the store, see ``ArchiveDestination/insert(_:at:)``.
  ///
  /// No turn is given here, because the call that has it may come only later in the archive, such as a retried call, which
  /// is older: ``grantFreeTurns()`` gives turns when all calls are there.
  func insert(_ calls: [ArchivedCall], at now: Timestamp) throws(StoreError) {
    try transaction { () throws(StoreError) in
      for archived in calls {
        var call = archived
        if let key = call.orderingKey {
          let targetID = try targets.intern(call.record.spec.target)
          var hasTurn = call.goesOn
          if hasTurn { hasTurn = try turns.holder(targetID: targetID, key: key) == nil }
          if !hasTurn { call.awaitTurn() }
          try turns.add(
            call.record.id, targetID: targetID, namespace: try namespaces.intern(call.record.spec.namespace), key: key,
            hasTurn: hasTurn)
        }
        if let key = call.key, try isOutdated(key, at: now) { call.key = nil }
        let writes = call.writes
        try eviction.notice(writes)
        for write in writes { try apply(write) }
        try recordMissingSubject(of: call.record)
      }
    }
  }

  /// If a webhook arrives without its call, the call counts as removed by retention.
  private func recordMissingSubject(of call: CallRecord) throws(StoreError) {
    guard let subject = call.unfinishedSubject else { return }
    if try !calls.contains(subject) { try eviction.recordGone(by: call.createdAt) }
  }

  private func isOutdated(_ key: KeyRecord, at now: Timestamp) throws(StoreError) -> Bool {
    guard key.expiresAt > now else { return true }
    guard let known = try calls.find(key.key.name, at: now) else { return false }
    return known.call != key.call && known.expiresAt >= key.expiresAt
  }

  /// Gives each free turn to the oldest call that waits for it.
  fileprivate func grantFreeTurns() throws(StoreError) {
    try transaction { () throws(StoreError) in try turns.grantFree() }
  }
}
