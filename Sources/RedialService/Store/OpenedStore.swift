internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// The store of a service that starts, and what the service reads from it.
struct OpenedStore {
  let store: any ServiceStore
  let reader: any CallReader
  let bodies: BodyReading
  /// The store again, if several instances can share it.
  let shared: (any SharedStore)?
  /// Where the store is, for people.
  let place: String
  let policies: [StoredPolicy]
  let operations: [BulkOperation]
  let keys: KeyRing
  let endpoints: WebhookEndpoints
  let credentials = NamedCredentials()
  /// Signs the webhooks of callbacks; nil if none is set, and none can be stored.
  let secret: WebhookSecret?
  /// Why a new one was made in place of the one in the store; nil if none was.
  let secretDamage: StoreError?
  /// The service's time.
  let clock: Clock

  /// Opens the store.
  ///
  /// - Parameters:
  ///   - notices: Gets what the store reports by itself.
  ///   - vault: Encrypts what is stored.
  ///   - isLocal: Whether only this machine reaches the service.
  ///   - syncFailed: Called after a failed fsync. It must end the process.
  init(
    _ settings: ServiceSettings, _ notices: StoreNotices, _ vault: Vault, isLocal: Bool,
    syncFailed: @escaping @Sendable (StoreError) -> Void
  ) throws(ServiceStartError) {
    let configured = try WebhookSecret.configured(settings)
    let shift = try settings.testClock.map { path throws(ServiceStartError) in try ClockShift(path) }
    var forms = settings.forms
    forms.objection = { documents in
      let keys = settings.keyRing
      keys.load(documents)
      return settings.openDoor(keys, isLocal: isLocal)
    }
    let opened = try settings.openStore(notices, vault, forms, syncFailed: syncFailed)
    (store, reader, bodies, place) = (opened.store, opened.reader, BodyReading(opened.bodies), opened.place)
    shared = opened.shared
    keys = settings.keyRing
    endpoints = WebhookEndpoints(limit: settings.maxWebhookEndpoints, disableAfter: settings.webhookDisableAfter)
    do throws(StoreError) {
      clock = Clock(by: try shared?.time(), shift: shift)
      policies = try reader.policies()
      operations = try reader.operations()
      try keys.load(from: store)
      try endpoints.load(from: store)
      try endpoints.alerts.load(from: store)
      try credentials.load(from: store)
    } catch {
      throw ServiceStartError(message: error.message)
    }
    secretDamage = configured == nil ? WebhookSecret.damage(in: store) : nil
    secret = if let configured { configured } else { try WebhookSecret.kept(in: store, vault) }
  }
}
