internal import RedialCore
internal import RedialModel
internal import RedialJSON

/// An endpoint for webhooks: its URL, its events, and the secrets that sign them.
struct WebhookEndpoint: Sendable {
  /// A secret, and the time until which it signs; nil for the latest one.
  struct Secret: Sendable {
    var id: String
    var secret: WebhookSecret
    var createdAt: Timestamp
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

  let id: String
  /// The namespace of its events.
  let namespace: Namespace
  let createdAt: Timestamp
  var url: String
  var description: String
  var events: [String]
  var targets: [String]
  /// The newest first; at least one.
  var secrets: [Secret]
  /// When, and why, it was disabled.
  private(set) var disabled: (at: Timestamp, why: Disabled)?
  /// How often it was disabled or enabled again, and for how many of these its target was paused or resumed.
  private var (switches, settledSwitches) = (0, 0)
  /// The time since which every delivery has failed.
  var failingSince: Timestamp?

  /// The maximum number of secrets that sign at a time; a further rotation drops the oldest.
  private static let maxSecrets = 5
  /// The prefix of the ids of endpoints.
  static let prefix = "whe_"

  init(
    _ id: CallID, _ draft: WebhookEndpointDraft, in namespace: Namespace, secret: WebhookSecret, at now: Timestamp
  ) {
    self.namespace = namespace
    self.id = Self.prefix + id.characters
    createdAt = now
    (url, description, events, targets) = (draft.url, draft.description, draft.events, draft.targets)
    secrets = [Secret(id: "1", secret: secret, createdAt: now)]
    if !draft.isEnabled { disable(.byRequest, at: now) }
  }

  /// Applies a client's changes. An endpoint that is enabled, or gets another URL, starts without earlier failures.
  ///
  /// - Parameter redaction: How clients see the URL. One that sends what it has seen leaves the URL as it is.
  mutating func update(_ draft: WebhookEndpointDraft, _ redaction: Redaction = Redaction(), at now: Timestamp) {
    if draft.url != redaction.url(url), draft.url != url { (url, failingSince) = (draft.url, nil) }
    (description, events, targets) = (draft.description, draft.events, draft.targets)
    guard draft.isEnabled else { return disable(.byRequest, at: now) }
    guard disabled != nil else { return }
    (disabled, failingSince) = (nil, nil)
    switches += 1
  }

  /// Gets no webhooks from now on.
  mutating func disable(_ why: Disabled, at now: Timestamp) {
    guard disabled == nil else { return }
    disabled = (now, why)
    switches += 1
  }

  /// Whether its target has still to be paused, or resumed, because it was disabled or enabled.
  var isUnsettled: Bool { switches != settledSwitches }

  /// Its target was paused or resumed as an earlier state of it needs.
  ///
  /// - Returns: Whether that is news: another instance may have paused or resumed the target for a later state, or be of
  ///   an earlier version, which counts nothing.
  mutating func settle(_ earlier: WebhookEndpoint) -> Bool {
    guard earlier.switches > settledSwitches, earlier.switches <= switches else { return false }
    settledSwitches = earlier.switches
    return true
  }

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
    disabled == nil ? asSubscription : nil
  }

  /// The same, whether it is enabled or not.
  var asSubscription: WebhookSubscription {
    WebhookSubscription(id: id, url: url, events: Set(events), targets: Set(targets), in: namespace)
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
    writeCommon(redaction.url(url), to: &writer)
    writer.field("enabled", disabled == nil)
    writer.field("disabledReason", disabled?.why.rawValue)
    writer.field("disabledAt", disabled?.at)
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

  private func writeCommon(_ url: String, to writer: inout JSONWriter) {
    writer.field("id", id)
    writer.field("url", url)
    writer.field("description", description)
    Self.write(events, "events", to: &writer)
    Self.write(targets, "targets", to: &writer)
    writer.field("createdAt", createdAt)
  }

  private static func write(_ names: [String], _ key: StaticString, to writer: inout JSONWriter) {
    writer.key(key)
    writer.beginArray()
    for name in names { writer.string(name) }
    writer.endArray()
  }

  /// Its form in the store, including the secrets.
  var document: StoredDocument {
    var writer = JSONWriter(capacity: 512)
    writer.beginObject()
    writeCommon(url, to: &writer)
    writer.field("namespace", namespace.name)
    if let disabled {
      writer.field("disabledReason", disabled.why.rawValue)
      writer.field("disabledAt", disabled.at)
    }
    writer.field("failingSince", failingSince)
    if switches > 0 {
      writer.field("switches", switches)
      writer.field("settledSwitches", settledSwitches)
    }
    writer.key("secrets")
    writer.beginArray()
    for secret in secrets {
      writer.beginObject()
      writer.field("id", secret.id)
      writer.field("secret", secret.secret.text)
      writer.field("createdAt", secret.createdAt)
      writer.field("expiresAt", secret.expiresAt)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return StoredDocument(.webhookEndpoint, id: id, writer.bytes)
  }

  /// Reads the form in the store; nil if it is damaged.
  init?(document: [UInt8]) {
    guard let fields = try? DocumentFields(document), let id = fields.text("id"), let url = fields.text("url"),
      let createdAt = fields.time("createdAt"),
      let namespace = Namespace(fields.text("namespace") ?? Namespace.default.name)
    else { return nil }
    self.id = id
    self.namespace = namespace
    self.url = url
    self.createdAt = createdAt
    description = fields.text("description") ?? ""
    events = fields.texts("events")
    targets = fields.texts("targets")
    failingSince = fields.time("failingSince")
    if let at = fields.time("disabledAt"), let why = fields.text("disabledReason").flatMap(Disabled.init) {
      disabled = (at, why)
    }
    // Before there were such fields, nobody knew.
    (switches, settledSwitches) = (fields.integer("switches") ?? 0, fields.integer("settledSwitches") ?? 0)
    secrets = []
    for element in fields.objects("secrets") {
      guard let id = element.text("id"), let secret = element.text("secret").flatMap({ WebhookSecret($0) }),
        let createdAt = element.time("createdAt")
      else { return nil }
      secrets.append(Secret(id: id, secret: secret, createdAt: createdAt, expiresAt: element.time("expiresAt")))
    }
    if secrets.isEmpty { return nil }
  }
}
