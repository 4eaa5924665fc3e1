internal import CCurl
internal import Dispatch
internal import Synchronization
package import RedialModel

/// Makes attempts: HTTP requests to targets, many at a time, on one thread that keeps connections alive.
///
/// One attempt is at most one request, and one more for each redirect that it may follow: libcurl must not repeat
/// requests on its own. Proxies, cookies and credentials of the environment are not used; only the schemes `http` and
/// `https` are. A process that uses it ignores `SIGPIPE`, which TLS would raise for a peer that has gone.
package final class Transport: Sendable {
  /// The id of a request, and how its attempt ended.
  package typealias Ended = (id: UInt64, result: AttemptResult)

  private let loop: TransferLoop

  /// Starts a transport.
  ///
  /// - Parameter completions: Gets the results, in batches, on the transport's thread; it must not block. Each
  ///   request has exactly one result.
  /// - Throws: If libcurl cannot be started.
  package convenience init(
    configuration: TransportConfiguration, completions: @escaping @Sendable ([Ended]) -> Void
  ) throws(TransportStartError) {
    try self.init(configuration: configuration, resolve: NameLookup.resolve, completions: completions)
  }

  /// Starts a transport.
  ///
  /// - Parameter resolve: Finds the addresses of a name; it may block.
  init(
    configuration: TransportConfiguration, resolve: @escaping @Sendable (String) -> NameLookup.Result,
    completions: @escaping @Sendable ([Ended]) -> Void
  ) throws(TransportStartError) {
    guard LibCurl.isUsable, let multi = curl_multi_init() else {
      throw TransportStartError(message: "libcurl could not be started: there is not enough memory.")
    }
    guard let events = SocketEvents(), events.attach(multi) else {
      curl_multi_cleanup(multi)
      throw TransportStartError(message: "The transport could not be started: out of file descriptors.")
    }
    _ = redial_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(1, configuration.maxIdleConnections))
    let loop = TransferLoop(
      multi: multi, events: events, configuration: configuration, resolve: resolve, completions: completions)
    self.loop = loop
    DispatchQueue(label: "redial.transport", qos: .userInitiated).async { loop.run() }
  }

  deinit { loop.post([.stop]) }

  /// Starts requests, from any thread.
  package func start(_ requests: [TransportRequest]) {
    loop.post(requests.map { .start($0) })
  }

  /// Starts requests that are made on the transport's thread, from any thread: what their making costs, such as a
  /// signature, then delays nobody else.
  ///
  /// - Parameter requests: Called once; it must not block. If the transport has been shut down it is called at once, and
  ///   its requests end as `cancelled`.
  package func start(making requests: @escaping @Sendable () -> [TransportRequest]) {
    loop.post([.make(requests)])
  }

  /// Sets the egress policy, before the first request: the service's own addresses are known only late.
  package func restrict(to policy: EgressPolicy) {
    loop.post([.restrict(policy)])
  }

  /// Aborts requests at once; those that are not in flight have already ended.
  package func cancel(_ ids: [UInt64]) {
    loop.post(ids.map { .cancel($0) })
  }

  /// How many kept connections were not used again because of what was found on them before.
  package var abandonedConnections: Int { loop.abandonedConnections.load(ordering: .relaxed) }

  /// Aborts everything and ends. Requests in flight, and later ones, end as `cancelled`.
  package func shutdown() {
    loop.post([.stop])
  }
}
