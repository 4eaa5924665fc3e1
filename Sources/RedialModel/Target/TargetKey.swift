/// Tells the keys of targets apart from others.
public enum TargetKind: Sendable {}

/// The key of a target, with its namespace.
public typealias TargetKey = Qualified<TargetKind>

extension TargetKey {
  /// Whether it is a target of webhooks; no client may name such a target.
  public var isOfWebhooks: Bool { bare.hasPrefix(WebhookSubscription.targetPrefix) }

  /// The id of the endpoint whose target it is; nil if it is another.
  public var endpoint: String? {
    let prefix = WebhookSubscription.targetPrefix
    return bare.hasPrefix(prefix + WebhookSubscription.idPrefix) ? String(bare.dropFirst(prefix.count)) : nil
  }

  /// The name of the alert whose messages' target it is; nil if it is another.
  public var alert: String? {
    let prefix = WebhookSubscription.targetPrefix + Alert.receiverPrefix
    return bare.hasPrefix(prefix) ? String(bare.dropFirst(prefix.count)) : nil
  }
}
