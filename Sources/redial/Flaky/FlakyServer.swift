import Dispatch
import HTTPServer
import RedialCore
import RedialModel
import Synchronization
import RedialJSON

/// A server that misbehaves on purpose, for tests of clients and policies.
///
/// A request's key is its `Idempotency-Key`, which Redial gives each call, or else its path.
final class FlakyServer: HTTPHandler {
  private let behaviour: FlakyBehaviour
  private let isQuiet: Bool
  private let hits = Mutex<[String: Int]>([:])
  private let later = DispatchQueue(label: "redial.flaky.later")

  /// Maximum number of keys in memory; beyond it all are forgotten.
  private static let maximumKeys = 1_000_000
  private static let maximumDelay = Duration.seconds(3600)

  init(_ behaviour: FlakyBehaviour, isQuiet: Bool) {
    self.behaviour = behaviour
    self.isQuiet = isQuiet
  }

  func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder) {
    let path = request.path
    if path == "/_flaky/hits" { return responder.respond(report()) }
    if path == "/_flaky/reset" {
      hits.withLock { $0 = [:] }
      return responder.respond(Self.text(200, "forgotten\n"))
    }
    var behaviour = behaviour
    for pair in (request.query ?? "").split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      // Other parameters belong to the tested service.
      guard FlakyBehaviour.names.contains(where: { $0.name == parts[0] }) else { continue }
      guard parts.count == 2, behaviour.set(parts[0], parts[1]) else {
        return responder.respond(Self.text(400, "the parameter \(pair) is not valid; see redial flaky --help\n"))
      }
    }
    let key = request.header("idempotency-key") ?? path
    let hit = hits.withLock { hits in
      if hits.count >= Self.maximumKeys, hits[key] == nil { hits = [:] }
      hits[key, default: 0] += 1
      return hits[key, default: 0]
    }
    answer(behaviour.verdict(key: key, hit: hit), behaviour, "\(request.method) \(path) \(key) #\(hit)", responder)
  }

  private func answer(
    _ verdict: FlakyBehaviour.Verdict, _ behaviour: FlakyBehaviour, _ what: String, _ responder: HTTPResponder
  ) {
    if !isQuiet { Terminal.announce("\(PlainText.escaped(what)) -> \(verdict)\n") }
    guard behaviour.delay > .zero else { return Self.perform(verdict, behaviour, responder) }
    let wait = min(behaviour.delay, Self.maximumDelay)
    later.asyncAfter(deadline: .now() + .microseconds(Int(wait.wholeMicroseconds))) {
      Self.perform(verdict, behaviour, responder)
    }
  }

  private static func perform(
    _ verdict: FlakyBehaviour.Verdict, _ behaviour: FlakyBehaviour, _ responder: HTTPResponder
  ) {
    switch verdict {
    case .reset: responder.abort()
    case .answer(let status):
      var response = text(status, status < 400 ? "ok\n" : "flaky on purpose\n")
      if status >= 400, let retryAfter = behaviour.retryAfter {
        response.headers.append(HTTPHeader("retry-after", retryAfter))
      }
      responder.respond(response)
    }
  }

  /// The number of requests of each key.
  private func report() -> HTTPResponse {
    let hits = hits.withLock { $0 }
    var writer = JSONWriter(capacity: 64 * (hits.count + 1))
    writer.beginObject()
    for (key, count) in hits {
      writer.key(key)
      writer.integer(Int64(count))
    }
    writer.endObject()
    return HTTPResponse(
      status: 200, headers: [HTTPHeader("content-type", "application/json")], body: writer.bytes)
  }

  private static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [HTTPHeader("content-type", "text/plain; charset=utf-8")], body: Array(text.utf8))
  }
}

extension FlakyBehaviour.Verdict: CustomStringConvertible {
  var description: String {
    switch self {
    case .answer(let status): "\(status)"
    case .reset: "reset"
    }
  }
}
