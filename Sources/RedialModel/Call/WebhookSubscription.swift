/// Somebody who is to be told of the events of all calls and targets, as far as the engine must know.
public struct WebhookSubscription: Sendable, Hashable {
  /// Whose events it is told of.
  public var namespace: Namespace
  /// Names the subscription; its webhooks go to the target ``target``.
  public var id: String
  /// Where they go.
  public var url: String
  /// The types of the events that it is told of.
  public var events: Set<String>
  /// If not empty, it is told of these targets and of calls to them only, as people know them.
  public var targets: Set<String>

  /// Creates a subscription.
  public init(
    id: String, url: String, events: Set<String>, targets: Set<String> = [], in namespace: Namespace = .default
  ) {
    self.namespace = namespace
    self.id = id
    self.url = url
    self.events = events
    self.targets = targets
  }

  /// What the targets of webhooks begin with. No client may name such a target. Nobody is told of what becomes of them, for that would be a webhook again.
  public static let targetPrefix = "webhook:"
  /// The target of its webhooks: its own, so that a bad receiver delays nobody else.
  public var target: String { QualifiedKey.make(Self.targetPrefix + id, in: namespace) }

  /// Whether it is told of an event of a target, or of a call to it.
  ///
  /// - Parameter target: The target's qualified key.
  public func wants(_ event: String, target: String) -> Bool {
    events.contains(event) && QualifiedKey.namespace(of: target) == namespace
      && (targets.isEmpty || targets.contains(QualifiedKey.bare(target)))
  }
}
