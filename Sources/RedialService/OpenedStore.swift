internal import Glibc
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// The store of a service that starts, and what the service reads from it.
struct OpenedStore {
  let store: SQLiteStore
  let reader: SQLiteReader
  let bodies: BodyReading
  /// The absolute path of the store's file.
  let path: String
  let policies: [StoredPolicy]
  let operations: [BulkOperation]
  let keys: KeyRing
  let endpoints: WebhookEndpoints
  let secret: WebhookSecret

  /// Opens the store.
  ///
  /// - Parameters:
  ///   - notices: Gets what the store reports by itself.
  ///   - syncFailed: Called after a failed fsync. It must end the process.
  init(
    _ settings: ServiceSettings, _ notices: StoreNotices, syncFailed: @escaping @Sendable (StoreError) -> Void
  ) throws(ServiceStartError) {
    let path = try settings.storePath()
    keys = KeyRing(adminKey: settings.adminKey)
    endpoints = WebhookEndpoints(limit: settings.maxWebhookEndpoints, disableAfter: settings.webhookDisableAfter)
    do throws(StoreError) {
      store = try SQLiteStore(
        path: path, payloads: settings.storedPayloads, reserveBytes: settings.reserveBytes, notices: notices,
        syncFailed: syncFailed)
      reader = try SQLiteReader(path: path, redaction: settings.engine.redaction)
      bodies = BodyReading(try StoredBodies(path: path))
      policies = try reader.policies()
      operations = try reader.operations()
      try keys.load(from: store)
      try endpoints.load(from: store)
    } catch {
      throw ServiceStartError(message: error.message)
    }
    self.path = Self.absolute(path)
    secret = try WebhookSecret.kept(in: store, settings)
  }

  /// The absolute path of an existing file.
  private static func absolute(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
