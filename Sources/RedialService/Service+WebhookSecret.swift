package import RedialModel
internal import RedialStore

/// The secrets that sign the callbacks of calls.
extension Service {
  /// The secret that signs the callbacks of a namespace's calls.
  ///
  /// - Throws: If the store, which keeps the secret from which it is derived, cannot be opened, or that secret is
  ///   damaged.
  package static func webhookSecret(
    _ settings: ServiceSettings, of namespace: Namespace
  ) throws(StartError) -> String {
    let text = try webhookSecret(settings)
    guard let secret = WebhookSecret(text) else {
      throw StartError(message: "The webhook secret in the store is damaged; set REDIAL_WEBHOOK_SECRET.")
    }
    return secret.derived(for: namespace).text
  }

  /// The secret that signs webhooks: the configured one, else the one in the store. It changes nothing.
  ///
  /// - Throws: If there is no store, it cannot be read, or no service has made a secret in it yet.
  package static func webhookSecret(_ settings: ServiceSettings) throws(StartError) -> String {
    if let text = settings.webhookSecret { return text }
    guard let kept = try settings.storedValue(WebhookSecret.settingName) else {
      guard try settings.vault().canSeal else { throw StartError(message: Problem.noWebhookSecret.detail) }
      throw StartError(
        message:
          "The store at \(settings.store) has no webhook secret yet: the service makes it when it first starts there.")
    }
    return kept
  }
}
