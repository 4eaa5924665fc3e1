internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// What all instances on one store read, and another may have changed: API keys, webhook endpoints, policies.
extension Runtime {
  /// Reads what may have changed, on the store's lane.
  ///
  /// - Parameter then: Called on the lane, whether it could be read or not.
  func readDocuments(_ kinds: Set<SharedDocuments>, then: @escaping @Sendable () -> Void = {}) {
    storeLane?.afterwards { [weak self] store in
      do {
        try self?.read(kinds, in: store)
      } catch {
        // What was read last stays, and the next change is another reason to read.
        let reason = (error as? StoreError)?.message ?? (error as? Problem)?.detail ?? "\(error)"
        self?.log.write(.error, "documentsNotRead", [("error", reason)])
      }
      then()
    }
  }

  private func read(_ kinds: Set<SharedDocuments>, in store: any DocumentStore) throws {
    guard let shared else { return }
    if kinds.contains(.apiKeys) {
      try shared.keys.load(from: store)
      post(.namespaces(shared.keys.namespaces))
      events.dismissTheRefused()
    }
    if kinds.contains(.webhookEndpoints) {
      for endpoint in try endpoints.load(from: store) { notifyEngine(pausing: endpoint) }
      post(.subscriptions(endpoints.subscriptions))
    }
    if kinds.contains(.policies) { try shared.policies.fill(from: try reader.policies()) }
  }
}
