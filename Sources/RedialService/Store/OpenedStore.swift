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
  ///   - syncFailed: Called after a failed fsync. It must end the process.
  init(
    _ settings: ServiceSettings, _ notices: StoreNotices, _ vault: Vault,
    syncFailed: @escaping @Sendable (StoreError) -> Void
  ) throws(ServiceStartError) {
    let opened = try settings.openStore(notices, vault, syncFailed: syncFailed)
    (store, reader, bodies, place) = (opened.store, opened.reader, BodyReading(opened.bodies), opened.place)
    shared = opened.shared
    keys = KeyRing(adminKey: settings.adminKey, isRequired: !settings.trustedUserHeader.isEmpty)
    endpoints = WebhookEndpoints(limit: settings.maxWebhookEndpoints, disableAfter: settings.webhookDisableAfter)
    let shift = try settings.testClock.map { path throws(ServiceStartError) in try ClockShift(path) }
    do throws(StoreError) {
      clock = Clock(by: try shared?.time(), shift: shift)
      policies = try reader.policies()
      operations = try reader.operations()
      try keys.load(from: store)
      try endpoints.load(from: store)
      try credentials.load(from: store)
    } catch {
      throw ServiceStartError(message: error.message)
    }
    secretDamage = settings.webhookSecret == nil ? WebhookSecret.damage(in: store) : nil
    secret = try WebhookSecret.kept(in: store, settings, vault)
  }
}
