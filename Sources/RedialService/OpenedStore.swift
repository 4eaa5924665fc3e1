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
  /// - Parameter notices: Gets what the store reports by itself.
  init(_ settings: ServiceSettings, _ notices: StoreNotices, _ log: Log) throws(Service.StartError) {
    let path = try Service.storePath(settings)
    keys = KeyRing(adminKey: settings.adminKey)
    endpoints = WebhookEndpoints(limit: settings.maxWebhookEndpoints, disableAfter: settings.webhookDisableAfter)
    do throws(StoreError) {
      store = try SQLiteStore(
        path: path, payloads: settings.storedPayloads, reserveBytes: settings.reserveBytes, notices: notices
      ) { error in
        log.write(.error, "syncFailed", [("error", error.message), ("exitCode", "\(Service.syncFailedExitCode)")])
        // Not `exit`: its handlers would write.
        _exit(Service.syncFailedExitCode)
      }
      reader = try SQLiteReader(path: path, redaction: settings.engine.redaction)
      bodies = BodyReading(try StoredBodies(path: path))
      policies = try reader.policies()
      operations = try reader.operations()
      try keys.load(from: store)
      try endpoints.load(from: store)
    } catch {
      throw Service.StartError(message: error.message)
    }
    self.path = Self.absolute(path)
    secret = try Service.webhookSecret(settings, store)
    // Inherited sockets are checked later.
    try Service.refuseOpenDoors(settings, keys, isLocal: settings.egress.knowing(settings.listen).reachesLoopback)
  }

  /// The absolute path of an existing file.
  private static func absolute(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
