import Glibc
import Testing

@testable import HTTPServer

@Suite("A server's life")
struct LifecycleTests {
  @Test("ends with a drain: current requests are answered, idle connections closed, and no new ones accepted")
  func drains() throws {
    let (server, held) = try TestServer.holding()
    let idle = try server.connect()
    try idle.get("/")
    _ = try idle.response()
    let silent = try server.connect()
    let busy = try server.connect()
    try busy.get("/held")
    let responder = try held.take()
    let partial = try server.connect()
    try partial.send("GET /rest HTTP/1.1\r\nHo")
    // Answered after the first bytes above were read, because a loop serves its connections in turn.
    try idle.get("/")
    _ = try idle.response()

    let ends = Inbox<Void>()
    server.server.drain(within: .seconds(3600)) { ends.put(()) }
    server.server.drain(within: .seconds(3600)) { ends.put(()) }
    #expect(try idle.endsHere())
    #expect(try silent.endsHere())
    #expect(throws: RawConnection.Failure.system("connect", ECONNREFUSED)) { try server.connect() }
    try partial.send("st: a\r\n\r\n")
    let last = try partial.response()
    #expect(last.text == "GET /rest " && last["connection"] == "close")
    #expect(try partial.endsHere())
    partial.close()
    #expect(ends.count == 0)

    responder.respond(HTTPResponse(status: 200, text: "done"))
    let response = try busy.response()
    #expect(response.text == "done" && response["connection"] == "close")
    #expect(try busy.endsHere())
    busy.close()
    try ends.take()
    try ends.take()
    #expect(ends.count == 0)
  }

  @Test("answers a request that had arrived unread when the drain began")
  func drainsWhatHasArrived() throws {
    let (server, entered, proceed) = try TestServer.blockable()
    let waiting = try server.connect()
    try waiting.get("/")
    _ = try waiting.response()
    let blocking = try server.connect()
    try blocking.get("/block")
    try entered.take()
    // The loop is busy in the handler: these reach the kernel, and the loop only after the drain.
    try waiting.get("/unread")
    let fresh = try server.connect()
    try fresh.get("/fresh")
    let ends = Inbox<Void>()
    server.server.drain(within: .seconds(3600)) { ends.put(()) }
    proceed.put(())
    #expect(try waiting.response().text == "GET /unread ")
    #expect(try fresh.response().text == "GET /fresh ")
    for client in [waiting, fresh, blocking] { client.close() }
    try ends.take()
  }

  @Test("lets a slow reader have its answer before a drain ends")
  func drainsSlowReaders() throws {
    let body = [UInt8](repeating: 0x78, count: 8_000_000)
    let server = try TestServer { _, responder in responder.respond(HTTPResponse(status: 200, body: body)) }
    let client = try server.connect(receiveBuffer: 4096)
    try client.get("/")
    try client.receive(atMost: 100)
    let ends = Inbox<Void>()
    server.server.drain(within: .seconds(3600)) { ends.put(()) }
    #expect(try client.response().body.count == body.count)
    #expect(try client.endsHere())
    try ends.take()
  }

  @Test("ends at the drain's time limit, answered or not")
  func drainsWithinBound() throws {
    let held = Inbox<HTTPResponder>()
    let server = try TestServer { _, responder in held.put(responder) }
    let client = try server.connect()
    try client.get("/")
    let responder = try held.take()
    let ends = Inbox<Void>()
    server.server.drain(within: .milliseconds(30)) { ends.put(()) }
    try ends.take()
    #expect(try client.endsHere())
    responder.respond(HTTPResponse(status: 200))
    responder.abort()
    server.server.drain(within: .seconds(1)) { ends.put(()) }
    #expect(ends.count == 1)
  }

  @Test("ends at once when it is stopped")
  func stops() throws {
    let held = Inbox<HTTPResponder>()
    let server = try TestServer({ $0.loops = 2 }) { _, responder in held.put(responder) }
    let clients = try (0..<8).map { _ in try server.connect() }
    for client in clients { try client.get("/") }
    for _ in clients { _ = try held.take() }
    server.server.stop()
    for client in clients { #expect(try client.endsHere()) }
    let ends = Inbox<Void>()
    server.server.drain(within: .seconds(3600)) { ends.put(()) }
    try ends.take()
    #expect(throws: RawConnection.Failure.system("connect", ECONNREFUSED)) { try server.connect() }
  }

  @Test("ends when it is released")
  func endsWithItsOwner() throws {
    var server: TestServer? = try TestServer()
    let client = try #require(server).connect()
    try client.get("/")
    _ = try client.response()
    server = nil
    #expect(try client.endsHere())
  }

  @Test("has its address when it is bound, and connections wait until it runs, or end with it")
  func bindsFirst() throws {
    func bound() throws -> HTTPServer {
      let server = HTTPServer(
        configuration: HTTPServerConfiguration(), handler: ClosureHandler { $1.respond(TestServer.echo($0)) })
      try server.bind()
      return server
    }
    let server = try bound()
    let client = try RawConnection(port: server.port)
    try client.get("/early")
    #expect(server.urls == ["http://127.0.0.1:\(server.port)"])
    #expect(throws: HTTPServerError.alreadyStarted) { try server.bind() }
    server.run()
    server.run()
    #expect(try client.response().text == "GET /early ")
    server.stop()

    let unused = try bound()
    let waiting = try RawConnection(port: unused.port)
    unused.stop()
    #expect(throws: RawConnection.Failure.self) { try waiting.response() }
    #expect(throws: RawConnection.Failure.system("connect", ECONNREFUSED)) { try RawConnection(port: unused.port) }
    unused.run()
    let ends = Inbox<Void>()
    unused.drain(within: .seconds(1)) { ends.put(()) }
    #expect(ends.count == 1)
  }

  @Test("begins once")
  func beginsOnce() throws {
    let server = try TestServer()
    #expect(throws: HTTPServerError.alreadyStarted) { try server.server.start() }
    let stopped = HTTPServer(configuration: HTTPServerConfiguration(), handler: ClosureHandler { _, _ in })
    #expect(stopped.port == 0)
    stopped.stop()
    #expect(throws: HTTPServerError.alreadyStarted) { try stopped.start() }
    let ends = Inbox<Void>()
    stopped.drain(within: .seconds(1)) { ends.put(()) }
    #expect(ends.count == 1)
  }

  @Test("does not begin on a port that is taken, and says what to do", arguments: [(1, 1), (1, 2), (2, 1), (2, 2)])
  func refusesTakenPort(loops: Int, others: Int) throws {
    let server = try TestServer { $0.loops = loops }
    let port = server.server.port
    let error = #expect(throws: HTTPServerError.self) {
      try TestServer {
        $0.address = .tcp(host: "127.0.0.1", port: port)
        $0.loops = others
      }
    }
    #expect(
      error?.description == "Cannot listen on 127.0.0.1:\(port): bind: Address already in use. "
        + "Another process listens there: stop it or choose another port.")
    // It is unchanged.
    let client = try server.connect()
    try client.get("/")
    #expect(try client.response().status == 200)
  }

  @Test("does not begin on an invalid address")
  func refusesWrongAddress() {
    for host in ["", "example.com", "1.2.3", "127.0.0.1\0", "[::1]"] {
      #expect(throws: HTTPServerError.invalidHost(host)) { try TestServer { $0.address = .tcp(host: host, port: 0) } }
    }
    for port in [-1, 65_536] {
      #expect(throws: HTTPServerError.invalidPort(port)) {
        try TestServer { $0.address = .tcp(host: "127.0.0.1", port: port) }
      }
    }
    #expect(
      HTTPServerError.invalidHost("x").description
        == "Cannot listen on \"x\": give an IPv4 or IPv6 address, such as 127.0.0.1 or ::1, or localhost.")
  }

  @Test(
    "writes the addresses of peers without a port",
    arguments: [
      ("127.0.0.1", "127.0.0.1"), ("2001:DB8::1", "2001:db8::1"), ("::1", "::1"), ("::ffff:192.0.2.1", "192.0.2.1"),
    ])
  func writesAddresses(host: String, text: String) throws {
    let address = try SocketAddress(host: host, port: 80)
    #expect(address.text == text && address.port == 80)
  }

  @Test("listens on localhost, and keeps every limit within the range of its counters")
  func takesExtremes() throws {
    let server = try TestServer {
      $0.address = .tcp(host: "localhost", port: 0)
      $0.maxConnections = .max
      $0.maxBodyBytes = .max
      $0.maxHeaderBytes = .max
      $0.maxHeaderCount = .max
      $0.maxTargetLength = .max
      $0.backlog = .max
      $0.idleTimeout = .seconds(Int64.max)
    }
    let client = try server.connect()
    try client.get("/")
    #expect(try client.response().status == 200)
    try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775807\r\n\r\n")
    #expect(try client.response().status == 413)
  }
}
