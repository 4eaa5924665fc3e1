public import RedialModel

/// The secrets that the callbacks of calls are signed with.
extension Service {
  /// The secret that the callbacks of a namespace's calls are signed with.
  ///
  /// - Throws: When the store, which keeps the one that it is derived from, cannot be opened, or that one is damaged.
  public static func webhookSecret(
    _ settings: ServiceSettings, of namespace: Namespace
  ) throws(StartError) -> String {
    let text = try webhookSecret(settings)
    guard let secret = WebhookSecret(text) else {
      throw StartError(message: "The webhook secret in the store is damaged; set REDIAL_WEBHOOK_SECRET.")
    }
    return secret.derived(for: namespace).text
  }
}
