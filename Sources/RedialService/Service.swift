internal import Dispatch
internal import Glibc
internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport
internal import RedialText

/// The whole service: it connects a store, an engine, a transport and an HTTP server.
package final class Service: Sendable {
  private let runtime: Runtime
  private let server: HTTPServer
  private let bulk: BulkRunner
  private let settings: ServiceSettings
  /// Where the store is: the absolute path of its file, or the URL of its database without credentials.
  package let dataPath: String
  /// Whether only this machine reaches the service, and at its start no request needed an API key.
  package let isForThisMachine: Bool
  package let log: Log

  /// The exit code after a failed fsync of the store. The supervisor starts the process again, and it continues with
  /// the data that is on the disk.
  package static let syncFailedExitCode: Int32 = 6

  /// Why the service cannot start.
  package typealias StartError = ServiceStartError

  /// Opens the store, takes over the state of an earlier process, and starts to listen.
  ///
  /// - Throws: What failed; nothing is left running.
  package init(settings wished: ServiceSettings) throws(StartError) {
    let descriptors = DescriptorLimit.raised()
    if let message = descriptors.shortage { throw StartError(message: message) }
    var (settings, lowered) = descriptors.bounded(wished)
    if try settings.isShared {
      settings.engine.leases = LeaseSettings(lasting: settings.leaseDuration)
      settings.engine.forwarding = ForwardingSettings()
    }
    self.settings = settings
    let libraries = try settings.libraries()
    log = Log(format: settings.logFormat, level: settings.logLevel)
    if !lowered.isEmpty {
      log.write(
        .warning, "descriptorLimit",
        [("descriptors", "\(descriptors.count)")] + lowered.map { ($0.setting, "\($0.to)") })
    }
    let notices = StoreNotices()
    let vault = try settings.vault { [log] path in
      log.write(
        .warning, "keyFileMade",
        [
          ("file", path),
          (
            "meaning", "it encrypts the secrets in the store: a backup of the store cannot be used without a copy of it"
          ),
        ])
    }
    if !settings.trustedUserHeader.isEmpty, settings.trustedProxies.isEmpty || settings.groupScopes.isEmpty {
      throw StartError(
        message:
          "trustedUserHeader is set, and \(settings.trustedProxies.isEmpty ? "trustedProxies" : "groupScopes") is not, so "
          + "nobody could sign in. Set it, or leave trustedUserHeader out; docs/signing-in.md shows both.")
    }
    // All that can refuse a start without the store comes before it: an upgrade of the store cannot be undone.
    let listeners = try Self.listeners(settings)
    let egress = settings.egress.knowing(listeners.urls)
    let isLocal = egress.reachesLoopback
    let opened = try OpenedStore(settings, notices, vault, isLocal: isLocal) { [log] error in
      log.write(.error, "syncFailed", [("error", error.message), ("exitCode", "\(Self.syncFailedExitCode)")])
      // Not `exit`: its handlers would write.
      _exit(Self.syncFailedExitCode)
    }
    if let message = settings.openDoor(opened.keys, isLocal: isLocal) {
      opened.store.close()
      throw StartError(message: message)
    }
    dataPath = opened.place
    let (store, keys) = (opened.store, opened.keys)
    let storedPolicies = StoredPolicies(limit: settings.maxPolicies, maxVersions: settings.maxPolicyVersions)
    storedPolicies.fill(from: opened.policies)
    let damaged = DamagedDocuments(log)
    if !vault.missingKeys.isEmpty {
      log.write(
        .error, "keyMissing",
        [
          ("keys", vault.missingKeys.joined(separator: ",")),
          (
            "meaning",
            "the secrets that they encrypt cannot be read: calls that need one wait. Put the key file back, or "
              + "set the secrets again; redial doctor names them"
          ),
        ])
    }
    damaged.tell(vault.damagedKeys, of: .dataKey)
    if let damage = opened.secretDamage {
      log.write(
        .error, "webhookSecretMade",
        [
          ("error", damage.message),
          ("meaning", "callbacks are signed by a new secret: give it to who verifies them (redial webhook-secret)"),
        ])
    }
    try StartError.of { () throws(StoreError) in try damaged.look(for: DamagedDocuments.kinds, in: store) }
    let sharing = try opened.shared.map { shared throws(StartError) in
      SharedParts(
        store: shared, trust: try PeerTrust.kept(in: store), keys: keys, policies: storedPolicies, damaged: damaged)
    }
    let dataKeys = NamespaceKeys(vault, isShared: opened.shared != nil, log) {
      [shared = opened.shared] namespace throws(StoreError) in
      if let shared { try shared.prepareKey(of: namespace.name) } else { try vault.prepare(namespace.name) }
    }
    do throws(TransportStartError) {
      runtime = try Runtime(
        settings: settings, store: store, reader: opened.reader, bodies: opened.bodies, secret: opened.secret,
        endpoints: opened.endpoints, credentials: opened.credentials, log: log, clock: opened.clock, sharing: sharing,
        keys: dataKeys)
    } catch {
      throw StartError(message: error.message)
    }
    var limits = settings.descriptorLimits
    limits.policies = storedPolicies.policies
    limits.credentials = opened.credentials
    limits.mayHaveSecrets = vault.canSeal
    limits.mayHaveCallbacks = opened.secret != nil
    // Whoever begins an operation may operate.
    var replayLimits = limits
    replayLimits.mayNameTargets = settings.targetNaming.allows(mayOperate: true)
    bulk = BulkRunner(BulkRunner.Surroundings(runtime, limits: replayLimits), isShared: opened.shared != nil)
    server = HTTPServer(
      configuration: settings.httpConfiguration,
      handler: Self.api(settings, runtime, keys, limits, storedPolicies, bulk),
      errorResponse: { Answer.refusal($0, $1) })
    do throws(HTTPServerError) {
      try server.bind(listeners)
    } catch {
      runtime.abandon()
      throw StartError(message: error.description)
    }
    isForThisMachine = isLocal && !keys.isRequired
    if settings.allowUnauthenticated, !keys.isRequired, !isLocal {
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
    runtime.restrict(to: egress)
    // While the store is recovered, health checks are answered, and all else is refused. Who hands a socket over expects
    // that connections wait instead.
    if !settings.listen.isInherited { server.run() }
    // Only now, so that a service that cannot listen makes no attempts either.
    do throws(StoreError) {
      // Of a store that is shared, the state comes with the lease.
      let state = opened.shared == nil ? try runtime.recover() : RecoveredState()
      // Before the store's lane works, so that notices stay in their order.
      runtime.receive(notices)
      runtime.meetOthers(at: settings.peerURL ?? PeerURL.derived(from: server.urls), bulk)
      // Before the first lease, with which the engine looks whether they are right.
      if opened.shared != nil { runtime.engine.post(.privacies(try opened.reader.privacies())) }
      runtime.begin(with: state)
      runtime.engine.post(.namespaces(keys.namespaces))
    } catch {
      server.stop()
      runtime.abandon()
      throw StartError(message: error.message)
    }
    server.run()
    // Of a store that is shared, the leader runs them.
    if opened.shared == nil { bulk.take(opened.operations, in: bulk.term) }
    log.write(
      .info, "started",
      [
        ("version", redialVersion), ("url", urls.joined(separator: " ")), ("store", opened.place),
        ("libraries", libraries.map(\.description).joined(separator: ", ")),
      ])
    for library in libraries where !library.faults.isEmpty { log.write(library.faults, of: library) }
  }

  /// The addresses of the service, such as `http://127.0.0.1:8080` or `unix:/run/redial.sock`; more than one only for
  /// inherited sockets.
  package var urls: [String] { server.urls }

  /// How long a stop still accepts requests that had already arrived, before the engine refuses new calls.
  private static let arrivedTime = DispatchTimeInterval.seconds(1)

  /// How long a stop waits at most for the page of calls that an operation is working on.
  private static let pageTime = Duration.seconds(5)

  /// Accepts no more calls, waits for attempts in flight up to the configured time, and closes the store.
  package func stop() {
    log.write(.info, "stopping", [("drainTimeout", DurationText.format(settings.drainTimeout))])
    bulk.stop(within: min(settings.drainTimeout, Self.pageTime))
    let closed = DispatchSemaphore(value: 0)
    server.drain(within: settings.drainTimeout) { closed.signal() }
    // Requests that have arrived are still accepted; a slow client delays nothing.
    let isClosed = closed.wait(timeout: .now() + Self.arrivedTime) == .success
    runtime.drain(within: settings.drainTimeout)
    if !isClosed { _ = closed.wait(timeout: .now() + .seconds(2)) }
    log.write(.info, "stopped")
  }

  /// The sockets of the address in the settings.
  private static func listeners(_ settings: ServiceSettings) throws(StartError) -> HTTPListeners {
    do throws(HTTPServerError) {
      return try HTTPListeners(settings.httpConfiguration)
    } catch {
      throw StartError(message: error.description)
    }
  }
}
