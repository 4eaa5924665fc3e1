internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// The API keys.
struct KeyRoutes: RouteGroup {
  let queries: Queries
  let clock: Clock
  let log: Log
  let changes: Changes
  let followers: KeyFollowers
  /// Nil if no others can share the store.
  let instances: OtherInstances?
  let keys: KeyRing

  var routes: [Route] {
    [
      Route(.get, "/v1/keys", .scope(.admin), serve: list),
      Route(.post, "/v1/keys", .scope(.admin), server: .leader, audit: .keyCreated, serve: create),
      Route(.delete, "/v1/keys/{id}", .scope(.admin), server: .leader, audit: .keyRevoked, serve: revoke),
    ]
  }

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let page = try ListPage(parameters: request.query)
    try instances?.documents.check()
    let answer = try Answer.list(
      keys.all(of: exchange.caller), page, .oldestFirst, unreadable: keys.damaged(for: exchange.caller),
      by: { ListOrder.key($0.createdAt, $0.id) }
    ) { $0.show(on: &$1) }
    queries.respond(exchange.responder, answer)
  }

  private func create(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let caller = exchange.caller
    try request.checkJSON()
    let draft = try APIKeyDraft.read(request.content)
    // The first key locks out all clients that have none.
    let namespace = draft.namespace ?? caller.namespace
    guard keys.isRequired || draft.scopes.contains(.admin) && namespace.isDefault else {
      throw Problem(
        .firstKeyMustBeAdmin,
        detail:
          "This would be the first API key, and it does not have the scope admin in the namespace default. From the "
          + "first key on, every request needs one; without this scope nobody could make another. Make one with it first."
      )
    }
    guard namespace == caller.namespace || caller.isOperator && caller.namespace.isDefault else {
      throw Problem(
        .otherNamespace,
        detail:
          "A key of the namespace \(caller.namespace) makes keys of that namespace only, and not of \(namespace). Use "
          + "a key of \(namespace), or the adminKey.")
    }
    changes.makeDocuments(exchange) { (store: any DocumentStore) throws in
      // If two clients make the first key, the store's lane runs one first; the other then needs a key.
      if let problem = keys.refusal(of: caller) ?? keys.refusal(of: caller, lacking: .admin)?.0 { throw problem }
      let now = clock.now
      guard let forgotten = KeyQuota.forgotten(for: namespace, among: keys.all, at: now) else {
        throw KeyQuota.problem(in: namespace)
      }
      guard let (key, text) = APIKey.make(draft, in: namespace, at: now) else {
        throw EndpointChanges.noRandomness
      }
      try store.addSecret(key.document)
      keys.set(key)
      // From the first key on everybody needs one, including listeners without a key. A later one ends nothing.
      followers.keysChanged(keys)
      log.write(
        .info, "apiKeyCreated", [("id", key.id), ("name", key.name), ("namespace", key.namespace.name)])
      // After the new one is made, so that there is always a key: a store without keys would admit everybody.
      for old in forgotten {
        do {
          try store.commit([.remove(.apiKey, id: old.id)])
        } catch {
          // The new key is stored, and only this answer has its secret. The next new one removes the old ones.
          log.write(.error, "documentNotKept", [("id", old.id), ("error", "\(error)")])
          break
        }
        keys.forget(old.id)
        log.write(.info, "apiKeyForgotten", [("id", old.id), ("name", old.name)])
      }
      var response = Answer.json(capacity: 256) { key.show(text, on: &$0) }
      response.status = 201
      response.headers.append(HTTPHeader("cache-control", "no-store"))
      return response
    }
  }

  private func revoke(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let (id, caller) = (String(exchange.part), exchange.caller)
    changes.makeDocuments(exchange) { (store: any DocumentStore) throws in
      if keys.damaged(for: caller).contains(id) {
        try store.commit([.remove(.apiKey, id: id)])
        keys.forget(id)
        return HTTPResponse(status: 204, headers: [], body: [])
      }
      guard var key = keys[id], KeyRing.isManaged(key, by: caller) else {
        throw Problem(.apiKeyNotFound, detail: "No API key has the id \(id); GET /v1/keys lists them.")
      }
      key.revokedAt = key.revokedAt ?? clock.now
      try store.commit([.put(key.document)])
      keys.set(key)
      followers.keysChanged(keys)
      log.write(.info, "apiKeyRevoked", [("id", id), ("name", key.name)])
      return Answer.json(capacity: 256) { key.show(on: &$0) }
    }
  }
}
