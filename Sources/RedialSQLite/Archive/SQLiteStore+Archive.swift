package import RedialStore
package import RedialCore
package import RedialModel

extension StoreImport {
  /// Opens a store, or creates it if there is none.
  ///
  /// - Parameter now: The time of the wall clock: expired keys are left out.
  /// - Throws: `inUse` if a service uses the store, because the service would not see the calls.
  package convenience init(
    path: String, payloads: PayloadRule = PayloadRule(), at now: Timestamp
  ) throws(StoreError) {
    let store = try SQLiteStore(path: path, payloads: payloads)
    // A copy of a running service's store, and a killed service's store, have calls that only the log knows. Archived calls
    // go to the tables, and are looked for there.
    try store.fold()
    self.init(into: SQLiteArchiveDestination(store), at: now)
  }
}

/// A file that gets archived calls.
private final class SQLiteArchiveDestination: ArchiveDestination {
  private let store: SQLiteStore

  init(_ store: SQLiteStore) {
    self.store = store
  }

  func known(_ ids: [CallID]) throws(StoreError) -> Set<CallID> {
    var known: Set<CallID> = []
    for id in ids where try store.calls.contains(id) { known.insert(id) }
    return known
  }

  func insert(_ calls: [ArchivedCall], at now: Timestamp) throws(StoreError) {
    try store.insert(calls, at: now)
  }

  func finish() throws(StoreError) {
    try store.grantFreeTurns()
    store.close()
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
        for write in call.writes { try apply(write) }
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
