internal import RedialStore

/// The secret of the instances on one store, as the store keeps it.
extension PeerTrust {
  /// The name of the setting in which a store keeps the secret.
  static let settingName = "peerSecret"

  /// The one in the store, else a new one, which the store keeps.
  static func kept(in store: any CallStore) throws(ServiceStartError) -> PeerTrust {
    PeerTrust(secret: try WebhookSecret.kept(in: store, as: settingName, orElse: "remove the setting peerSecret"))
  }
}
