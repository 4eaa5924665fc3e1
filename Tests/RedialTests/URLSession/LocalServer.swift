import Foundation
import HTTPServer
import Redial
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A server on a free port of 127.0.0.1 that keeps what it is asked, and stops with the test.
final class LocalServer: Sendable {
  /// A request as it came.
  struct Seen: Sendable {
    /// Its number, from 1.
    var number: Int
    var method: String
    var path: String
    /// Names in lower case.
    var fields: [String: String]
    var body: String
  }

  /// How a request ends.
  enum Reply: Sendable {
    case answer(HTTPResponse)
    /// The connection is reset.
    case reset
    /// Nothing is ever said.
    case silence

    static func status(_ status: Int, _ fields: [HTTPHeader] = [], _ text: String = "") -> Reply {
      .answer(HTTPResponse(status: status, headers: fields, body: Array(text.utf8)))
    }

    static func ok(_ text: String = "well") -> Reply { status(200, [], text) }
  }

  private let server: HTTPServer
  private let log: RequestLog

  init(_ reply: @escaping @Sendable (Seen) -> Reply) throws {
    let log = RequestLog()
    self.log = log
    server = HTTPServer(configuration: HTTPServerConfiguration(), handler: Handler(log: log, reply: reply))
    try server.start()
  }

  /// Answers with one reply after the other; the last is for all that follow.
  convenience init(_ replies: Reply...) throws {
    try self.init { replies[min($0.number, replies.count) - 1] }
  }

  deinit { server.stop() }

  /// The requests so far, in their order.
  var seen: [Seen] { log.seen.withLock { $0 } }
  var count: Int { seen.count }

  func url(_ rest: String = "/") throws -> URL { try Self.url("http://127.0.0.1:\(server.port)\(rest)") }

  func request(_ method: String = "GET", _ rest: String = "/") throws -> URLRequest {
    var request = URLRequest(url: try url(rest))
    request.httpMethod = method
    return request
  }

  static func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    return url
  }
}

private final class RequestLog: Sendable {
  let seen = Mutex<[LocalServer.Seen]>([])
}

private struct Handler: HTTPHandler {
  let log: RequestLog
  let reply: @Sendable (LocalServer.Seen) -> LocalServer.Reply

  func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder) {
    var fields: [String: String] = [:]
    request.forEachHeader { name, value in
      fields[String(decoding: name, as: UTF8.self).lowercased()] = String(decoding: value, as: UTF8.self)
    }
    let (method, path, body) = (
      request.method.text, request.path, String(decoding: request.body, as: UTF8.self)
    )
    let seen = log.seen.withLock { all in
      let seen = LocalServer.Seen(number: all.count + 1, method: method, path: path, fields: fields, body: body)
      all.append(seen)
      return seen
    }
    switch reply(seen) {
    case .answer(let response): responder.respond(response)
    case .reset: responder.abort()
    case .silence: break
    }
  }
}
