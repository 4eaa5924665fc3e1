/// A webhook endpoint in the engine's form: it receives events of all calls and targets.
public struct WebhookSubscription: Sendable, Hashable {
  /// The namespace of its events.
  public var namespace: Namespace
  /// The id of the subscription; its webhooks go to the target ``target``.
  public var id: String
  public var url: String
  public var events: Set<EventType>
  /// If not empty, only events of these targets and of calls to them. Keys without a namespace.
  public var targets: Set<String>

  /// Creates a subscription.
  public init(
    id: String, url: String, events: Set<EventType>, targets: Set<String> = [], in namespace: Namespace = .default
  ) {
    self.namespace = namespace
    self.id = id
    self.url = url
    self.events = events
    self.targets = targets
  }

  /// The prefix of the ids of endpoints.
  public static let idPrefix = "whe_"
  /// The prefix of the targets of webhooks. No client may name such a target. There are no events about these
  /// targets, because each would cause another webhook.
  public static let targetPrefix = "webhook:"
  /// The target of its webhooks: its own, so that a bad receiver delays no other.
  public var target: TargetKey { TargetKey(Self.targetPrefix + id, in: namespace) }

  /// Whether it receives an event of a target, or of a call to it.
  public func wants(_ event: EventType, target: TargetKey) -> Bool {
    events.contains(event) && target.namespace == namespace && (targets.isEmpty || targets.contains(target.bare))
  }
}
