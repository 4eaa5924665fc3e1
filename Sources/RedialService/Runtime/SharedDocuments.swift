internal import Dispatch
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// What all instances on one store read, and another may have changed: API keys, webhook endpoints, alerts, credentials, policies,
/// what targets hide; and the bulk operations, which the leader reads.
final class SharedDocuments: Sendable {
  private let shared: SharedParts
  private let store: StoreLane
  private let engine: EngineLane
  private let endpoints: WebhookEndpoints
  private let credentials: NamedCredentials
  private let reader: any CallReader
  private let leadership: Leadership
  private let followers: KeyFollowers
  private let log: Log

  init(
    _ shared: SharedParts, _ store: StoreLane, _ engine: EngineLane, _ endpoints: WebhookEndpoints,
    _ credentials: NamedCredentials, _ reader: any CallReader, _ leadership: Leadership, _ followers: KeyFollowers,
    _ log: Log
  ) {
    (self.shared, self.store, self.engine, self.endpoints) = (shared, store, engine, endpoints)
    self.credentials = credentials
    (self.reader, self.leadership, self.followers, self.log) = (reader, leadership, followers, log)
  }

  /// Reads what may have changed, on the store's lane. What cannot be read is read again each second until it can.
  /// Nobody tells this instance a second time that a key was revoked.
  ///
  /// - Parameter then: Called on the lane, whether it could be read or not.
  func read(_ kinds: Set<StoredDocument.Kind>, then: @escaping @Sendable () -> Void = {}) {
    store.afterwards { [weak self] store in
      do {
        try self?.read(kinds, in: store)
        self?.shared.unread.recordRead(kinds)
      } catch {
        // What was read last stays until then.
        self?.readAgain(kinds, (error as? StoreError)?.message ?? (error as? Problem)?.detail ?? "\(error)")
      }
      then()
    }
  }

  /// Refuses to show documents of the memory that may be old.
  func check() throws(Problem) {
    guard !shared.unread.isCurrent else { return }
    throw Problem(
      .storageUnavailable,
      detail: "The database does not say whether this has changed. Try again, or ask another instance.", retryAfter: 2)
  }

  private func readAgain(_ kinds: Set<StoredDocument.Kind>, _ reason: String) {
    let unread = shared.unread
    let (isNew, mustTake) = unread.recordUnread(kinds)
    if isNew { log.write(.error, "documentsNotRead", [("error", reason)]) }
    guard mustTake else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
      let kinds = unread.take()
      if !kinds.isEmpty { self?.read(kinds) }
    }
  }

  private func read(_ kinds: Set<StoredDocument.Kind>, in store: any DocumentStore) throws {
    try shared.damaged.look(for: kinds, in: store)
    if kinds.contains(.apiKey) {
      try shared.keys.load(from: store)
      followers.keysChanged(shared.keys)
    }
    if kinds.contains(.webhookEndpoint) {
      try endpoints.load(from: store)
      engine.post(.subscriptions(endpoints.subscriptions))
    }
    if kinds.contains(.alert) { try endpoints.alerts.load(from: store) }
    if kinds.contains(.credential) { try credentials.load(from: store) }
    if kinds.contains(.policy) { shared.policies.fill(from: try reader.policies()) }
    if kinds.contains(.targetPrivacy) { engine.post(.privacies(try reader.privacies())) }
    if kinds.contains(.operation) { try leadership.readOperations() }
  }
}
