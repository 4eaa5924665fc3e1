import Polling
import Testing

@testable import HTTPServer

@Suite("A server that refuses")
struct RefusalTests {
  @Test(
    "renders the error by errorResponse and closes the connection",
    arguments: [
      (400, "GET / HTTP/1.1\r\n\r\n"),
      (400, "GET /\n"),
      (413, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n"),
      (413, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n"),
      (414, "GET /\(String(repeating: "x", count: 9000)) HTTP/1.1\r\n"),
      (417, "GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n"),
      (431, "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 17_000))"),
      (501, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"),
      (505, "GET / HTTP/3.0\r\nHost: a\r\n\r\n"),
    ])
  func rendersErrors(status: Int, request: String) throws {
    let server = try TestServer(
      { $0.maxBodyBytes = 100 },
      errorResponse: { status, reason in
        HTTPResponse(status: status, text: "{\"reason\":\"\(reason)\"}", contentType: "application/problem+json")
      }, { request, responder in responder.respond(TestServer.echo(request)) })
    let client = try server.connect()
    try client.get("/good")
    #expect(try client.response().text == "GET /good ")
    try client.send(request)
    let response = try client.response()
    #expect(response.status == status)
    #expect(response["content-type"] == "application/problem+json")
    #expect(response["connection"] == "close")
    #expect(response.text.hasPrefix("{\"reason\":\""))
    #expect(try client.endsHere())
  }

  @Test("answers the good requests before the bad one")
  func answersWhatCameBefore() throws {
    let server = try TestServer()
    let client = try server.connect()
    try client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nbad\r\n\r\n")
    #expect(try client.response().text == "GET /1 ")
    #expect(try client.response().text == "GET /2 ")
    let refusal = try client.response()
    #expect(refusal.status == 400)
    #expect(refusal.text == "The request line does not start with a method and one space.\n")
    #expect(try client.endsHere())
  }

  @Test("lets a client that is still sending a large body read the answer")
  func readsAnswerWhileSending() throws {
    let server = try TestServer { $0.maxBodyBytes = 1000 }
    let client = try server.connect()
    try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n")
    // A reset would make sending fail, or take the answer away.
    try client.send([UInt8](repeating: 0x78, count: 4_000_000))
    #expect(try client.response().status == 413)
    #expect(try client.endsHere())
  }

  @Test("sends no body when it refuses a HEAD")
  func refusesHead() throws {
    let server = try TestServer()
    let client = try server.connect()
    try client.send("HEAD / HTTP/1.1\r\n\r\n")
    let response = try client.response(toHead: true)
    #expect(response.status == 400)
    #expect(try client.endsHere())
    // Bytes after a HEAD that are not a request are not a HEAD either.
    let second = try server.connect()
    try second.get("/", method: "HEAD")
    _ = try second.response(toHead: true)
    try second.send("bad\r\n")
    #expect(try second.response().text.isEmpty == false)
    #expect(try second.endsHere())
  }

  @Test("answers 408 to a header section that does not arrive in time")
  func timesOutHead() throws {
    for beginning in ["GET / HT", "GET / HTTP/1.1\r\nHost: a\r\n"] {
      try patiently(from: .milliseconds(50)) { timeout in
        let server = try TestServer { $0.headerTimeout = timeout }
        let client = try server.connect()
        try client.send(beginning)
        #expect(try client.response().status == 408)
        #expect(try client.endsHere())
      }
    }
  }

  @Test("answers 408 to a later header section that does not arrive in time")
  func timesOutLaterHead() throws {
    try patiently(from: .milliseconds(50)) { timeout in
      let server = try TestServer { $0.headerTimeout = timeout }
      let client = try server.connect()
      try client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2")
      #expect(try client.response().status == 200)
      #expect(try client.response().status == 408)
      #expect(try client.endsHere())
    }
  }

  @Test("gives each header section its own time")
  func timesEachHead() throws {
    try patiently(from: .milliseconds(150)) { timeout in
      let server = try TestServer { $0.headerTimeout = timeout }
      let client = try server.connect()
      try client.send("GET /1 HTTP/1.1\r\nHost: a\r\n")
      // A third of it passes.
      let quicker = try TestServer { $0.headerTimeout = timeout / 3 }
      #expect(try quicker.connect().endsHere())
      let started = ContinuousClock.now
      try client.send("\r\nGET /2")
      guard try client.response().status == 200 else { throw TooBusy() }
      #expect(try client.response().status == 408)
      #expect(ContinuousClock.now - started > timeout - .milliseconds(20))
    }
  }

  @Test("answers 408 to a body that does not arrive in time, however steady it is")
  func timesOutBody() throws {
    let server = try TestServer { $0.bodyTimeout = .milliseconds(50) }
    for beginning in ["Content-Length: 1000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nf4240\r\n"] {
      let client = try server.connect()
      try client.send("POST / HTTP/1.1\r\nHost: a\r\n\(beginning)")
      // If each byte gave it more time, there would be no answer.
      try poll("no answer") {
        try client.send("0")
        return client.hasInput
      }
      #expect(try client.response().status == 408)
      #expect(try client.endsHere())
    }
  }

  @Test("silently closes connections that send nothing or are idle for too long")
  func closesIdle() throws {
    try patiently(from: .milliseconds(50)) { timeout in
      let server = try TestServer {
        $0.headerTimeout = timeout
        $0.idleTimeout = timeout
      }
      let silent = try server.connect()
      #expect(try silent.endsHere())
      let idle = try server.connect()
      // The empty line that some clients add to their request does not make them slow ones.
      try idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n")
      #expect(try idle.response().status == 200)
      #expect(try idle.endsHere())
    }
  }

  @Test("does not count the handler's time")
  func waitsForHandler() throws {
    try patiently(from: .milliseconds(20)) { timeout in
      let held = Inbox<HTTPResponder>()
      let server = try TestServer(
        {
          $0.headerTimeout = timeout
          $0.idleTimeout = timeout
          $0.bodyTimeout = timeout
        }, { _, responder in held.put(responder) })
      let client = try server.connect()
      try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx")
      poll("no request") { held.count > 0 || client.hasInput }
      guard held.count > 0 else { throw TooBusy() }
      let responder = try held.take()
      // Another connection passes its whole header timeout meanwhile.
      #expect(try server.connect().endsHere())
      responder.respond(HTTPResponse(status: 200, text: "at last"))
      #expect(try client.response().text == "at last")
    }
  }
}
