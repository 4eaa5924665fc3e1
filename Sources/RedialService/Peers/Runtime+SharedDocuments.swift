internal import Dispatch
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Which documents could not be read when they had changed, and have to be read again; and until when all changes are known.
final class UnreadDocuments: Sendable {
  private let state = Mutex((kinds: Set<StoredDocument.Kind>(), isWaiting: false, heard: ContinuousClock.now))

  /// How long the database may be silent until what is in memory is not shown any more.
  private static let patience = Duration.seconds(2)

  /// The database has said which documents had changed, when it was asked at that moment.
  func noteHeard(_ asked: ContinuousClock.Instant) {
    state.withLock { $0.heard = asked }
  }

  /// Whether what is in memory is what the database has, or had a moment ago.
  var isCurrent: Bool { state.withLock { $0.kinds.isEmpty && ContinuousClock.now - $0.heard <= Self.patience } }

  /// These could not be read.
  ///
  /// - Returns: Whether this is news, and whether the caller has to ``take()`` them later.
  func note(_ kinds: Set<StoredDocument.Kind>) -> (isNew: Bool, mustTake: Bool) {
    state.withLock { state in
      let result = (!kinds.isSubset(of: state.kinds), !state.isWaiting)
      state.kinds.formUnion(kinds)
      state.isWaiting = true
      return result
    }
  }

  /// These were read.
  func noteRead(_ kinds: Set<StoredDocument.Kind>) {
    state.withLock { $0.kinds.subtract(kinds) }
  }

  /// Those that have to be read now.
  func take() -> Set<StoredDocument.Kind> {
    state.withLock { state in
      state.isWaiting = false
      return state.kinds
    }
  }
}

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
