/// Somebody who is to be told of the events of all calls and targets, as far as the engine must know.
public struct WebhookSubscription: Sendable, Hashable {
  /// Names the subscription; its webhooks go to the target ``target``.
  public var id: String
  /// Where they go.
  public var url: String
  /// The types of the events that it is told of.
  public var events: Set<String>
  /// If not empty, it is told of these targets and of calls to them only.
  public var targets: Set<String>

  /// Creates a subscription.
  public init(id: String, url: String, events: Set<String>, targets: Set<String> = []) {
    self.id = id
    self.url = url
    self.events = events
    self.targets = targets
  }

  /// What the targets of webhooks begin with. Nobody is told of what becomes of them, for that would be a webhook again.
  public static let targetPrefix = "webhook:"
  /// The target of its webhooks: its own, so that a bad receiver delays nobody else.
  public var target: String { Self.targetPrefix + id }

  /// Whether it is told of an event of a target, or of a call to it.
  public func wants(_ event: String, target: String) -> Bool {
    events.contains(event) && (targets.isEmpty || targets.contains(target))
  }
}
