internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialJSON
internal import RedialModel
internal import RedialStore

/// Webhook endpoints: stored, known to the engine, and disabled if their deliveries fail for too long.
struct EndpointChanges: Sendable {
  let known: WebhookEndpoints
  /// Signs the callbacks of calls; nil if there is none.
  let secret: WebhookSecret?
  let changes: Changes
  let engine: EngineLane
  let waiting: ReplyTables
  let observers: Observers
  let redaction: Redaction
  let clock: Clock
  let log: Log

  /// Adds an endpoint, with a secret that is shown only this once.
  func add(_ draft: WebhookEndpointDraft, _ exchange: Exchange) {
    let namespace = exchange.caller.namespace
    changes.makeDocuments(exchange) { (store: any DocumentStore) throws in
      guard !known.isFull(namespace) else {
        throw Problem(
          .tooManyWebhookEndpoints,
          detail: "The namespace \(namespace) has \(known.limit) webhook endpoints, which is the maximum. "
            + "Delete one first.")
      }
      let (secret, id) = (try Self.newSecret(), try Self.newID())
      let endpoint = WebhookEndpoint(id, draft, in: namespace, secret: secret, at: clock.now)
      try store.addSecret(endpoint.document)
      adopt(endpoint)
      return Answer.endpoint(endpoint, redaction, status: 201, secret: secret, now: clock.now)
    }
  }

  func change(
    _ id: String, _ exchange: Exchange,
    _ change: @escaping @Sendable (inout WebhookEndpoint, Timestamp) -> Void
  ) {
    let namespace = exchange.caller.namespace
    changes.makeDocuments(exchange) { (store: any DocumentStore) throws in
      let changed = try known.change(id, in: namespace, of: store) { endpoint in
        change(&endpoint, clock.now)
        return true
      }
      let endpoint = try Self.require(changed, id)
      adopt(endpoint)
      return Answer.endpoint(endpoint, redaction, now: clock.now)
    }
  }

  /// Gives an endpoint a new secret, which is shown only this once.
  func rotateSecret(of id: String, overlap: Duration, _ exchange: Exchange) {
    let namespace = exchange.caller.namespace
    changes.makeDocuments(exchange) { (store: any DocumentStore) throws in
      let secret = try Self.newSecret()
      let rotated = try known.change(id, in: namespace, of: store) { endpoint in
        endpoint.rotate(to: secret, overlap: overlap, at: clock.now)
        return true
      }
      let endpoint = try Self.require(rotated, id)
      adopt(endpoint)
      return Answer.endpoint(endpoint, redaction, secret: secret, now: clock.now)
    }
  }

  /// Removes an endpoint. Its remaining deliveries wait, and end at their deadlines.
  func remove(_ id: String, _ exchange: Exchange) {
    let caller = exchange.caller
    changes.makeDocuments(exchange) { (store: any DocumentStore) throws in
      if !known.damaged(for: caller).contains(id) { _ = try Self.require(known[id, in: caller.namespace], id) }
      try store.commit([.remove(.webhookEndpoint, id: id)])
      known.remove(id)
      engine.post(.subscriptions(known.subscriptions))
      return HTTPResponse(status: 204, headers: [], body: [])
    }
  }

  /// Sends a test webhook to an endpoint.
  func test(_ id: String, in namespace: Namespace, _ responder: HTTPResponder) throws(Problem) {
    let endpoint = try Self.require(known[id, in: namespace], id)
    guard endpoint.isEnabled else {
      throw Problem(
        .webhookEndpointDisabled,
        detail: "The webhook endpoint \(id) is disabled. Enable it first: PUT /v1/webhook-endpoints/\(id) with "
          + "\"enabled\": true.")
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("endpoint", id)
    writer.endObject()
    let test = Announcement(
      .webhookTest, data: writer.bytes, only: endpoint.asSubscription,
      reply: waiting.submissions.add(Submitter(kind: .webhookTest(responder), since: clock.now)))
    engine.post(.announce(test))
  }

  /// Answers with the secret that signs the callbacks of a namespace's calls.
  func showSecret(of namespace: Namespace, _ responder: HTTPResponder) throws(Problem) {
    guard let secret = secret?.derived(for: namespace) else { throw .noWebhookSecret }
    var response = Answer.json(capacity: 128) { writer in
      writer.beginObject()
      writer.field("namespace", namespace.name)
      writer.field("secret", secret.text)
      writer.endObject()
    }
    response.headers.append(HTTPHeader("cache-control", "no-store"))
    changes.queries.respond(responder, response)
  }

  static func require(_ endpoint: WebhookEndpoint?, _ id: String) throws(Problem) -> WebhookEndpoint {
    guard let endpoint else {
      throw Problem(
        .webhookEndpointNotFound,
        detail: "No webhook endpoint has the id \(id); GET /v1/webhook-endpoints lists them.")
    }
    return endpoint
  }

  // MARK: How deliveries come out

  /// Acts on the results of deliveries.
  func act(on findings: [WebhookEndpoints.Finding]) {
    for finding in findings {
      switch finding {
      case .recovered(let delivery): recordResult(of: delivery) { endpoint, _ in endpoint.failingSince = nil }
      case .failing(let delivery):
        recordResult(of: delivery) { endpoint, now in endpoint.failingSince = endpoint.failingSince ?? now }
      case .unfit(let delivery, let why):
        recordResult(of: delivery) { endpoint, now in
          // A client may have enabled it anew meanwhile.
          if why == .gone || endpoint.failingSince != nil { endpoint.disable(why, at: now) }
        }
      }
    }
  }

  /// Changes what is stored of an endpoint after a delivery to it.
  private func recordResult(
    of delivery: WebhookEndpoints.Delivery, _ change: @escaping @Sendable (inout WebhookEndpoint, Timestamp) -> Void
  ) {
    changes.store.afterwards { store in
      let now = clock.now
      var isNewlyDisabled = false
      do {
        let changed = try known.change(delivery.endpoint, of: store) { endpoint in
          isNewlyDisabled = false
          // It may have got another URL meanwhile, perhaps at another instance.
          guard endpoint.url == delivery.url else { return false }
          let before = endpoint
          change(&endpoint, now)
          isNewlyDisabled = before.isEnabled && !endpoint.isEnabled
          return isNewlyDisabled || endpoint.failingSince != before.failingSince
        }
        // Another instance may have removed it.
        guard let changed else { return }
        adopt(changed)
        if isNewlyDisabled { announceDisabled(changed, at: now) }
      } catch {
        // The next delivery finds the same.
        let reason = (error as? StoreError)?.message ?? "\(error)"
        log.write(.error, "webhookEndpointNotKept", [("id", delivery.endpoint), ("error", reason)])
      }
    }
  }

  private func announceDisabled(_ endpoint: WebhookEndpoint, at now: Timestamp) {
    var writer = JSONWriter(capacity: 512)
    endpoint.write(redaction, to: &writer, now: now)
    let data = writer.bytes
    engine.post(.announce(Announcement(.endpointDisabled, data: data, in: endpoint.namespace)))
    observers.tell(.endpointDisabled(endpoint, url: redaction.url(endpoint.url), json: data, at: now))
  }

  // MARK: What the engine knows

  /// Informs the engine of an endpoint's current state.
  private func adopt(_ endpoint: WebhookEndpoint) {
    known.set(endpoint)
    engine.post(.subscriptions(known.subscriptions))
  }

  private static func newSecret() throws(Problem) -> WebhookSecret {
    guard let secret = WebhookSecret.random() else { throw noRandomness }
    return secret
  }

  private static func newID() throws(Problem) -> CallID {
    guard let bytes = RandomBytes.make(8) else { throw noRandomness }
    return CallID(rawValue: bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) } & Int64.max)
  }

  static let noRandomness = Problem(
    .noRandomness, detail: "The system has no random bytes to give, so a secret cannot be made now. Try again.",
    retryAfter: 5)
}

extension Answer {
  /// A webhook endpoint.
  static func endpoint(
    _ endpoint: WebhookEndpoint, _ redaction: Redaction, status: Int = 200, secret: WebhookSecret? = nil,
    now: Timestamp
  ) -> HTTPResponse {
    var response = json(capacity: 512) { endpoint.write(redaction, to: &$0, secret: secret, now: now) }
    response.status = status
    if status == 201 { response.headers.append(HTTPHeader("location", "/v1/webhook-endpoints/\(endpoint.id)")) }
    if secret != nil { response.headers.append(HTTPHeader("cache-control", "no-store")) }
    return response
  }
}
