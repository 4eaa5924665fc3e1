internal import Dispatch
internal import Glibc
internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport

/// The whole service: it connects a store, an engine, a transport and an HTTP server.
public final class Service: Sendable {
  private let runtime: Runtime
  private let server: HTTPServer
  private let bulk: BulkRunner
  private let settings: ServiceSettings
  /// The absolute path of the store's file.
  public let dataPath: String
  /// The log of the service.
  public let log: Log

  /// The exit code after a failed fsync of the store. The supervisor starts the process again, and it continues with
  /// the data that is on the disk.
  public static let syncFailedExitCode: Int32 = 6

  /// Why the service cannot start.
  public struct StartError: Error, Sendable {
    /// What failed, on which input, and what to do.
    public var message: String
  }

  /// Opens the store, takes over the state of an earlier process, and starts to listen.
  ///
  /// - Throws: What failed; nothing is left running.
  public init(settings: ServiceSettings) throws(StartError) {
    var settings = settings
    let descriptors = DescriptorLimit.raised()
    let lowered = descriptors.bound(&settings)
    self.settings = settings
    log = Log(format: settings.logFormat, level: settings.logLevel)
    if !lowered.isEmpty {
      log.write(
        .warning, "descriptorLimit",
        [("descriptors", "\(descriptors.count)")] + lowered.map { ($0.setting, "\($0.to)") })
    }
    let store: SQLiteStore
    let policies: [StoredPolicy]
    let operations: [BulkOperation]
    let keys = KeyRing(adminKey: settings.adminKey)
    let redaction = settings.engine.redaction
    do {
      let path = try Self.storePath(settings)
      store = try Self.startError { () throws(StoreError) in
        try SQLiteStore(path: path, payloads: settings.storedPayloads, reserveBytes: settings.reserveBytes)
      }
      store.onSyncFailure = { [log] error in
        log.write(.error, "syncFailed", [("error", error.message), ("exitCode", "\(Self.syncFailedExitCode)")])
        // Not `exit`: its handlers would write.
        _exit(Self.syncFailedExitCode)
      }
      let reader = try Self.startError { () throws(StoreError) in try SQLiteReader(path: path, redaction: redaction) }
      let bodies = try Self.startError { () throws(StoreError) in try StoredBodies(path: path) }
      dataPath = Self.absolute(path)
      policies = try Self.startError { () throws(StoreError) in try reader.policies() }
      operations = try Self.startError { () throws(StoreError) in try reader.operations() }
      let secret = try Self.webhookSecret(settings, store)
      try Self.startError { () throws(StoreError) in try keys.load(from: store) }
      // Inherited sockets are checked later.
      try Self.refuseOpenDoors(settings, keys, isLocal: settings.egress.knowing(settings.listen).reachesLoopback)
      let endpoints = WebhookEndpoints(
        limit: settings.maxWebhookEndpoints, disableAfter: settings.webhookDisableAfter)
      try Self.startError { () throws(StoreError) in try endpoints.load(from: store) }
      do throws(TransportStartError) {
        runtime = try Runtime(
          settings: settings, store: store, reader: reader, bodies: BodyReading(bodies), secret: secret,
          endpoints: endpoints, log: log)
      } catch {
        throw StartError(message: error.message)
      }
    }
    let storedPolicies = StoredPolicies(limit: settings.maxPolicies, maxVersions: settings.maxPolicyVersions)
    do {
      try storedPolicies.fill(from: policies)
    } catch {
      runtime.abandon()
      throw StartError(message: "A stored policy cannot be read: \(error.detail) Restore the store from a backup.")
    }
    bulk = BulkRunner(BulkRunner.Surroundings(runtime))
    var limits = settings.descriptorLimits
    limits.policies = storedPolicies.policies
    var configuration = settings.http
    configuration.address = settings.listen
    configuration.socketPermissions = settings.socketPermissions
    configuration.loops = settings.loops
    configuration.maxConnections = settings.maxConnections
    configuration.maxBodyBytes = settings.maxDescriptorBytes
    configuration.maxInflationRatio = settings.maxInflationRatio
    configuration.gzipLevel = settings.gzipLevel
    configuration.gzipMinBytes = settings.gzipMinBytes
    // A page of another origin can neither load an answer as its script or picture, nor let the browser guess its
    // type.
    configuration.commonHeaders = [
      HTTPHeader("X-Content-Type-Options", "nosniff"), HTTPHeader("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    server = HTTPServer(
      configuration: configuration,
      handler: Self.api(settings, runtime, keys, limits, storedPolicies, bulk),
      errorResponse: { Answer.refusal($0, $1) })
    do throws(HTTPServerError) {
      try server.start()
    } catch {
      runtime.abandon()
      throw StartError(message: error.description)
    }
    do throws(StartError) {
      try Self.refuseOpenDoors(settings, keys, isLocal: settings.egress.knowing(server.urls).reachesLoopback)
    } catch {
      server.stop()
      runtime.abandon()
      throw error
    }
    if settings.allowUnauthenticated, !keys.isRequired, !settings.egress.knowing(server.urls).reachesLoopback {
      log.write(
        .warning, "unauthenticated",
        [
          ("url", server.urls.joined(separator: " ")),
          ("meaning", "there is no API key, so anybody who reaches this address can make the service send requests"),
        ])
    }
    if settings.corsOrigins != CORSOrigins(), !keys.isRequired {
      log.write(
        .warning, "corsWithoutKey",
        [
          ("corsOrigins", settings.corsOrigins.names.joined(separator: ",")),
          ("meaning", "pages of these origins are refused until there is an API key: make one"),
        ])
    }
    runtime.restrict(to: settings.egress.knowing(server.urls))
    store.onDamage = { [log, metrics = runtime.metrics] id, error in
      metrics.count { $0.damaged += 1 }
      log.write(.error, "callDamaged", [("callId", id.description), ("error", error.message)])
    }
    store.onShortage = { [log, weak runtime] isShort in
      runtime?.post(CollectionOfOne(.room(isShort: isShort)))
      if isShort {
        log.write(
          .error, "reserveReleased",
          [
            ("bytes", "\(settings.reserveBytes)"),
            ("meaning", "the disk is full; new calls are refused until it has room"),
          ])
      } else {
        log.write(.info, "reserveTaken", [("bytes", "\(settings.reserveBytes)")])
      }
    }
    store.onMisplacement = { [log, weak runtime] error in
      runtime?.post(CollectionOfOne(.storeMisplaced(error != nil)))
      if let error {
        log.write(.error, "storeMisplaced", [("error", error.message)])
      } else {
        log.write(.info, "storeInPlace")
      }
    }
    if store.isShortOfRoom { store.onShortage?(true) }
    store.onCheckpointFailure = { [log, metrics = runtime.metrics] error in
      metrics.count { $0.isCheckpointFailing = error != nil }
      if let error {
        log.write(.error, "checkpointFailed", [("error", error.message)])
      } else {
        log.write(.info, "checkpointSucceeded")
      }
    }
    // Only now, so that a service that cannot listen makes no attempts either. Requests wait until then.
    do throws(StoreError) {
      var state = try store.recover(at: runtime.clock.now)
      for (target, members) in state.leaveOutFiles(outside: settings.tlsDirectory) {
        log.write(
          .warning, "tlsFilesNotApplied",
          Log.fields(of: target) + [
            ("members", members.joined(separator: " ")),
            ("meaning", "they name files outside tlsDirectory; set it, or set the target again"),
          ])
      }
      for target in state.targetsWithoutOrigins {
        log.write(
          .warning, "tlsNotApplied",
          Log.fields(of: target) + [
            ("meaning", "the TLS settings of this target name no origins; set the target again with tls.origins")
          ])
      }
      // Damaged calls that were ended until now are not among the unfinished calls of that state.
      // Weak: the store's lane may still run when the service is gone.
      store.onSetAside = { [weak runtime] in runtime?.didSetAside($0) }
      runtime.begin(with: state)
      runtime.post(CollectionOfOne(.namespaces(keys.namespaces)))
    } catch {
      server.stop()
      runtime.abandon()
      throw StartError(message: error.message)
    }
    bulk.take(operations)
    log.write(
      .info, "started",
      [("version", redialVersion), ("url", urls.joined(separator: " ")), ("store", settings.store)])
  }

  /// The addresses of the service, such as `http://127.0.0.1:8080` or `unix:/run/redial.sock`; more than one only for
  /// inherited sockets.
  public var urls: [String] { server.urls }

  /// How long a stop still accepts requests that had already arrived, before the engine refuses new calls.
  private static let arrivedTime = DispatchTimeInterval.seconds(1)

  /// Accepts no more calls, waits for attempts in flight up to the configured time, and closes the store.
  public func stop() {
    log.write(.info, "stopping", [("drainTimeout", DurationText.format(settings.drainTimeout))])
    bulk.stop()
    let closed = DispatchSemaphore(value: 0)
    server.drain(within: settings.drainTimeout) { closed.signal() }
    // Requests that have arrived are still accepted; a slow client delays nothing.
    let isClosed = closed.wait(timeout: .now() + Self.arrivedTime) == .success
    runtime.drain(within: settings.drainTimeout)
    if !isClosed { _ = closed.wait(timeout: .now() + .seconds(2)) }
    log.write(.info, "stopped")
  }

  /// The secret that signs webhooks: the configured one, else the one in the store. It changes nothing.
  ///
  /// - Throws: If there is no store, it cannot be read, or no service has made a secret in it yet.
  public static func webhookSecret(_ settings: ServiceSettings) throws(StartError) -> String {
    if let text = settings.webhookSecret { return text }
    let path = try storePath(settings)
    guard access(path, F_OK) == 0 else {
      throw StartError(message: "There is no store at \(path); name it with --store, or ask a service with --server.")
    }
    let kept = try startError { () throws(StoreError) in
      try SQLiteReader(path: path, connections: 1).setting(secretName)
    }
    guard let kept else {
      throw StartError(
        message: "The store at \(path) has no webhook secret yet: the service makes it when it first starts there.")
    }
    return kept
  }

  /// Without keys, everybody who can reach the service may make it send requests. So it must not be reachable from
  /// other machines by mistake.
  private static func refuseOpenDoors(
    _ settings: ServiceSettings, _ keys: KeyRing, isLocal: Bool
  ) throws(StartError) {
    guard !isLocal, !keys.isRequired, !settings.allowUnauthenticated else { return }
    throw StartError(
      message: "\(settings.listen) can be reached from other machines, and there is no API key, so anybody could "
        + "make this service send requests. Make a key (redial keys create --name admin --store \(settings.store)), or set "
        + "adminKey, or listen on 127.0.0.1. If something in front of it checks access, set allowUnauthenticated.")
  }

  /// Everything that answers requests.
  static func api(
    _ settings: ServiceSettings, _ runtime: Runtime, _ keys: KeyRing, _ limits: CallDescriptor.Limits,
    _ policies: StoredPolicies, _ bulk: BulkRunner
  ) -> API {
    let submission = Submission(
      runtime: runtime, limits: limits, targetNaming: settings.targetNaming, maxHops: settings.maxHops,
      longestWait: settings.maxWaitTime)
    let operations = BulkOperations(runner: bulk, limit: settings.maxOperations, rate: settings.operationRate)
    let proxies = settings.trustedProxies
    let groups: [any RouteGroup] = [
      SubmissionRoutes(
        submission: submission, keys: keys, maxBatch: settings.maxBatch, maxLineBytes: settings.maxDescriptorBytes),
      ForwardRoutes(submission: submission, keys: keys, proxies: proxies),
      ReplayRoutes(submission: submission, keys: keys),
      CallRoutes(runtime: runtime, keys: keys, longestWait: settings.maxWaitTime, maxScan: settings.maxScan),
      TargetRoutes(runtime: runtime, tlsDirectory: settings.tlsDirectory),
      PolicyRoutes(runtime: runtime, policies: policies),
      ForecastRoutes(runtime: runtime, policies: policies.policies),
      OperationRoutes(runtime: runtime, operations: operations),
      EventRoutes(runtime: runtime, keys: keys),
      WebhookRoutes(runtime: runtime, limits: limits, maxScan: settings.maxScan),
      KeyRoutes(runtime: runtime, keys: keys),
      ServiceRoutes(runtime: runtime, keys: keys, proxies: proxies),
    ]
    return API(
      runtime: runtime, keys: keys, router: Router(groups),
      pages: PageGuard(hosts: settings.allowedHosts, origins: settings.corsOrigins), proxies: proxies)
  }

  private static let secretName = "webhookSecret"

  private static func webhookSecret(
    _ settings: ServiceSettings, _ store: SQLiteStore
  ) throws(StartError) -> WebhookSecret {
    if let text = settings.webhookSecret {
      guard let secret = WebhookSecret(text) else {
        throw StartError(message: "The webhook secret must be whsec_ and the base 64 of 24 to 64 bytes.")
      }
      return secret
    }
    if let kept = try startError({ () throws(StoreError) in try store.setting(secretName) }) {
      guard let secret = WebhookSecret(kept) else {
        throw StartError(message: "The webhook secret in the store is damaged; set REDIAL_WEBHOOK_SECRET.")
      }
      return secret
    }
    guard let secret = WebhookSecret.random() else {
      throw StartError(message: "The system gave no random bytes for a webhook secret; set REDIAL_WEBHOOK_SECRET.")
    }
    try startError { () throws(StoreError) in try store.setSetting(secretName, to: secret.text) }
    return secret
  }

  static func storePath(_ settings: ServiceSettings) throws(StartError) -> String {
    do throws(StoreLocation.Invalid) {
      switch try StoreLocation(settings.store) {
      case .sqlite(let path): return path
      }
    } catch {
      throw StartError(message: error.message)
    }
  }

  /// The absolute path of an existing file.
  private static func absolute(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  static func startError<Value>(_ body: () throws(StoreError) -> Value) throws(StartError) -> Value {
    do throws(StoreError) {
      return try body()
    } catch {
      throw StartError(message: error.message)
    }
  }
}
