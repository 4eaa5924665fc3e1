import Dispatch
import RedialCore
import RedialModel
import Synchronization

@testable import RedialTransport

/// A transport whose results can be waited for.
final class TransportProbe: Sendable {
  let transport: Transport
  private let results: Results

  private final class Results: Sendable {
    let arrived = Mutex<[UInt64: [AttemptResult]]>([:])
    let signal = DispatchSemaphore(value: 0)
  }

  /// - Parameter resolve: Finds the addresses of names.
  init(
    resolve: @escaping @Sendable (String) -> NameLookup.Result,
    _ adjust: (inout TransportConfiguration) -> Void = { _ in }
  ) throws {
    var configuration = TransportConfiguration(userAgent: "redial/test")
    adjust(&configuration)
    let results = Results()
    self.results = results
    transport = try Transport(configuration: configuration, resolve: resolve) { batch in
      results.arrived.withLock { arrived in
        for (id, result) in batch { arrived[id, default: []].append(result) }
      }
      for _ in batch { results.signal.signal() }
    }
  }

  convenience init(_ adjust: (inout TransportConfiguration) -> Void = { _ in }) throws {
    try self.init(resolve: NameLookup.resolve, adjust)
  }

  deinit { transport.shutdown() }

  /// Performs one request and waits for its result.
  func perform(_ request: TransportRequest) -> AttemptResult? {
    transport.start([request])
    return wait(count: 1)[request.id]?.last
  }

  /// Performs one request to a URL.
  func perform(
    _ url: String, method: String = "GET", headers: [HeaderField] = [], body: String = "",
    timeout: Duration = .seconds(10), captureLimit: Int = 4096, tls: TargetTLS? = nil
  ) -> AttemptResult? {
    perform(
      TransportRequest(
        id: 1, url: url, method: method, headers: headers, body: Array(body.utf8), timeout: timeout,
        captureLimit: captureLimit, tls: tls.map { .only($0, for: url) }))
  }

  /// The results so far.
  func results(of id: UInt64) -> [AttemptResult] { results.arrived.withLock { $0[id] ?? [] } }

  /// Waits for that many more results and returns all that have arrived; fewer, if they do not arrive in a minute:
  /// machines that run tests are loaded, and a test that takes too long fails by the requests' own timeouts.
  func wait(count: Int) -> [UInt64: [AttemptResult]] {
    for _ in 0..<count where results.signal.wait(timeout: .now() + .seconds(60)) == .timedOut { break }
    return results.arrived.withLock { $0 }
  }
}

extension AttemptResult {
  var head: HeaderBlock { response?.head ?? HeaderBlock() }
  var body: [UInt8] { response?.body ?? [] }
  var truncated: Bool { response?.truncated ?? false }
}

extension CallTLS {
  /// Settings for the URL's origin, and for no other.
  static func only(_ tls: TargetTLS, for url: String) -> CallTLS {
    let origin = (try? TargetURL(url).origin) ?? url
    let target = TargetKey(origin, in: .default)
    var settings = OriginTLS()
    settings.set(tls, of: target)
    return CallTLS(settings, target: target)
  }
}
