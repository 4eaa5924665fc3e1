/// Tells the keys of targets apart from others.
public enum TargetKind: Sendable {}

/// The key of a target, with its namespace.
public typealias TargetKey = Qualified<TargetKind>

extension TargetKey {
  /// Whether it is a target of webhooks; no client may name such a target.
  public var isOfWebhooks: Bool { bare.hasPrefix(WebhookSubscription.targetPrefix) }
}
