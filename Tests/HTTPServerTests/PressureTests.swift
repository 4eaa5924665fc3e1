import Glibc
import Synchronization
import Testing

@testable import HTTPServer

@Suite("Under pressure, a server")
struct PressureTests {
  private static let largeBody = Array(String(repeating: "nineteen bytes long", count: 421_053).utf8)

  @Test("sends a whole large answer to a slow reader, and serves others meanwhile")
  func servesSlowReaders() throws {
    let server = try TestServer { request, responder in
      responder.respond(
        request.path == "/large" ? HTTPResponse(status: 200, body: Self.largeBody) : TestServer.echo(request))
    }
    let slow = try server.connect(receiveBuffer: 4096)
    try slow.get("/large")
    try slow.get("/after")
    try slow.receive(atMost: 100)
    let other = try server.connect()
    try other.get("/other")
    #expect(try other.response().text == "GET /other ")
    #expect(try slow.response().body == Self.largeBody)
    #expect(try slow.response().text == "GET /after ")
  }

  @Test("resets a reader that reads nothing for the write timeout")
  func resetsStalledReaders() throws {
    let server = try TestServer({ $0.writeTimeout = .milliseconds(50) }) { _, responder in
      responder.respond(HTTPResponse(status: 200, body: Self.largeBody))
    }
    let client = try server.connect(receiveBuffer: 4096)
    try client.get("/")
    try client.waitForReset()
  }

  @Test("waits for a slow reader, if it reads anything at all within the write timeout")
  func toleratesSlowReaders() throws {
    try patiently(from: .milliseconds(100)) { timeout in
      let server = try TestServer({ $0.writeTimeout = timeout }) { _, responder in
        responder.respond(HTTPResponse(status: 200, body: Self.largeBody))
      }
      let client = try server.connect(receiveBuffer: 4096)
      try client.get("/")
      let started = ContinuousClock.now
      // The pauses are the subject of the test: too little is read for the server's socket to become writable.
      while ContinuousClock.now - started < timeout * 3 {
        try client.receive(atMost: 4096)
        usleep(10_000)
      }
      #expect(try client.response().body == Self.largeBody)
    }
  }

  @Test("makes no further answers for a client that does not read the first ones")
  func holdsAnswersBack() throws {
    let calls = Inbox<Void>()
    let server = try TestServer { request, responder in
      guard request.path == "/large" else { return responder.respond(TestServer.echo(request)) }
      calls.put(())
      responder.respond(HTTPResponse(status: 200, body: Self.largeBody))
    }
    let client = try server.connect(receiveBuffer: 4096)
    try client.send(String(repeating: "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", count: 50))
    try calls.take()
    let other = try server.connect()
    try other.get("/")
    _ = try other.response()
    #expect(calls.count == 0)
  }

  @Test("stops reading a client that pipelines endlessly while its first request is being answered")
  func pushesBack() throws {
    let held = Inbox<HTTPResponder>()
    let server = try TestServer { request, responder in
      if request.path == "/iteration" { responder.respond(TestServer.echo(request)) } else { held.put(responder) }
    }
    let (client, other) = (try server.connect(), try server.connect())
    let request = "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 8000))\r\n\r\n"
    let stalls = try client.stalls(sending: request, before: 100_000_000) {
      try other.get("/iteration")
      _ = try other.response()
    }
    #expect(stalls)
    for index in 0..<30 {
      try held.take().respond(HTTPResponse(status: 200, text: "\(index)"))
      #expect(try client.response().text == "\(index)")
    }
    // The next request is current by now; once removed, it does not keep the server alive.
    _ = try held.take()
  }

  @Test("continues with pipelined requests once the current one is answered")
  func goesOn() throws {
    let held = Inbox<HTTPResponder>()
    let server = try TestServer { _, responder in held.put(responder) }
    let client = try server.connect()
    try client.get("/")
    let first = try held.take()
    let request = "GET /more HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 1000))\r\n\r\n"
    try client.send(String(repeating: request, count: 30))
    first.respond(HTTPResponse(status: 200, text: "first"))
    #expect(try client.response().text == "first")
    for index in 0..<30 {
      try held.take().respond(HTTPResponse(status: 200, text: "\(index)"))
      #expect(try client.response().text == "\(index)")
    }
    #expect(held.count == 0)
  }

  @Test("forgets a client that leaves while the handler works, and sends its answer to no other")
  func forgetsTheGone() throws {
    let held = Inbox<HTTPResponder>()
    let server = try TestServer({ $0.bound(connections: 1) }) { _, responder in held.put(responder) }
    let gone = try server.connect()
    try gone.get("/gone")
    let late = try held.take()
    gone.reset()
    // It uses the slot of the first, which shows that the first is closed.
    let next = try server.connect()
    try next.get("/next")
    let responder = try held.take()
    late.respond(HTTPResponse(status: 200, text: "late"))
    late.abort()
    responder.respond(HTTPResponse(status: 200, text: "next"))
    responder.respond(HTTPResponse(status: 200, text: "twice"))
    #expect(try next.response().text == "next")
    try next.get("/again")
    try held.take().respond(HTTPResponse(status: 200, text: "again"))
    #expect(try next.response().text == "again")
  }

  @Test("forgets a client that leaves after it sent more requests than are read ahead")
  func forgetsTheGoneUnread() throws {
    let held = Inbox<HTTPResponder>()
    let server = try TestServer({ $0.bound(connections: 1) }) { _, responder in held.put(responder) }
    let gone = try server.connect()
    try gone.send(String(repeating: "GET /gone HTTP/1.1\r\nHost: a\r\n\r\n", count: 1000))
    _ = try held.take()
    gone.reset()
    let next = try server.connect()
    try next.get("/next")
    try held.take().respond(HTTPResponse(status: 200, text: "next"))
    #expect(try next.response().text == "next")
    #expect(held.count == 0)
  }

  @Test("forgets a client that leaves in the middle of a large answer")
  func forgetsTheGoneReading() throws {
    let server = try TestServer({ $0.bound(connections: 1) }) { request, responder in
      responder.respond(
        request.path == "/large" ? HTTPResponse(status: 200, body: Self.largeBody) : TestServer.echo(request))
    }
    let gone = try server.connect(receiveBuffer: 4096)
    try gone.get("/large")
    try gone.receive(atMost: 100)
    gone.reset()
    let next = try server.connect()
    try next.get("/next")
    #expect(try next.response().text == "GET /next ")
  }

  @Test("accepts more simultaneous connections than fit one iteration")
  func acceptsMany() throws {
    let (server, entered, proceed) = try TestServer.blockable()
    let blocking = try server.connect()
    try blocking.get("/block")
    try entered.take()
    let clients = try (0..<150).map { _ in try server.connect() }
    for client in clients { try client.get("/") }
    let ends = Inbox<Void>()
    server.server.drain(within: .seconds(3600)) { ends.put(()) }
    proceed.put(())
    for client in clients + [blocking] {
      #expect(try client.response().status == 200)
      client.close()
    }
    try ends.take()
  }

  @Test("at its limit, closes the connection that is idle longest for a new one")
  func replacesIdle() throws {
    let server = try TestServer { $0.maxConnections = 2 }
    let clients = [try server.connect(), try server.connect()]
    for client in clients + clients.prefix(1) {
      try client.get("/")
      _ = try client.response()
    }
    let third = try server.connect()
    try third.get("/third")
    #expect(try third.response().text == "GET /third ")
    #expect(try clients[1].endsHere())
    try clients[0].get("/still")
    #expect(try clients[0].response().text == "GET /still ")
  }

  @Test("at its limit, resets no idle connection whose next request has arrived unread")
  func sparesTheBusy() throws {
    for _ in 0..<20 {
      let (server, entered, proceed) = try TestServer.blockable {
        $0.maxConnections = 2
        $0.maxSurplusConnections = 1
      }
      let kept = try server.connect()
      try kept.get("/first")
      _ = try kept.response()
      let blocking = try server.connect()
      try blocking.get("/block")
      try entered.take()
      // While the loop is busy, one is idle as far as it knows, and another arrives.
      try kept.get("/second")
      let new = try server.connect()
      try new.get("/new")
      proceed.put(())
      #expect(try kept.response().text == "GET /second ")
      #expect(try blocking.response().status == 200)
      #expect([200, 503].contains(try new.response().status))
    }
  }

  @Test("an answer that is aborted does not affect earlier ones")
  func abortsAlone() throws {
    let server = try TestServer { request, responder in
      if request.path == "/abort" { responder.abort() } else { responder.respond(TestServer.echo(request)) }
    }
    let client = try server.connect()
    try client.send(["/one", "/two", "/abort"].map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
    #expect(try client.response().text == "GET /one ")
    #expect(try client.response().text == "GET /two ")
  }

  @Test(
    "at its limit, with none idle, answers the request of a new connection with 503, and serves it when a slot is free"
  )
  func refusesSurplus() throws {
    let (server, held) = try TestServer.holding {
      $0.maxConnections = 1
      $0.maxSurplusConnections = 2
    }
    let first = try server.connect()
    try first.get("/held")
    let responder = try held.take()
    // A connection without a request is not refused for that: there may be a free slot when it sends one.
    let patient = try server.connect()
    for round in 0..<3 {
      let refused = try server.connect()
      if round == 1 {
        try refused.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n")
      } else {
        try refused.get("/refused")
      }
      let answer = try refused.response()
      #expect(answer.status == 503)
      #expect(answer["retry-after"] == "1")
      #expect(answer["connection"] == "close")
      #expect(try refused.endsHere())
    }
    responder.respond(HTTPResponse(status: 200, text: "first"))
    #expect(try first.response().text == "first")
    try patient.get("/patient")
    #expect(try patient.response().text == "GET /patient ")
    try patient.get("/again")
    #expect(try patient.response().text == "GET /again ")
  }

  @Test("at its limit, closes connections that have sent nothing for new ones, the oldest first")
  func replacesSilent() throws {
    let server = try TestServer({
      $0.maxConnections = 4
      $0.maxSurplusConnections = 1
    }) { request, responder in responder.respond(TestServer.echo(request)) }
    var silent: [RawConnection] = []
    for round in 0..<50 {
      silent.append(try server.connect())
      let client = try server.connect()
      try client.get("/\(round)")
      #expect(try client.response().text == "GET /\(round) ")
    }
    #expect(try silent[0].endsHere())
    // The last one is still there.
    let last = try server.connect()
    try last.get("/last")
    #expect(try last.response().text == "GET /last ")
  }

  @Test("at its limit, with all of them busy, refuses each new connection at once, however many send nothing")
  func refusesBesideSilentSurplus() throws {
    let (server, held) = try TestServer.holding {
      $0.maxConnections = 1
      $0.maxSurplusConnections = 2
    }
    let first = try server.connect()
    try first.get("/held")
    let responder = try held.take()
    let silent = try (0..<10).map { _ in try server.connect() }
    // Half a request counts like none.
    let half = try server.connect()
    try half.send("GET / HTTP/1.1\r\nHost:")
    for _ in 0..<3 {
      let refused = try server.connect()
      try refused.get("/refused")
      #expect(try refused.response().status == 503)
    }
    #expect(try silent[0].response().status == 503)
    responder.respond(HTTPResponse(status: 200, text: "first"))
    #expect(try first.response().text == "first")
  }

  @Test("at its limit, with none idle, serves a new connection as soon as one is idle")
  func waitsForIdle() throws {
    let (server, held) = try TestServer.holding { $0.bound(connections: 1) }
    let first = try server.connect()
    try first.get("/held")
    let responder = try held.take()
    let second = try server.connect()
    try second.get("/second")
    responder.respond(HTTPResponse(status: 200, text: "first"))
    #expect(try first.response().text == "first")
    #expect(try second.response().text == "GET /second ")
    #expect(try first.endsHere())
  }

  @Test("answers a batch for many connections of several loops")
  func answersBatches() throws {
    let held = Inbox<(String, HTTPResponder)>()
    let server = try TestServer({ $0.loops = 2 }) { request, responder in held.put((request.path, responder)) }
    let clients = try (0..<40).map { _ in try server.connect() }
    for (index, client) in clients.enumerated() { try client.get("/\(index)") }
    var batch: [(HTTPResponder, HTTPResponse)] = []
    for _ in clients {
      let (path, responder) = try held.take()
      batch.append((responder, HTTPResponse(status: 200, text: path)))
    }
    HTTPResponder.respond(batch) { $0 }
    HTTPResponder.respond([(HTTPResponder, HTTPResponse)]()) { $0 }
    for (index, client) in clients.enumerated() { #expect(try client.response().text == "/\(index)") }
  }

  @Test("answers a batch on the loop's own thread, including the current request")
  func answersBatchesOnLoop() throws {
    let waiting = Mutex<[(HTTPResponder, HTTPResponse)]>([])
    let server = try TestServer { request, responder in
      let batch = waiting.withLock { waiting -> [(HTTPResponder, HTTPResponse)] in
        waiting.append((responder, TestServer.echo(request)))
        guard waiting.count == 3 else { return [] }
        defer { waiting = [] }
        return waiting
      }
      HTTPResponder.respond(batch) { $0 }
    }
    let clients = try (0..<3).map { _ in try server.connect() }
    for (index, client) in clients.enumerated() { try client.get("/\(index)") }
    for (index, client) in clients.enumerated() { #expect(try client.response().text == "GET /\(index) ") }
  }

  @Test("an answer is made on its request's event loop, and only if the client still waits")
  func makesAnswersOnLoop() throws {
    let held = Inbox<(thread: UInt, responder: HTTPResponder)>()
    let server = try TestServer { _, responder in held.put((UInt(pthread_self()), responder)) }
    let client = try server.connect()
    try client.get("/")
    let (loop, responder) = try held.take()
    #expect(loop != UInt(pthread_self()))
    responder.respond(making: {
      HTTPResponse(status: 200, text: UInt(pthread_self()) == loop ? "on its loop" : "elsewhere")
    })
    // The second answer to the same request is not made.
    let made = Inbox<Bool>()
    responder.respond(making: {
      made.put(true)
      return HTTPResponse(status: 500, text: "")
    })
    responder.onLoop { made.put(UInt(pthread_self()) != loop) }
    #expect(try client.response().text == "on its loop")
    #expect(try made.take() == false)
  }

  @Test("serves many clients on many threads")
  func servesMany() async throws {
    let server = try TestServer { $0.loops = 2 }
    let port = server.server.port
    let total = try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in 0..<16 {
        group.addTask {
          let client = try RawConnection(port: port)
          var correct = 0
          for index in 0..<50 {
            try client.get("/\(worker)/\(index)")
            if try client.response().text == "GET /\(worker)/\(index) " { correct += 1 }
          }
          return correct
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(total == 800)
  }
}

extension HTTPServerConfiguration {
  /// That many connections, and none beyond to be refused: new ones wait until one of these has left.
  fileprivate mutating func bound(connections: Int) {
    maxConnections = connections
    maxSurplusConnections = 0
  }
}
