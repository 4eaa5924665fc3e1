internal import CCurl
internal import Dispatch
public import RedialModel

/// Makes attempts: HTTP exchanges with targets, many at a time, on one thread that keeps connections alive.
///
/// One attempt is at most one request, and one more for each redirect that it may follow: libcurl's own repetitions are
/// held back. Neither proxies, cookies nor credentials from the environment are used; of schemes only `http` and `https`.
/// A process that uses it ignores `SIGPIPE`, which TLS would raise for a peer that has gone.
public final class Transport: Sendable {
  private let loop: TransferLoop

  /// Starts a transport.
  ///
  /// - Parameter completions: Told the results, in batches, on the transport's thread; it must not block. Each request
  ///   has exactly one result.
  /// - Throws: When libcurl cannot be started.
  public convenience init(
    configuration: TransportConfiguration, completions: @escaping @Sendable ([TransportResult]) -> Void
  ) throws(TransportStartError) {
    try self.init(configuration: configuration, resolve: NameLookup.resolve, completions: completions)
  }

  /// Starts a transport.
  ///
  /// - Parameter resolve: Finds the addresses of a name; it may block.
  init(
    configuration: TransportConfiguration, resolve: @escaping @Sendable (String) -> NameLookup.Result,
    completions: @escaping @Sendable ([TransportResult]) -> Void
  ) throws(TransportStartError) {
    guard LibCurl.isUsable, let multi = curl_multi_init() else {
      throw TransportStartError(message: "libcurl could not be started: there is not enough memory.")
    }
    guard let events = SocketEvents(), events.attach(multi) else {
      curl_multi_cleanup(multi)
      throw TransportStartError(message: "The transport could not be started: out of file descriptors.")
    }
    _ = redial_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(1, configuration.maxIdleConnections))
    _ = redial_curl_multi_set_long(
      multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(1, configuration.maxConnectionsPerTarget))
    let loop = TransferLoop(
      multi: multi, events: events, configuration: configuration, resolve: resolve, completions: completions)
    self.loop = loop
    DispatchQueue(label: "redial.transport", qos: .userInitiated).async { loop.run() }
  }

  deinit { loop.post([.stop]) }

  /// Begins requests, from any thread.
  public func start(_ requests: [TransportRequest]) {
    loop.post(requests.map { .start($0) })
  }

  /// Puts an egress policy in force, before the first request: where the service itself listens is known only late.
  public func restrict(to policy: EgressPolicy) {
    loop.post([.restrict(policy)])
  }

  /// Aborts requests at once; those that are not under way have ended already.
  public func cancel(_ ids: [UInt64]) {
    loop.post(ids.map { .cancel($0) })
  }

  /// Aborts everything and ends; what was under way, and what comes later, results in `cancelled`.
  public func shutdown() {
    loop.post([.stop])
  }
}
