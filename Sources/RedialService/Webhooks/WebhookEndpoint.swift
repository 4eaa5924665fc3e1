internal import RedialCore
internal import RedialModel
internal import RedialJSON

/// An endpoint for webhooks: its URL, its events, and the secrets that sign them.
struct WebhookEndpoint: Sendable, Equatable {
  /// A secret, and the time until which it signs; nil for the latest one.
  struct Secret: Sendable, Equatable {
    var id = ""
    var secret = WebhookSecret.unset
    var createdAt = Timestamp.epoch
    var expiresAt: Timestamp?
  }

  /// Why an endpoint gets no webhooks.
  enum Disabled: String, Sendable {
    /// A client disabled it.
    case byRequest
    /// Every delivery has failed for too long.
    case failing
    /// It answered 410 Gone.
    case gone
  }

  private(set) var id = ""
  /// The namespace of its events.
  private(set) var namespace = Namespace.default
  private(set) var createdAt = Timestamp.epoch
  var url = ""
  private var description = ""
  private var events: [String] = []
  private var targets: [String] = []
  /// The newest first; at least one.
  private var secrets: [Secret] = []
  /// Why it is disabled; nil if it is not.
  private(set) var disabledReason: Disabled?
  private var disabledAt: Timestamp?
  /// The time since which every delivery has failed.
  var failingSince: Timestamp?

  /// The maximum number of secrets that sign at a time; a further rotation drops the oldest.
  private static let maxSecrets = 5

  init(
    _ id: CallID, _ draft: WebhookEndpointDraft, in namespace: Namespace, secret: WebhookSecret, at now: Timestamp
  ) {
    self.namespace = namespace
    self.id = WebhookSubscription.idPrefix + id.characters
    createdAt = now
    (url, description, targets) = (draft.url, draft.description, draft.targets)
    events = draft.events.map(\.rawValue)
    secrets = [Secret(id: "1", secret: secret, createdAt: now)]
    if !draft.isEnabled { disable(.byRequest, at: now) }
  }

  /// Applies a client's changes. An endpoint that is enabled, or gets another URL, starts without earlier failures.
  ///
  /// - Parameter redaction: How clients see the URL. One that sends what it has seen leaves the URL as it is.
  mutating func update(_ draft: WebhookEndpointDraft, _ redaction: Redaction = Redaction(), at now: Timestamp) {
    if draft.url != redaction.url(url), draft.url != url { (url, failingSince) = (draft.url, nil) }
    (description, events, targets) = (draft.description, draft.events.map(\.rawValue), draft.targets)
    guard draft.isEnabled else { return disable(.byRequest, at: now) }
    if !isEnabled { (disabledReason, disabledAt, failingSince) = (nil, nil, nil) }
  }

  /// Gets no webhooks from now on.
  mutating func disable(_ why: Disabled, at now: Timestamp) {
    if isEnabled { (disabledReason, disabledAt) = (why, now) }
  }

  /// Whether it gets webhooks.
  var isEnabled: Bool { disabledReason == nil }

  /// Signs with a new secret from now on, and with the earlier ones for that much longer.
  mutating func rotate(to secret: WebhookSecret, overlap: Duration, at now: Timestamp) {
    secrets.removeAll { $0.expiresAt.map { $0 <= now } ?? false }
    for index in secrets.indices {
      secrets[index].expiresAt = min(secrets[index].expiresAt ?? now + overlap, now + overlap)
    }
    let last = secrets.compactMap { Int($0.id) }.max() ?? 0
    secrets.insert(Secret(id: "\(last + 1)", secret: secret, createdAt: now), at: 0)
    secrets.removeLast(max(0, secrets.count - Self.maxSecrets))
  }

  /// The secrets that sign at a time, the newest first.
  func signing(at now: Timestamp) -> [WebhookSecret] {
    secrets.filter { secret in secret.expiresAt.map { $0 > now } ?? true }.map(\.secret)
  }

  /// The engine's view of it; nil if it gets no webhooks.
  var subscription: WebhookSubscription? {
    isEnabled ? asSubscription : nil
  }

  /// The same, whether it is enabled or not.
  var asSubscription: WebhookSubscription {
    WebhookSubscription(
      id: id, url: url, events: Set(events.compactMap(EventType.init)), targets: Set(targets), in: namespace)
  }
}

extension WebhookEndpoint {
  /// Writes it as people see it.
  ///
  /// - Parameters:
  ///   - redaction: Hides parts of the URL.
  ///   - secret: The new secret; it is shown only this once.
  func write(_ redaction: Redaction, to writer: inout JSONWriter, secret: WebhookSecret? = nil, now: Timestamp) {
    writer.beginObject()
    writer.field("id", id)
    writer.field("url", redaction.url(url))
    writer.field("description", description)
    writer.key("events")
    events.save(to: &writer)
    writer.key("targets")
    targets.save(to: &writer)
    writer.field("createdAt", createdAt)
    writer.field("enabled", isEnabled)
    writer.field("disabledReason", disabledReason?.rawValue)
    writer.field("disabledAt", disabledAt)
    writer.field("failingSince", failingSince)
    writer.key("secrets")
    writer.beginArray()
    for secret in secrets where secret.expiresAt.map({ $0 > now }) ?? true {
      writer.beginObject()
      writer.field("id", secret.id)
      writer.field("createdAt", secret.createdAt)
      writer.field("expiresAt", secret.expiresAt)
      writer.endObject()
    }
    writer.endArray()
    if let secret { writer.field("secret", secret.text) }
    writer.endObject()
  }

  /// It as the store has it, with the secrets.
  var document: StoredDocument { StoredDocument(.webhookEndpoint, id: id, bytes) }
}

extension WebhookEndpoint: StoredRecord {
  init() {}
  var isComplete: Bool { !id.isEmpty && !url.isEmpty && !secrets.isEmpty }

  static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout WebhookEndpoint
  ) throws(Visitor.Failure) {
    try visitor.visit("id", &record.id)
    try visitor.visit("url", &record.url)
    try visitor.visit("description", &record.description)
    try visitor.visit("events", &record.events)
    try visitor.visit("targets", &record.targets)
    try visitor.visit("createdAt", &record.createdAt)
    try visitor.visit("namespace", &record.namespace)
    try visitor.visit("disabledReason", &record.disabledReason)
    try visitor.visit("disabledAt", &record.disabledAt)
    try visitor.visit("failingSince", &record.failingSince)
    try visitor.visit("secrets", &record.secrets)
  }
}

extension WebhookEndpoint.Disabled: FieldValue {
  static var unset: Self { .byRequest }
}

extension WebhookEndpoint.Secret: StoredRecord {
  var isComplete: Bool { secret != .unset }

  static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout WebhookEndpoint.Secret
  ) throws(Visitor.Failure) {
    try visitor.visit("id", &record.id)
    try visitor.visit("secret", &record.secret)
    try visitor.visit("createdAt", &record.createdAt)
    try visitor.visit("expiresAt", &record.expiresAt)
  }
}
