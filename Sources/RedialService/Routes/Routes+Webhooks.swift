internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialStore

/// Requests about webhook endpoints.
enum WebhookRoute: Sendable {
  case list
  case create
  case show(String)
  case replace(String)
  case delete(String)
  case rotate(String)
  case test(String)
  case deliveries(String)

  /// The routes of a path below `/v1/webhook-endpoints`, by method; nil if there are none.
  static func routes(_ path: ArraySlice<Substring>) -> [(HTTPMethod, WebhookRoute)]? {
    guard let id = path.first.map(String.init) else { return [(.get, .list), (.post, .create)] }
    switch Array(path.dropFirst()) {
    case []: return [(.get, .show(id)), (.put, .replace(id)), (.delete, .delete(id))]
    case ["rotate-secret"]: return [(.post, .rotate(id))]
    case ["test"]: return [(.post, .test(id))]
    case ["deliveries"]: return [(.get, .deliveries(id))]
    default: return nil
    }
  }
}

/// The webhook endpoints.
extension Routes {
  func serve(
    _ route: WebhookRoute, _ request: borrowing HTTPRequest, _ responder: HTTPResponder, _ caller: Caller
  ) throws(Problem) {
    if case .deliveries(let id) = route { return try deliveries(of: id, request.query, responder, caller) }
    let namespace = caller.namespace
    try noParameters(request.query)
    let now = runtime.clock.now
    switch route {
    case .list:
      runtime.respond(
        responder,
        Answer.json(capacity: 2048) { writer in
          writer.beginObject()
          writer.key("data")
          writer.beginArray()
          for endpoint in runtime.endpoints.all where endpoint.namespace == namespace {
            endpoint.write(to: &writer, now: now)
          }
          writer.endArray()
          writer.endObject()
        })
    case .create: runtime.addEndpoint(try draft(request), in: namespace, responder)
    case .show(let id):
      runtime.respond(
        responder, Answer.endpoint(try Runtime.require(runtime.endpoints[id, in: namespace], id), now: now))
    case .replace(let id):
      let draft = try draft(request)
      runtime.changeEndpoint(id, in: namespace, responder) { $0.update(draft, at: $1) }
    case .delete(let id): runtime.removeEndpoint(id, in: namespace, responder)
    case .rotate(let id):
      if !request.body.isEmpty { try checkContentType(request.header("content-type")) }
      let overlap = try SecretRotation.readOverlap(request.body.bindMemory(to: UInt8.self))
      runtime.rotateSecret(of: id, in: namespace, overlap: overlap, responder)
    case .test(let id): try runtime.testEndpoint(id, in: namespace, responder)
    case .deliveries: break
    }
  }

  private func draft(_ request: borrowing HTTPRequest) throws(Problem) -> WebhookEndpointDraft {
    try checkContentType(request.header("content-type"))
    return try WebhookEndpointDraft.read(request.body.bindMemory(to: UInt8.self), limits: limits)
  }

  /// The webhooks of an endpoint, which are calls of its own target.
  private func deliveries(
    of id: String, _ query: String?, _ responder: HTTPResponder, _ caller: Caller
  ) throws(Problem) {
    let endpoint = try Runtime.require(runtime.endpoints[id, in: caller.namespace], id)
    var wanted = try CallQuery(parameters: query)
    guard wanted.filter.target == nil, wanted.filter.kind == .call else {
      throw QueryParameters.problem(
        wanted.filter.target == nil ? "kind" : "target", "is not a parameter of this operation")
    }
    wanted.filter.kind = .webhook
    wanted.filter.namespace = endpoint.namespace
    wanted.filter.target = QualifiedKey.bare(endpoint.asSubscription.target)
    list(wanted, responder, caller)
  }
}
