import Foundation
import HTTPServer
@testable import RedialClient
import RedialTestSupport
import Synchronization

/// A server in the service's place, or in a target's, that does what a script says.
final class ScriptedService: HTTPHandler {
  /// A request, as it came.
  struct Request: Sendable {
    var method: String
    var path: String
    var query: String?
    var authorization: String?
    var idempotencyKey: String?
    /// Those of a webhook, and of a stream of events.
    var headers: [String: String] = [:]
    var body: [UInt8]
  }

  /// How a request ends.
  enum Act: Sendable {
    case answer(HTTPResponse)
    /// The connection is reset, the request having been read.
    case reset
    /// Nothing, forever.
    case silence
  }

  private let script: @Sendable (Request, Int) -> Act
  private let seen = Mutex<[Request]>([])

  private init(_ script: @escaping @Sendable (Request, Int) -> Act) {
    self.script = script
  }

  /// Runs `body` with a server on a free port, or on that one. The script is given each request and its number, from 1.
  static func run<Value>(
    port: Int = 0, _ script: @escaping @Sendable (Request, Int) -> Act,
    body: (_ url: URL, _ service: ScriptedService) async throws -> Value
  ) async throws -> Value {
    let service = ScriptedService(script)
    let server = HTTPServer(configuration: HTTPServerConfiguration(port: port), handler: service)
    try server.start()
    defer { server.stop() }
    return try await body(loopback(server.port), service)
  }

  /// The requests so far.
  var requests: [Request] { seen.withLock { $0 } }

  func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder) {
    let copy = Request(
      method: request.method.text, path: request.path, query: request.query,
      authorization: request.header("authorization"), idempotencyKey: request.header("idempotency-key"),
      headers: Self.kept(request), body: Array(request.body))
    let number = seen.withLock { seen in
      seen.append(copy)
      return seen.count
    }
    switch script(copy, number) {
    case .answer(let response): responder.respond(response)
    case .reset: responder.abort()
    case .silence: break
    }
  }
}

extension ScriptedService {
  private static func kept(_ request: borrowing HTTPRequest) -> [String: String] {
    var kept: [String: String] = [:]
    let names: [StaticString] = [
      "webhook-id", "webhook-timestamp", "webhook-signature", "last-event-id", "prefer",
      "redial-namespace",
    ]
    for name in names {
      if let value = request.header(name) { kept["\(name)"] = value }
    }
    return kept
  }
}

/// A URL of this machine.
func loopback(_ port: Int, _ path: String = "") -> URL {
  guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { preconditionFailure("no URL") }
  return url
}

/// A port that nothing listens on, and that no other test's server gets: it stays bound until the process ends. A server may
/// listen there all the same, because sockets may share an address of which only one listens.
func unusedPort() -> Int { ScriptedServer.bound(isShared: true).port }

extension ScriptedService.Act {
  /// The answer of a service, with a call of that id in that state.
  static func call(
    _ state: RedialCall.State, status: Int = 200, id: String = "call_1", _ headers: [HTTPHeader] = []
  ) -> ScriptedService.Act {
    let call = RedialCall(
      id: id, state: state, url: "http://127.0.0.1/", method: "GET", target: "t", labels: [:],
      createdAt: Date(timeIntervalSince1970: 1_790_000_000), attemptCount: 1, maxAttempts: 25, attempts: [])
    let body = (try? JSONEncoder().encode(call)) ?? Data()
    return .answer(HTTPResponse(status: status, headers: headers, body: Array(body)))
  }

  /// The answer of a service that refuses.
  static func problem(_ status: Int, retryAfter: Int? = nil) -> ScriptedService.Act {
    let body = """
      {"type": "urn:redial:problem:someCode", "title": "Some title", "status": \(status), "code": "someCode",
       "detail": "Some detail.", "errors": [{"pointer": "/a", "detail": "is bad"}, {"pointer": "/b", "detail": "too"}]}
      """
    return .answer(
      HTTPResponse(
        status: status, headers: retryAfter.map { [HTTPHeader("retry-after", "\($0)")] } ?? [],
        body: Array(body.utf8)))
  }
}

/// The machine's clock, whose waits between attempts are whatever the test makes of them.
struct HookedClock: RetryClock {
  var onSleep: @Sendable (Duration) async throws -> Void
  private let system = SystemRetryClock()

  init(_ onSleep: @escaping @Sendable (Duration) async throws -> Void) { self.onSleep = onSleep }

  var now: Timestamp { system.now }
  var wallTime: Timestamp { system.wallTime }
  func sleep(for wait: Duration) async throws { try await onSleep(wait) }
  func timeout(after limit: Duration) async throws { try await system.timeout(after: limit) }
}
