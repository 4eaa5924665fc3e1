import Dispatch
import Glibc
import RedialCore
import RedialModel
import Synchronization
import Testing

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
    timeout: Duration = forever, captureLimit: Int = 4096, tls: TargetTLS? = nil
  ) -> AttemptResult? {
    perform(
      TransportRequest(
        id: 1, url: url, method: method, headers: headers, body: Array(body.utf8), timeout: timeout,
        captureLimit: captureLimit, tls: tls.map { .only($0, for: url) }))
  }

  /// The results so far.
  func results(of id: UInt64) -> [AttemptResult] { results.arrived.withLock { $0[id] ?? [] } }

  /// Waits for that many more results and returns all that have arrived; fewer, if one does not arrive in a minute. So an
  /// attempt that must not last until its timeout has one of many minutes.
  func wait(count: Int) -> [UInt64: [AttemptResult]] {
    for _ in 0..<count where results.signal.wait(timeout: .now() + .seconds(60)) == .timedOut { break }
    return results.arrived.withLock { $0 }
  }
}

/// A time that no test waits for: what is to happen without it does so at once, or in a minute.
let forever = Duration.seconds(3600)

/// The first result that is as wanted, of attempts with longer and longer timeouts, and its timeout. The shortest is
/// enough, unless the machine is so busy that the attempt does not come far in that time.
func patiently(
  from timeout: Duration, sourceLocation: SourceLocation = #_sourceLocation,
  until isWanted: (AttemptResult) -> Bool, _ perform: (Duration) throws -> AttemptResult?
) throws -> (result: AttemptResult, timeout: Duration) {
  var timeout = timeout
  while true {
    let result = try #require(try perform(timeout), sourceLocation: sourceLocation)
    if isWanted(result) { return (result, timeout) }
    guard timeout < .seconds(10) else {
      Issue.record("with a timeout of \(timeout): \(result)", sourceLocation: sourceLocation)
      return (result, timeout)
    }
    timeout = timeout * 4
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
