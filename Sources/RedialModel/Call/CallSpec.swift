public import RedialCore
public import RedialJSON
internal import Synchronization

/// A client's call with all defaults of the time when it was accepted. It never changes afterwards, so it is shared,
/// not copied.
///
/// The request body is stored separately, because it is large and this is small.
public final class CallSpec: Sendable {
  /// What the client says of it, and what Redial keeps with it.
  public let fields: CallFields
  /// The namespace of the call, from its target's key.
  public let namespace: Namespace
  /// Warnings for its client; sent when the call is accepted, and not stored.
  public let warnings: [CallWarning]
  /// Its ``pathHash``, once somebody has asked for it; until then 0.
  let knownPathHash = Atomic<UInt64>(0)

  /// The allowed priorities.
  public static let priorities = 0...9
  /// The priority of a call whose client names none.
  public static let defaultPriority = 5

  /// The name of the policy of a call that names none.
  public static let defaultPolicyName = "default"

  /// The allowed numbers of redirects.
  public static let redirectBounds = 0...20

  public struct Label: Sendable, Hashable {
    /// The label's name.
    public var name: String
    /// The label's value.
    public var value: String

    /// Creates a label.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }

    /// Reads `NAME=VALUE`, as queries, header fields and commands have it; nil without a name or without a sign.
    public init?(_ text: String) {
      guard let sign = text.firstIndex(of: "="), sign > text.startIndex else { return nil }
      self.init(name: String(text[..<sign]), value: String(text[text.index(after: sign)...]))
    }

    /// What a text is not that ``init(_:)`` refuses.
    public static let fault = "must be NAME=VALUE"
  }

  /// Creates a spec from fields that have been validated.
  public init(_ fields: CallFields, warnings: [CallWarning] = []) {
    self.fields = fields
    self.warnings = warnings
    namespace = fields.target.namespace
  }

  /// Creates a spec from parts that have been validated.
  ///
  /// - Parameter change: Changes the other fields, which are as by default.
  public convenience init(
    url: String, method: String, headers: [HeaderField] = [], target: TargetKey, policy: RetryPolicy,
    captureLimit: Int, _ change: (inout CallFields) -> Void = { _ in }
  ) {
    var fields = CallFields(
      target: target, policy: AcceptedPolicy(policy), capture: Capture(maxBytes: captureLimit))
    fields.url = url
    fields.method = method
    fields.headers = headers
    change(&fields)
    self.init(fields)
  }

  /// The spec after the call's content is erased: no header fields and no description, and URLs without query and
  /// fragment, because all of these may hold secrets or personal data.
  ///
  /// - Parameters:
  ///   - time: The time of the erasure; earlier erasures keep theirs.
  ///   - keepingLabels: Whether the labels stay, by which the call is found.
  public func erased(at time: Timestamp, keepingLabels: Bool = true) -> CallSpec {
    var fields = withoutPayloads(at: time).fields
    fields.description = nil
    if !keepingLabels { fields.labels = [] }
    return CallSpec(fields)
  }

  /// The spec after the call's payloads are erased, which people have not asked for: what describes it to them stays.
  ///
  /// - Parameter time: The time of the erasure; earlier erasures keep theirs.
  public func withoutPayloads(at time: Timestamp) -> CallSpec {
    var fields = fields
    fields.url = Self.withoutQuery(url)
    fields.headers = []
    if fields.signing?.hasSecrets == true { fields.signing = nil }
    if let callback { fields.callback?.url = Self.withoutQuery(callback.url) }
    fields.contentErasedAt = contentErasedAt ?? time
    return CallSpec(fields)
  }

  /// The spec of a new call to a target with these settings.
  public func accepted(by settings: TargetSettings) -> CallSpec {
    let redact = fields.redact.joined(with: settings.redact)
    guard settings.isSensitive && !isSensitive || redact.count > fields.redact.count else { return self }
    var fields = fields
    fields.isSensitive = isSensitive || settings.isSensitive
    fields.redact = redact
    return CallSpec(fields, warnings: warnings)
  }

  /// The spec of a call that replays another.
  ///
  /// - Parameter policyName: The stored policy of the original when that was accepted.
  func replaying(_ original: CallRecord, policyName: String?) -> CallSpec {
    var fields = fields
    fields.replayOf = original.id
    // It has the same data.
    fields.redact = original.spec.redact.joined(with: redact)
    fields.policyName = policyName
    return CallSpec(fields, warnings: warnings)
  }

  /// Whether everything that ``erased(at:keepingLabels:)`` removes is already gone.
  public func isErased(keepingLabels: Bool) -> Bool {
    contentErasedAt != nil && (keepingLabels || labels.isEmpty) && fields.description == nil
      && url == Self.withoutQuery(url)
      && callback?.url == callback.map { Self.withoutQuery($0.url) }
  }

  /// A URL's scheme, host and path.
  static func withoutQuery(_ url: String) -> String {
    String(url.unicodeScalars.prefix { $0 != "?" && $0 != "#" })
  }
}

/// The fields by which something is decided, under short names.
extension CallSpec {
  @inlinable public var url: String { fields.url }
  /// The URL as people may see it, except for the parameters that a ``Redaction`` hides.
  public var shownURL: String { isSensitive ? Self.withoutQuery(url) : url }
  @inlinable public var redact: [JSONPointer] { fields.redact }
  @inlinable public var isSensitive: Bool { fields.isSensitive }
  @inlinable public var method: String { fields.method }
  @inlinable public var headers: [HeaderField] { fields.headers }
  @inlinable public var target: TargetKey { fields.target }
  @inlinable public var policy: RetryPolicy { fields.policy.policy }
  @inlinable public var policyName: String? { fields.policyName }
  @inlinable public var replayOf: CallID? { fields.replayOf }
  @inlinable public var hops: Int { fields.hops }
  @inlinable public var contentErasedAt: Timestamp? { fields.contentErasedAt }
  @inlinable public var idempotent: Bool { fields.isIdempotent }
  @inlinable public var repetitionRule: RepetitionRule { fields.repetitionRule }
  @inlinable public var labels: [Label] { fields.labels }
  @inlinable public var callback: Callback? { fields.callback }
  @inlinable public var captureLimit: Int { fields.capture.maxBytes }
  @inlinable public var redactedHeaders: [String] { fields.capture.redactedHeaders }
  @inlinable public var maxRedirects: Int { fields.maxRedirects }
  @inlinable public var priority: Int { fields.priority }
  @inlinable public var orderingKey: String? { fields.orderingKey }
  @inlinable public var delay: Duration { fields.delay }

  @inlinable public var credential: String? { fields.credential }
  @inlinable public var signing: RequestSigning? { fields.signing }
  /// Whether it has secrets that are never stored in clear text.
  public var hasSecrets: Bool { fields.signing?.hasSecrets ?? false }

  /// The target's unqualified key.
  public var targetName: String { target.bare }

  /// Whether its target is for webhooks; no client may name such a target.
  public var isInWebhookLane: Bool { targetName.hasPrefix(WebhookSubscription.targetPrefix) }
}

/// Where to send the webhook about a call's end, and for which ends.
public struct Callback: Sendable, Hashable {
  /// Where the webhook goes.
  public var url: String
  /// Which events it is sent for.
  public var events: [EventType]

  /// Creates a callback.
  public init(url: String, events: [EventType] = EventType.ofCallbacks) {
    self.url = url
    self.events = events
  }
}
