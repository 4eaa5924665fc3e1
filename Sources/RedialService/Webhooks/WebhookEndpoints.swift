internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import Synchronization

/// The webhook endpoints, as the store has them, and how their deliveries come out.
final class WebhookEndpoints: Sendable {
  /// What follows from a delivery's end.
  enum Finding: Sendable {
    /// It got through, after others had not.
    case recovered(String)
    /// It failed, and the one before had not.
    case failing(String)
    /// All its deliveries have failed for too long, or it has answered 410.
    case unfit(String, WebhookEndpoint.Disabled)
  }

  private let endpoints = Mutex<[String: WebhookEndpoint]>([:])
  /// The endpoints of deliveries in flight, by call.
  private let inFlight = Mutex<[UInt64: String]>([:])
  private let count = Atomic<Int>(0)
  private let limit: Int
  private let disableAfter: Duration

  /// - Parameters:
  ///   - limit: The most endpoints.
  ///   - disableAfter: For how long every delivery may fail before an endpoint is disabled.
  init(limit: Int, disableAfter: Duration) {
    self.limit = limit
    self.disableAfter = disableAfter
  }

  /// Takes over what the store has.
  func load(from store: any DocumentStore) throws(StoreError) {
    for (id, content) in try store.documents(.webhookEndpoint) {
      guard let endpoint = WebhookEndpoint(document: content) else {
        throw StoreError(
          kind: .corrupt, message: "The webhook endpoint \(id) in the store cannot be read; restore a backup.")
      }
      set(endpoint)
    }
  }

  /// Whether a namespace has as many as it may.
  func isFull(_ namespace: Namespace) -> Bool {
    endpoints.withLock { $0.values.count { $0.namespace == namespace } >= limit }
  }
  /// All of them, the oldest first.
  var all: [WebhookEndpoint] { endpoints.withLock { $0.values.sorted { $0.id < $1.id } } }
  /// What the engine must know.
  var subscriptions: [WebhookSubscription] { all.compactMap(\.subscription) }

  subscript(_ id: String) -> WebhookEndpoint? { endpoints.withLock { $0[id] } }

  /// The endpoint of a namespace; nil for one of another, too.
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
    count.store(
      endpoints.withLock { endpoints in
        endpoints[id] = nil
        return endpoints.count
      }, ordering: .relaxed)
  }

  /// Whose secrets sign a webhook.
  enum Signers: Sendable {
    /// An endpoint's own.
    case endpoint([WebhookSecret])
    /// Nobody's any longer: the endpoint that it would go to was deleted.
    case gone
    /// Its namespace's: it is the callback of a call.
    case callback
  }

  /// Whose secrets sign what goes to a target.
  func signers(ofTarget target: String, at now: Timestamp) -> Signers {
    guard let id = Self.endpoint(ofTarget: target) else { return .callback }
    return self[id].map { .endpoint($0.signing(at: now)) } ?? .gone
  }

  private static func endpoint(ofTarget key: String) -> String? {
    let target = QualifiedKey.bare(key)
    guard target.hasPrefix(WebhookSubscription.targetPrefix + WebhookEndpoint.prefix) else { return nil }
    return String(target.dropFirst(WebhookSubscription.targetPrefix.count))
  }

  // MARK: How deliveries come out

  /// Notes that a webhook's attempt begins.
  func began(_ call: UInt64, to target: String) {
    guard count.load(ordering: .relaxed) > 0, let id = Self.endpoint(ofTarget: target) else { return }
    inFlight.withLock { $0[call] = id }
  }

  /// Judges the ends of attempts, those of deliveries among them.
  func ended(_ results: [TransportResult], at now: Timestamp) -> [Finding] {
    guard count.load(ordering: .relaxed) > 0 else { return [] }
    let deliveries = inFlight.withLock { inFlight in
      inFlight.isEmpty
        ? [] : results.compactMap { result in inFlight.removeValue(forKey: result.id).map { (result, $0) } }
    }
    return deliveries.compactMap { result, id in finding(result, of: id, at: now) }
  }

  private func finding(_ result: TransportResult, of id: String, at now: Timestamp) -> Finding? {
    // What this side cut off says nothing about the other.
    guard let endpoint = self[id], endpoint.disabled == nil,
      ![.interrupted, .cancelled, .localFault].contains(result.outcome)
    else { return nil }
    if let status = result.status, (200...299).contains(status) {
      return endpoint.failingSince == nil ? nil : .recovered(id)
    }
    if result.status == 410 { return .unfit(id, .gone) }
    guard let since = endpoint.failingSince else { return .failing(id) }
    return now - since >= disableAfter ? .unfit(id, .failing) : nil
  }
}
