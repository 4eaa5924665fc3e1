internal import RedialStore
internal import RedialModel

/// Secrets, as a store keeps them.
extension WebhookSecret {
  /// The name of the setting in which a store keeps the secret that signs webhooks.
  static let settingName = "webhookSecret"

  /// The secret in the store, else a new one, which the store keeps; nil if it cannot encrypt it.
  static func kept(in store: any CallStore, _ vault: Vault) throws(ServiceStartError) -> WebhookSecret? {
    let remedy = "set REDIAL_WEBHOOK_SECRET"
    if vault.canSeal { return try kept(in: store, as: settingName, orElse: remedy) }
    // One in plain text is from an earlier version.
    let plain = try ServiceStartError.of { () throws(StoreError) in try store.setting(settingName) }
    return try plain.map { text throws(ServiceStartError) in try read(text, settingName, orElse: remedy) }
  }

  /// The secret in the settings, which goes before the store's; nil if they have none.
  static func configured(_ settings: ServiceSettings) throws(ServiceStartError) -> WebhookSecret? {
    guard let text = settings.webhookSecret else { return nil }
    guard let secret = WebhookSecret(text) else {
      throw ServiceStartError(message: "The webhook secret must be whsec_ and the base 64 of 24 to 64 bytes.")
    }
    return secret
  }

  /// Why the secret in the store cannot be read; nil if it can, or if there is none.
  static func damage(in store: any CallStore) -> StoreError? {
    do throws(StoreError) {
      _ = try store.setting(settingName)
      return nil
    } catch {
      return error.kind == .corrupt ? error : nil
    }
  }

  /// The secret in the store, else a new one, which the store keeps.
  ///
  /// - Parameters:
  ///   - name: The name of the setting.
  ///   - remedy: What to do if it cannot be had.
  static func kept(
    in store: any CallStore, as name: String, orElse remedy: String
  ) throws(ServiceStartError) -> WebhookSecret {
    // One is always made, and thrown away if there is another: instances that share a store may start together.
    guard let new = WebhookSecret.random() else {
      throw ServiceStartError(message: "The system gave no random bytes for a secret (\(name)); \(remedy).")
    }
    let kept = try ServiceStartError.of { () throws(StoreError) in try store.keepSetting(name, orElse: new.text) }
    return try read(kept, name, orElse: remedy)
  }

  private static func read(
    _ text: String, _ name: String, orElse remedy: String
  ) throws(ServiceStartError) -> WebhookSecret {
    guard let secret = WebhookSecret(text) else {
      throw ServiceStartError(message: "The secret \(name) in the store is damaged; \(remedy).")
    }
    return secret
  }
}
