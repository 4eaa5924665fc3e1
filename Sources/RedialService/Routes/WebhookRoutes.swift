internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The webhook endpoints, and the secret that signs the callbacks of calls.
struct WebhookRoutes: RouteGroup {
  let queries: Queries
  let clock: Clock
  let redaction: Redaction
  let calls: CallAnswers
  let endpoints: EndpointChanges
  /// Nil if no others can share the store.
  let instances: OtherInstances?
  let limits: CallDescriptor.Limits
  /// Maximum calls that are examined for one page.
  let maxScan: Int

  private static let all = "/v1/webhook-endpoints"
  private static let one = "/v1/webhook-endpoints/{id}"

  var routes: [Route] {
    [
      Route(.get, Self.all, .scope(.read), serve: list),
      Route(.post, Self.all, .scope(.admin), server: .leader, audit: .endpointCreated, serve: create),
      Route(.get, Self.one, .scope(.read), serve: show),
      Route(.put, Self.one, .scope(.admin), server: .leader, audit: .endpointChanged, serve: replace),
      Route(.delete, Self.one, .scope(.admin), server: .leader, audit: .endpointRemoved, serve: remove),
      Route(
        .post, Self.one + "/rotate-secret", .scope(.admin), server: .leader, audit: .endpointSecretRotated,
        serve: rotate),
      Route(.post, Self.one + "/test", .scope(.admin), server: .owner, audit: .endpointTested, serve: test),
      Route(.get, Self.one + "/deliveries", .scope(.read), serve: deliveries),
      Route(.get, "/v1/webhook-secret", .scope(.admin), audit: .webhookSecretRead, serve: showSecret),
    ]
  }

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let page = try ListPage(parameters: request.query)
    try instances?.documents.check()
    let (namespace, now) = (exchange.caller.namespace, clock.now)
    let shown = endpoints.known.all.filter { $0.namespace == namespace }
    let answer = try Answer.list(
      shown, page, .oldestFirst, unreadable: endpoints.known.damaged(for: exchange.caller),
      by: { ListOrder.key($0.createdAt, $0.id) }
    ) { $0.write(redaction, to: &$1, now: now) }
    queries.respond(exchange.responder, answer)
  }

  private func create(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let draft = try draft(request)
    try limits.requireKey(for: "The secret of the webhook endpoint")
    endpoints.add(draft, exchange)
  }

  private func show(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let response = Answer.endpoint(try endpoint(exchange), redaction, now: clock.now)
    queries.respond(exchange.responder, response)
  }

  private func replace(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let draft = try draft(request)
    try limits.requireKey(for: "The webhook endpoint")
    endpoints.change(String(exchange.part), exchange) {
      $0.update(draft, redaction, at: $1)
    }
  }

  private func remove(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    endpoints.remove(String(exchange.part), exchange)
  }

  private func rotate(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    if !request.body.isEmpty { try request.checkJSON() }
    let overlap = try SecretRotation.readOverlap(request.content)
    try limits.requireKey(for: "The secret of the webhook endpoint")
    endpoints.rotateSecret(of: String(exchange.part), overlap: overlap, exchange)
  }

  private func test(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    guard exchange.isForwarded, let documents = instances?.documents else { return try test(exchange) }
    // The instance that was asked may know a change of the endpoint that this one has not read.
    documents.read([.webhookEndpoint]) { [self] in
      do throws(Problem) {
        try test(exchange)
      } catch {
        queries.respond(exchange.responder, Answer.problem(error))
      }
    }
  }

  private func test(_ exchange: Exchange) throws(Problem) {
    // Another instance could only store it for the one that runs the endpoint's webhooks, where it would wait for its breaker.
    let target = try endpoint(exchange).asSubscription.target
    if instances?.owners.forward(exchange, toOwnerOf: target) == true { return }
    try endpoints.test(String(exchange.part), in: exchange.caller.namespace, exchange.responder)
  }

  /// The webhooks of an endpoint, which are calls of its own target.
  private func deliveries(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let endpoint = try endpoint(exchange)
    var wanted = try CallQuery(parameters: request.query, at: calls.clock.now)
    guard wanted.filter.target == nil, wanted.filter.kind == .call else {
      throw QueryParameters.problem(
        wanted.filter.target == nil ? "kind" : "target", "is not a parameter of this operation")
    }
    wanted.filter.kind = .webhook
    wanted.filter.namespace = endpoint.namespace
    wanted.filter.target = endpoint.asSubscription.target.bare
    wanted.scanLimit = maxScan
    calls.showPage(wanted, exchange.responder, exchange.caller)
  }

  private func showSecret(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try endpoints.showSecret(of: exchange.caller.namespace, exchange.responder)
  }

  private func endpoint(_ exchange: Exchange) throws(Problem) -> WebhookEndpoint {
    try instances?.documents.check()
    let id = String(exchange.part)
    return try EndpointChanges.require(endpoints.known[id, in: exchange.caller.namespace], id)
  }

  private func draft(_ request: borrowing HTTPRequest) throws(Problem) -> WebhookEndpointDraft {
    try request.checkJSON()
    return try WebhookEndpointDraft.read(request.content, limits: limits)
  }
}
