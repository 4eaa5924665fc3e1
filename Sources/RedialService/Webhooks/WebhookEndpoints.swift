internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// The webhook endpoints in the store, and the results of their deliveries.
final class WebhookEndpoints: Sendable {
  /// An attempt to deliver: the endpoint's id, and the URL that the attempt goes to.
  struct Delivery: Sendable {
    let endpoint: String
    let url: String
  }

  /// The consequence of a delivery's end.
  enum Finding: Sendable {
    /// A delivery succeeded after others had failed.
    case recovered(Delivery)
    /// A delivery failed after others had succeeded.
    case failing(Delivery)
    /// All its deliveries have failed for too long, or it has answered 410.
    case unfit(Delivery, WebhookEndpoint.Disabled)
  }

  private let endpoints = Mutex<[String: WebhookEndpoint]>([:])
  /// The ids of those that cannot be read. What goes to them waits.
  private let unreadable = Mutex<[String]>([])
  /// The deliveries in flight, by call.
  private let inFlight = Mutex<[UInt64: Delivery]>([:])
  private let count = Atomic<Int>(0)
  /// Who else receives webhooks, besides callbacks.
  let alerts = KnownAlerts()
  let limit: Int
  private let disableAfter: Duration

  /// - Parameters:
  ///   - limit: The maximum number of endpoints.
  ///   - disableAfter: How long every delivery may fail before an endpoint is disabled.
  init(limit: Int, disableAfter: Duration) {
    self.limit = limit
    self.disableAfter = disableAfter
  }

  /// Takes the endpoints from the store, in place of all others.
  func load(from store: any DocumentStore) throws(StoreError) {
    let stored = try store.documents(.webhookEndpoint).read(as: WebhookEndpoint.self)
    endpoints.withLock { $0 = Dictionary(stored.records.map { ($0.id, $0) }) { $1 } }
    unreadable.withLock { $0 = stored.damaged }
    count.store(stored.records.count, ordering: .relaxed)
  }

  /// The ids of those that cannot be read, for a caller. Whose they were is not known, so operators see them.
  func damaged(for caller: Caller) -> [String] {
    caller.isOperator && caller.namespace.isDefault ? unreadable.withLock { $0 } : []
  }

  /// Changes an endpoint as it is in the store, where another instance may have changed or removed it since it was read.
  ///
  /// - Parameter change: Returns whether it has changed anything. It may be called again, with what is in the store then.
  /// - Returns: The endpoint as it is in the store now; nil if there is none, or if it belongs to another namespace than
  ///   `namespace`, unless that is nil.
  /// - Throws: A `StoreError`.
  func change(
    _ id: String, in namespace: Namespace? = nil, of store: any DocumentStore, _ change: (inout WebhookEndpoint) -> Bool
  ) throws -> WebhookEndpoint? {
    var latest: WebhookEndpoint?
    let exists = try store.changeDocument(.webhookEndpoint, id: id) { content in
      var endpoint = try Self.read(content, of: id)
      latest = nil
      if let namespace, endpoint.namespace != namespace { return nil }
      let isChanged = change(&endpoint)
      latest = endpoint
      return isChanged ? endpoint.document.content : nil
    }
    return exists ? latest : nil
  }

  private static func read(_ content: [UInt8], of id: String) throws(StoreError) -> WebhookEndpoint {
    if let endpoint = WebhookEndpoint(document: content) { return endpoint }
    throw StoreError(
      kind: .corrupt, message: "The webhook endpoint \(id) in the store cannot be read; restore a backup.")
  }

  /// Whether a namespace has its maximum number.
  func isFull(_ namespace: Namespace) -> Bool {
    endpoints.withLock { $0.values.count { $0.namespace == namespace } >= limit }
  }
  /// All of them, the oldest first.
  var all: [WebhookEndpoint] {
    endpoints.withLock { $0.values.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) } }
  }
  /// The endpoints in the engine's form.
  var subscriptions: [WebhookSubscription] { all.compactMap(\.subscription) }

  subscript(_ id: String) -> WebhookEndpoint? { endpoints.withLock { $0[id] } }

  /// An endpoint of a namespace; nil for one of another namespace.
  subscript(_ id: String, in namespace: Namespace) -> WebhookEndpoint? {
    self[id].flatMap { $0.namespace == namespace ? $0 : nil }
  }

  func set(_ endpoint: WebhookEndpoint) {
    count.store(
      endpoints.withLock { endpoints in
        endpoints[endpoint.id] = endpoint
        return endpoints.count
      }, ordering: .relaxed)
  }

  func remove(_ id: String) {
    unreadable.withLock { $0.removeAll { $0 == id } }
    count.store(
      endpoints.withLock { endpoints in
        endpoints[id] = nil
        return endpoints.count
      }, ordering: .relaxed)
  }

  /// Who receives a webhook, and whose secrets sign it.
  enum Receiver: Sendable {
    /// An endpoint, with its current URL and its own secrets.
    case endpoint(url: String, [WebhookSecret])
    /// Nobody: its endpoint or alert was deleted.
    case gone
    /// Where an alert's messages go, with the namespace's secret.
    case alert(Alert)
    /// The URL in the webhook itself, with the namespace's secret: it is the callback of a call.
    case callback
  }

  /// Who receives the webhooks of a target.
  func receiver(ofTarget target: TargetKey, at now: Timestamp) -> Receiver {
    if let name = target.alert { return alerts[name, in: target.namespace].map { .alert($0) } ?? .gone }
    guard let id = target.endpoint else { return .callback }
    return self[id].map { .endpoint(url: $0.url, $0.signing(at: now)) } ?? .gone
  }

  /// Whether the webhooks to a target wait because its endpoint is disabled, or was removed.
  func holdBack(_ target: TargetKey) -> Bool {
    target.endpoint.map { self[$0].map { !$0.isEnabled } ?? true } ?? false
  }

  // MARK: How deliveries come out

  /// Records that a webhook's attempt begins.
  func began(_ call: UInt64, to target: TargetKey, at url: String) {
    guard count.load(ordering: .relaxed) > 0, let id = target.endpoint else { return }
    inFlight.withLock { $0[call] = Delivery(endpoint: id, url: url) }
  }

  /// Records the ends of attempts, if they are deliveries.
  func ended(_ results: [Transport.Ended], at now: Timestamp) -> [Finding] {
    guard count.load(ordering: .relaxed) > 0 else { return [] }
    let deliveries = inFlight.withLock { inFlight in
      inFlight.isEmpty
        ? [] : results.compactMap { ended in inFlight.removeValue(forKey: ended.id).map { (ended.result, $0) } }
    }
    return deliveries.compactMap { result, delivery in finding(result, of: delivery, at: now) }
  }

  private func finding(_ result: AttemptResult, of delivery: Delivery, at now: Timestamp) -> Finding? {
    // An attempt that this side interrupted says nothing about the endpoint, nor does one at a URL that it no longer has.
    guard let endpoint = self[delivery.endpoint], endpoint.url == delivery.url, endpoint.isEnabled,
      ![.interrupted, .cancelled, .localFault].contains(result.outcome)
    else { return nil }
    if result.outcome == .answered, let status = result.status, (200...299).contains(status) {
      return endpoint.failingSince == nil ? nil : .recovered(delivery)
    }
    if result.status == 410 { return .unfit(delivery, .gone) }
    guard let since = endpoint.failingSince else { return .failing(delivery) }
    return now - since >= disableAfter ? .unfit(delivery, .failing) : nil
  }
}
