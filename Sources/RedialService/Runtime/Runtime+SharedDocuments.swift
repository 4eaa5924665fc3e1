internal import Dispatch
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// What all instances on one store read, and another may have changed: API keys, webhook endpoints, policies; and the bulk
/// operations, which the leader reads.
extension Runtime {
  /// Reads what may have changed, on the store's lane. What cannot be read is read again each second until it can.
  /// Nobody tells this instance a second time that a key was revoked.
  ///
  /// - Parameter then: Called on the lane, whether it could be read or not.
  func readDocuments(_ kinds: Set<StoredDocument.Kind>, then: @escaping @Sendable () -> Void = {}) {
    storeLane?.afterwards { [weak self] store in
      do {
        try self?.read(kinds, in: store)
        self?.shared?.unread.noteRead(kinds)
      } catch {
        // What was read last stays until then.
        self?.readAgain(kinds, (error as? StoreError)?.message ?? (error as? Problem)?.detail ?? "\(error)")
      }
      then()
    }
  }

  /// Refuses to show documents of the memory that may be old.
  func checkDocuments() throws(Problem) {
    guard let shared, !shared.unread.isCurrent else { return }
    throw Problem(
      status: 503, code: Answer.storeUnreadable.code, title: Answer.storeUnreadable.title,
      detail: "The database does not say whether this has changed. Try again, or ask another instance.", retryAfter: 2)
  }

  private func readAgain(_ kinds: Set<StoredDocument.Kind>, _ reason: String) {
    guard let unread = shared?.unread else { return }
    let (isNew, mustTake) = unread.note(kinds)
    if isNew { log.write(.error, "documentsNotRead", [("error", reason)]) }
    guard mustTake else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
      let kinds = unread.take()
      if !kinds.isEmpty { self?.readDocuments(kinds) }
    }
  }

  private func read(_ kinds: Set<StoredDocument.Kind>, in store: any DocumentStore) throws {
    guard let shared else { return }
    if kinds.contains(.apiKey) {
      try shared.keys.load(from: store)
      post(.namespaces(shared.keys.namespaces))
      dismissTheRefused()
    }
    if kinds.contains(.webhookEndpoint) {
      try endpoints.load(from: store)
      post(.subscriptions(endpoints.subscriptions))
    }
    if kinds.contains(.policy) { try shared.policies.fill(from: try reader.policies()) }
    // One whose storing was in doubt is known to nobody else.
    if kinds.contains(.operation), let bulk = leadersBulk.withLock({ $0 }), let term = bulk.leadsIn {
      bulk.take(try reader.operations(), in: term)
    }
  }
}
