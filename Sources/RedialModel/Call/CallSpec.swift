package import RedialCore
internal import Synchronization

/// A client's call with all defaults of the time when it was accepted. It never changes afterwards, so it is shared,
/// not copied.
///
/// The request body is stored separately, because it is large and this is small.
package final class CallSpec: Sendable {
  /// The absolute URL, http or https.
  package let url: String
  /// The method, as given.
  package let method: String
  /// The header fields, in the order given.
  package let headers: [HeaderField]
  /// The target whose breaker and limits the call shares.
  package let target: TargetKey
  /// The namespace of the call, from its target's key.
  package let namespace: Namespace
  /// How to retry. It always says what an open breaker does: by default the call waits.
  package let policy: RetryPolicy
  /// The policy as JSON, if it is available.
  let policyJSON: [UInt8]?
  /// The stored policy of the call when it was accepted, such as `patient@3`, or ``defaultPolicyName``; nil for a
  /// policy that was given as an object.
  package let policyName: String?
  /// The call that this one replays, with or without changes.
  package let replayOf: CallID?
  /// How many services like this one it has passed through: 0 for a client's submission, one more for the submission by
  /// a call's attempt.
  package let hops: Int
  /// When the call's payloads, and with them its header fields, were erased.
  package let contentErasedAt: Timestamp?
  /// Whether the request may be repeated once it may have been executed: true unless the client says no.
  package let idempotent: Bool
  /// The client's labels, in the order given.
  package let labels: [Label]
  /// Where to send a webhook about the end.
  package let callback: Callback?
  /// How much of a response body is kept, in bytes.
  package let captureLimit: Int
  /// How many redirects an attempt follows, ``redirectBounds``. With 0 a redirect is the response.
  package let maxRedirects: Int
  /// Header fields of responses whose values are not stored, besides the service's, in lower case.
  package let redactedHeaders: [String]
  /// Its priority among the due calls of its target, ``priorities``; the highest goes first.
  package let priority: Int
  /// Calls of one target with the same ordering key run one at a time, in the order in which they were accepted.
  package let orderingKey: String?
  /// How long after its acceptance it starts; zero also for a start at a time that its client has named.
  package let delay: Duration
  /// Warnings for its client; sent when the call is accepted, and not stored.
  package let warnings: [CallWarning]
  /// Its ``pathHash``, once somebody has asked for it; until then 0.
  let knownPathHash = Atomic<UInt64>(0)

  /// The allowed priorities.
  package static let priorities = 0...9
  /// The priority of a call whose client names none.
  package static let defaultPriority = 5

  /// The name of the policy of a call that names none.
  package static let defaultPolicyName = "default"

  /// The allowed numbers of redirects.
  package static let redirectBounds = 0...20

  package struct Label: Sendable, Hashable {
    /// The label's name.
    package var name: String
    /// The label's value.
    package var value: String

    /// Creates a label.
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Creates a spec from parts that have been validated.
  package convenience init(
    url: String, method: String, headers: [HeaderField], target: TargetKey, policy: RetryPolicy,
    idempotent: Bool = true, labels: [Label] = [], callback: Callback? = nil, captureLimit: Int,
    maxRedirects: Int = 0, redactedHeaders: [String] = [], priority: Int = CallSpec.defaultPriority,
    orderingKey: String? = nil, delay: Duration = .zero, hops: Int = 0
  ) {
    self.init(
      url: url, method: method, headers: headers, target: target, policy: policy, policyJSON: nil,
      policyName: nil,
      idempotent: idempotent, labels: labels, callback: callback, captureLimit: captureLimit,
      maxRedirects: maxRedirects, redactedHeaders: redactedHeaders,
      priority: priority, orderingKey: orderingKey, delay: delay, hops: hops)
  }

  /// - Parameter policyJSON: `policy` as JSON; nil to create it on demand.
  init(
    url: String, method: String, headers: [HeaderField], target: TargetKey, policy: RetryPolicy, policyJSON: [UInt8]?,
    policyName: String?, idempotent: Bool, labels: [Label], callback: Callback?, captureLimit: Int, maxRedirects: Int,
    redactedHeaders: [String], priority: Int, orderingKey: String?, delay: Duration, replayOf: CallID? = nil,
    contentErasedAt: Timestamp? = nil, hops: Int = 0, warnings: [CallWarning] = []
  ) {
    self.delay = delay
    self.hops = hops
    self.replayOf = replayOf
    self.url = url
    self.method = method
    self.headers = headers
    self.target = target
    namespace = target.namespace
    var policy = policy
    policy.onTrip = policy.onTrip ?? .wait
    self.policy = policy
    self.policyJSON = policyJSON
    self.policyName = policyName
    self.contentErasedAt = contentErasedAt
    self.idempotent = idempotent
    self.labels = labels
    self.callback = callback
    self.captureLimit = captureLimit
    self.maxRedirects = maxRedirects
    self.redactedHeaders = redactedHeaders
    self.priority = priority
    self.orderingKey = orderingKey
    self.warnings = warnings
  }

  /// The target's unqualified key.
  package var targetName: String { target.bare }

  /// Whether its target is for webhooks; no client may name such a target.
  package var isInWebhookLane: Bool { targetName.hasPrefix(WebhookSubscription.targetPrefix) }

  /// The spec after the call's content is erased: no header fields, and URLs without query and fragment, because all
  /// of these may hold secrets or personal data.
  ///
  /// - Parameters:
  ///   - time: The time of the erasure; earlier erasures keep theirs.
  ///   - keepingLabels: Whether the labels stay, by which the call is found.
  package func erased(at time: Timestamp, keepingLabels: Bool = true) -> CallSpec {
    CallSpec(
      url: Self.withoutQuery(url), method: method, headers: [], target: target, policy: policy, policyJSON: policyJSON,
      policyName: policyName, idempotent: idempotent, labels: keepingLabels ? labels : [],
      callback: callback.map { Callback(url: Self.withoutQuery($0.url), events: $0.events) },
      captureLimit: captureLimit, maxRedirects: maxRedirects, redactedHeaders: redactedHeaders, priority: priority,
      orderingKey: orderingKey, delay: delay, replayOf: replayOf, contentErasedAt: contentErasedAt ?? time, hops: hops)
  }

  /// The spec of a call that replays another.
  ///
  /// - Parameter policyName: The stored policy of the original when that was accepted.
  func replaying(_ original: CallID, policyName: String?) -> CallSpec {
    CallSpec(
      url: url, method: method, headers: headers, target: target, policy: policy, policyJSON: policyJSON,
      policyName: policyName, idempotent: idempotent, labels: labels, callback: callback, captureLimit: captureLimit,
      maxRedirects: maxRedirects, redactedHeaders: redactedHeaders, priority: priority, orderingKey: orderingKey,
      delay: delay, replayOf: original, hops: hops, warnings: warnings)
  }

  /// Whether everything that ``erased(at:keepingLabels:)`` removes is already gone.
  package func isErased(keepingLabels: Bool) -> Bool {
    contentErasedAt != nil && (keepingLabels || labels.isEmpty) && url == Self.withoutQuery(url)
      && callback?.url == callback.map { Self.withoutQuery($0.url) }
  }

  /// A URL's scheme, host and path.
  static func withoutQuery(_ url: String) -> String {
    String(url.unicodeScalars.prefix { $0 != "?" && $0 != "#" })
  }
}

/// Where to send the webhook about a call's end, and for which ends.
package struct Callback: Sendable, Hashable {
  /// Where the webhook goes.
  package var url: String
  /// Which events it is sent for.
  package var events: [EventType]

  /// Creates a callback.
  package init(url: String, events: [EventType] = EventType.ofCallbacks) {
    self.url = url
    self.events = events
  }
}
