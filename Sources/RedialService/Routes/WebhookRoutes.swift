internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The webhook endpoints, and the secret that signs the callbacks of calls.
struct WebhookRoutes: RouteGroup {
  let runtime: Runtime
  let limits: CallDescriptor.Limits
  /// Maximum calls that are examined for one page.
  let maxScan: Int

  private static let all = "/v1/webhook-endpoints"
  private static let one = "/v1/webhook-endpoints/{id}"

  var routes: [Route] {
    [
      Route(.get, Self.all, .scope(.read), serve: list),
      Route(.post, Self.all, .scope(.admin), server: .leader, serve: create),
      Route(.get, Self.one, .scope(.read), serve: show),
      Route(.put, Self.one, .scope(.admin), server: .leader, serve: replace),
      Route(.delete, Self.one, .scope(.admin), server: .leader, serve: remove),
      Route(.post, Self.one + "/rotate-secret", .scope(.admin), server: .leader, serve: rotate),
      Route(.post, Self.one + "/test", .scope(.admin), serve: test),
      Route(.get, Self.one + "/deliveries", .scope(.read), serve: deliveries),
      Route(.get, "/v1/webhook-secret", .scope(.admin), serve: showSecret),
    ]
  }

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try runtime.checkDocuments()
    let (namespace, now) = (exchange.caller.namespace, runtime.clock.now)
    let endpoints = runtime.endpoints.all.filter { $0.namespace == namespace }
    let redaction = runtime.redaction
    runtime.respond(exchange.responder, Answer.list(endpoints) { $0.write(redaction, to: &$1, now: now) })
  }

  private func create(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    runtime.addEndpoint(try draft(request), exchange)
  }

  private func show(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let response = Answer.endpoint(try endpoint(exchange), runtime.redaction, now: runtime.clock.now)
    runtime.respond(exchange.responder, response)
  }

  private func replace(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let draft = try draft(request)
    runtime.changeEndpoint(String(exchange.part), exchange) { [redaction = runtime.redaction] in
      $0.update(draft, redaction, at: $1)
    }
  }

  private func remove(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    runtime.removeEndpoint(String(exchange.part), exchange)
  }

  private func rotate(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    if !request.body.isEmpty { try request.checkJSON() }
    let overlap = try SecretRotation.readOverlap(request.content)
    runtime.rotateSecret(of: String(exchange.part), overlap: overlap, exchange)
  }

  private func test(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try runtime.testEndpoint(String(exchange.part), in: exchange.caller.namespace, exchange.responder)
  }

  /// The webhooks of an endpoint, which are calls of its own target.
  private func deliveries(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let endpoint = try endpoint(exchange)
    var wanted = try CallQuery(parameters: request.query)
    guard wanted.filter.target == nil, wanted.filter.kind == .call else {
      throw QueryParameters.problem(
        wanted.filter.target == nil ? "kind" : "target", "is not a parameter of this operation")
    }
    wanted.filter.kind = .webhook
    wanted.filter.namespace = endpoint.namespace
    wanted.filter.target = endpoint.asSubscription.target.bare
    wanted.scanLimit = maxScan
    runtime.answerWithCalls(wanted, exchange.responder, exchange.caller)
  }

  private func showSecret(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    runtime.showWebhookSecret(of: exchange.caller.namespace, exchange.responder)
  }

  private func endpoint(_ exchange: Exchange) throws(Problem) -> WebhookEndpoint {
    try runtime.checkDocuments()
    let id = String(exchange.part)
    return try Runtime.require(runtime.endpoints[id, in: exchange.caller.namespace], id)
  }

  private func draft(_ request: borrowing HTTPRequest) throws(Problem) -> WebhookEndpointDraft {
    try request.checkJSON()
    return try WebhookEndpointDraft.read(request.content, limits: limits)
  }
}
