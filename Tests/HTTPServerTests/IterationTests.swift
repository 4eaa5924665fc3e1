import Synchronization
import Testing

@testable import HTTPServer

@Suite("The iterations of an event loop")
struct IterationTests {
  /// Answers at the end of the iteration in which a request arrived, and only then.
  private final class Gathering: HTTPHandler {
    private let waiting = Mutex<[HTTPResponder]>([])

    func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder) {
      waiting.withLock { $0.append(responder) }
    }

    func turnEnded() {
      let gathered = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      for responder in gathered { responder.respond(HTTPResponse(status: 200, text: "of \(gathered.count)")) }
    }
  }

  @Test("what a handler has collected in an iteration is passed on at its end")
  func ends() throws {
    var configuration = HTTPServerConfiguration()
    configuration.loops = 1
    let server = HTTPServer(configuration: configuration, handler: Gathering())
    try server.start()
    defer { server.stop() }
    let connections = try (0..<3).map { _ in try RawConnection(port: server.port) }
    for connection in connections { try connection.get("/") }
    for connection in connections { #expect(try connection.response().status == 200) }
    // The second request of a connection is parsed after the first was answered; no event of the kernel causes that.
    try connections[0].send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try connections[0].response().status == 200)
    #expect(try connections[0].response().status == 200)
  }
}
