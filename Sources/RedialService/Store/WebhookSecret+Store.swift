internal import RedialStore

/// The secret that signs webhooks, as a store keeps it.
extension WebhookSecret {
  /// The name of the setting in which a store keeps it.
  static let settingName = "webhookSecret"

  /// The configured secret, else the one in the store, else a new one, which the store keeps.
  static func kept(in store: any CallStore, _ settings: ServiceSettings) throws(ServiceStartError) -> WebhookSecret {
    if let text = settings.webhookSecret {
      guard let secret = WebhookSecret(text) else {
        throw ServiceStartError(message: "The webhook secret must be whsec_ and the base 64 of 24 to 64 bytes.")
      }
      return secret
    }
    if let kept = try ServiceStartError.of({ () throws(StoreError) in try store.setting(settingName) }) {
      guard let secret = WebhookSecret(kept) else {
        throw ServiceStartError(message: "The webhook secret in the store is damaged; set REDIAL_WEBHOOK_SECRET.")
      }
      return secret
    }
    guard let secret = WebhookSecret.random() else {
      throw ServiceStartError(
        message: "The system gave no random bytes for a webhook secret; set REDIAL_WEBHOOK_SECRET.")
    }
    try ServiceStartError.of { () throws(StoreError) in try store.setSetting(settingName, to: secret.text) }
    return secret
  }
}
