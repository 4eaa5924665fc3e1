internal import HTTPServer
internal import RedialModel

/// The named policies.
struct PolicyRoutes: RouteGroup {
  let queries: Queries
  let clock: Clock
  let changes: Changes
  /// Nil if no others can share the store.
  let instances: OtherInstances?
  let policies: StoredPolicies

  var routes: [Route] {
    [
      Route(.get, "/v1/policies", .scope(.read), serve: list),
      Route(.get, "/v1/policies/{name}", .scope(.read), serve: show),
      Route(.put, "/v1/policies/{name}", .scope(.operate), server: .leader, audit: .policyPut, serve: put),
      Route(.delete, "/v1/policies/{name}", .scope(.operate), server: .leader, audit: .policyRemoved, serve: remove),
    ]
  }

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let page = try ListPage(parameters: request.query)
    try instances?.documents.check()
    try queries.respond(exchange.responder, policies.list(page, of: exchange.caller.namespace))
  }

  private func show(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let name = try exchange.policyName()
    try instances?.documents.check()
    try queries.respond(exchange.responder, policies.show(name, request.query, exchange.caller.namespace))
  }

  /// Stores a policy, if the client's precondition holds.
  private func put(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let (name, namespace) = (try exchange.policyName(), exchange.caller.namespace)
    try request.checkNoParameters()
    try request.checkJSON()
    try StoredPolicy.check(request.content)
    let (text, conditions) = (Array(request.content), request.preconditions)
    changes.makeDocuments(exchange, failure: "changeFailed") { store in
      try policies.put(name, text, namespace, under: conditions, in: store, at: clock.now)
    }
  }

  private func remove(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let (name, namespace) = (try exchange.policyName(), exchange.caller.namespace)
    try request.checkNoParameters()
    let conditions = request.preconditions
    changes.makeDocuments(exchange, failure: "changeFailed") { store in
      try policies.remove(name, namespace, under: conditions, in: store, at: clock.now)
    }
  }
}
