import Dispatch
import Glibc
import Synchronization
import Testing

@testable import HTTPServer

/// A server on a free port of 127.0.0.1 that stops with the test.
final class TestServer {
  let server: HTTPServer

  /// Starts a server that answers each request at once with its method, its path and its body.
  convenience init(_ configure: (inout HTTPServerConfiguration) -> Void = { _ in }) throws {
    try self.init(configure) { request, responder in responder.respond(Self.echo(request)) }
  }

  init(
    _ configure: (inout HTTPServerConfiguration) -> Void = { _ in },
    errorResponse: (@Sendable (Int, String) -> HTTPResponse)? = nil, codedPath: String? = nil,
    _ handle: @escaping @Sendable (borrowing HTTPRequest, HTTPResponder) -> Void
  ) throws {
    var configuration = HTTPServerConfiguration()
    configure(&configuration)
    server = HTTPServer(
      configuration: configuration, handler: ClosureHandler(codedPath: codedPath, handle: handle),
      errorResponse: errorResponse)
    try server.start()
  }

  deinit { server.stop() }

  /// A client of the server's TCP port on 127.0.0.1.
  func connect(receiveBuffer: Int32? = nil) throws -> RawConnection {
    try RawConnection(port: server.port, receiveBuffer: receiveBuffer)
  }

  static func echo(_ request: borrowing HTTPRequest) -> HTTPResponse {
    HTTPResponse(
      status: 200, text: "\(request.method) \(request.path) \(String(decoding: request.body, as: UTF8.self))")
  }
}

extension TestServer {
  /// A server that answers at once, but for requests for `/held`, which the test answers.
  static func holding(
    _ configure: (inout HTTPServerConfiguration) -> Void = { _ in }
  ) throws -> (server: TestServer, held: Inbox<HTTPResponder>) {
    let held = Inbox<HTTPResponder>()
    let server = try TestServer(configure) { request, responder in
      if request.path == "/held" { held.put(responder) } else { responder.respond(echo(request)) }
    }
    return (server, held)
  }

  /// A server whose loop a request for `/block` keeps busy, from what it puts into the one until there is something in the other.
  static func blockable(
    _ configure: (inout HTTPServerConfiguration) -> Void = { _ in }
  ) throws -> (server: TestServer, entered: Inbox<Void>, proceed: Inbox<Void>) {
    let (entered, proceed) = (Inbox<Void>(), Inbox<Void>())
    let server = try TestServer(configure) { request, responder in
      if request.path == "/block" {
        entered.put(())
        try? proceed.take()
      }
      responder.respond(echo(request))
    }
    return (server, entered, proceed)
  }
}

/// A handler that is one function.
struct ClosureHandler: HTTPHandler {
  /// The path whose bodies it wants as they were sent.
  var codedPath: String?
  let handle: @Sendable (borrowing HTTPRequest, HTTPResponder) -> Void

  func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder) { handle(request, responder) }

  func wantsCodedContent(of request: borrowing HTTPRequest) -> Bool { request.path == codedPath }
}

/// Values passed from the server's threads to the test, which waits for them.
final class Inbox<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  private let arrivals = DispatchSemaphore(value: 0)

  func put(_ element: Element) {
    elements.withLock { $0.append(element) }
    arrivals.signal()
  }

  /// The oldest value; waits for one.
  func take() throws -> Element {
    guard arrivals.wait(timeout: .now() + 60) == .success else { throw RawConnection.Failure.timedOut }
    return elements.withLock { $0.removeFirst() }
  }

  /// How many there are now.
  var count: Int { elements.withLock { $0.count } }
}

/// A machine was too busy to do in a timeout what a test does in it.
struct TooBusy: Error {}

/// Runs a body with longer and longer timeouts until it does not throw: until a client is in time on a machine this busy.
func patiently(from timeout: Duration, _ body: (Duration) throws -> Void) throws {
  var timeout = timeout
  while timeout < .seconds(10) {
    do {
      return try body(timeout)
    } catch is RawConnection.Failure, is TooBusy {
      timeout = timeout * 8
    }
  }
  try body(timeout)
}
