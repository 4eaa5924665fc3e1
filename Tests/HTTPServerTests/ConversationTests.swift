import Dispatch
import Testing

@testable import HTTPServer

@Suite("A connection")
struct ConversationTests {
  @Test("serves one request after another")
  func keepsAlive() throws {
    let server = try TestServer()
    let client = try server.connect()
    for index in 0..<5 {
      try client.get("/\(index)")
      let response = try client.response()
      #expect(response.status == 200)
      #expect(response.text == "GET /\(index) ")
      #expect(response["connection"] == nil)
    }
  }

  @Test("gets an answer with Date, Content-Length and the handler's fields")
  func writesFields() throws {
    let server = try TestServer { request, responder in
      responder.respond(
        HTTPResponse(status: 201, headers: [HTTPHeader("X-Peer", request.peer)], text: "é", contentType: "text/x"))
    }
    let client = try server.connect()
    try client.get("/")
    let response = try client.response()
    #expect(response.head.hasPrefix("HTTP/1.1 201 Created\r\nDate: "))
    #expect(response.fields.map(\.name) == ["date", "content-type", "x-peer", "content-length"])
    #expect(response["date"]?.hasSuffix(" GMT") == true)
    #expect(response["content-length"] == "2")
    #expect(response["x-peer"] == "127.0.0.1")
  }

  @Test("gets the common fields with every answer, including the server's own refusals, but no invalid ones")
  func writesCommonFields() throws {
    let server = try TestServer {
      $0.commonHeaders = [
        HTTPHeader("X-Content-Type-Options", "nosniff"), HTTPHeader("bad name", "x"), HTTPHeader("X-Bad", "a\r\nb: c"),
      ]
    }
    let client = try server.connect()
    try client.get("/")
    #expect(
      try client.response().fields.map(\.name) == ["date", "x-content-type-options", "content-type", "content-length"])
    try client.send("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
    let refusal = try client.response()
    #expect(refusal.status == 400 && refusal["x-content-type-options"] == "nosniff")
  }

  @Test(
    "reports the host of a request: that of an absolute target, else the Host field's",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: a.example:81\r\n", "a.example:81"), ("GET / HTTP/1.0\r\n", "none"),
      ("GET http://b.example:82/x HTTP/1.1\r\nHost: a.example\r\n", "b.example:82"),
      ("GET http://b.example?x HTTP/1.0\r\n", "b.example"), ("GET / HTTP/1.1\r\nHost:\r\n", ""),
    ])
  func tellsAuthority(head: String, authority: String) throws {
    let server = try TestServer { request, responder in
      responder.respond(HTTPResponse(status: 200, text: request.authority ?? "none"))
    }
    let client = try server.connect()
    try client.send(head + "\r\n")
    #expect(try client.response().text == authority)
  }

  @Test("puts a base before locations that are paths, and before no others")
  func locatesBelow() throws {
    let server = try TestServer { request, responder in
      let below = request.path == "/plain" ? responder : responder.locating(below: "https://a.example/b")
      below.adding([HTTPHeader("x-more", "/x")]).respond(
        HTTPResponse(
          status: 201,
          headers: [
            HTTPHeader("Location", request.query ?? ""), HTTPHeader("content-location", "/c"),
            HTTPHeader("x-other", "/o"),
          ]))
    }
    let client = try server.connect()
    for (path, location, content) in [
      ("/?/v1/x", "https://a.example/b/v1/x", "https://a.example/b/c"),
      ("/?http://c.example/", "http://c.example/", nil),
      ("/?//c.example", "//c.example", nil), ("/plain?/v1/x", "/v1/x", "/c"),
    ] as [(String, String, String?)] {
      try client.get(path)
      let response = try client.response()
      #expect(response["location"] == location)
      if let content { #expect(response["content-location"] == content) }
      #expect(response["x-other"] == "/o" && response["x-more"] == "/x")
    }
  }

  @Test("shows the handler the fields by name, in any case")
  func findsFields() throws {
    let server = try TestServer { request, responder in
      let values = [request.header("x-a"), request.header("x-b"), request.header("x-c"), request.header("x")]
      let counts = [request.headerCount("x-a"), request.headerCount("x-c"), request.headerCount("x")]
      let isKnown = request.method == .put && request.method != .post && request.minorVersion == 1
      responder.respond(HTTPResponse(status: 200, text: "\(values.map { $0 ?? "none" }) \(counts) \(isKnown)"))
    }
    let client = try server.connect()
    try client.get("/", method: "PUT", fields: "X-A: 1\r\nx-b:\r\nX-a: 2\r\n")
    #expect(try client.response().text == #"["1", "", "none", "none"] [2, 0, 0] true"#)
  }

  @Test("receives bodies by length and chunked, in any pieces")
  func carriesBodies() throws {
    let server = try TestServer()
    let client = try server.connect()
    let body = String(repeating: "0123456789", count: 20_000)
    try client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
    #expect(try client.response().text == "POST /a " + body)
    try client.send("POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    let half = body.prefix(100_000)
    for _ in 0..<2 { try client.send(String(half.utf8.count, radix: 16) + "\r\n" + half + "\r\n") }
    try client.send("0\r\nTrailer: x\r\n\r\n")
    #expect(try client.response().text == "POST /b " + body)
    for byte in Array("POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok".utf8) { try client.send([byte]) }
    #expect(try client.response().text == "POST /c ok")
  }

  @Test("answers pipelined requests in their order")
  func pipelines() throws {
    let server = try TestServer()
    let client = try server.connect()
    let requests = (0..<500).map { "POST /\($0) HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx" }
    try client.send(requests.joined())
    for index in 0..<500 { #expect(try client.response().text == "POST /\(index) x") }
  }

  @Test("sends the answers to pipelined requests in one write")
  func batches() throws {
    let server = try TestServer()
    let client = try server.connect()
    try client.get("/x")
    let one = try client.receive()
    try client.send(String(repeating: "GET /x HTTP/1.1\r\nHost: a\r\n\r\n", count: 100))
    #expect(try client.receive() == 100 * one)
  }

  @Test("answers pipelined requests in their order when other threads answer them")
  func pipelinesDeferred() throws {
    let server = try TestServer { request, responder in
      let answer = TestServer.echo(request)
      DispatchQueue.global().async { responder.respond(answer) }
    }
    let client = try server.connect()
    // More than is read ahead while a request is being answered.
    let filler = String(repeating: "y", count: 200)
    try client.send((0..<200).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\nX: \(filler)\r\n\r\n" }.joined())
    for index in 0..<200 { #expect(try client.response().text == "GET /\(index) ") }
  }

  @Test("gets no body for HEAD, but its length")
  func answersHead() throws {
    let server = try TestServer()
    let client = try server.connect()
    try client.get("/", method: "HEAD")
    let response = try client.response(toHead: true)
    #expect(response["content-length"] == "7")
    try client.get("/next")
    #expect(try client.response().text == "GET /next ")
  }

  @Test("is closed after a request that says Connection: close, and after one of HTTP/1.0")
  func closesWhenAsked() throws {
    let server = try TestServer()
    for request in ["GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"] {
      let client = try server.connect()
      // The bytes after it are not parsed.
      try client.send(request + "GET /second HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response()["connection"] == "close")
      #expect(try client.endsHere())
    }
  }

  @Test("of HTTP/1.0 stays open when both sides say so")
  func keepsOldAlive() throws {
    let server = try TestServer()
    let client = try server.connect()
    for _ in 0..<2 {
      try client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      #expect(try client.response()["connection"] == "keep-alive")
    }
  }

  @Test("is closed after the handler's last answer, and after the maximum number of requests")
  func closesAfterLast() throws {
    let closing = try TestServer { _, responder in
      var response = HTTPResponse(status: 204)
      response.closesConnection = true
      responder.respond(response)
    }
    let client = try closing.connect()
    try client.get("/")
    let response = try client.response()
    #expect(response.status == 204 && response["connection"] == "close" && response["content-length"] == nil)
    #expect(try client.endsHere())

    let bounded = try TestServer { $0.maxRequestsPerConnection = 2 }
    let second = try bounded.connect()
    try second.get("/1")
    #expect(try second.response()["connection"] == nil)
    try second.get("/2")
    #expect(try second.response()["connection"] == "close")
    #expect(try second.endsHere())
  }

  @Test("gets 100 Continue when it waits for it, and not when the body is already there")
  func continues() throws {
    let server = try TestServer()
    let client = try server.connect()
    let head = "Host: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    try client.send("POST /1 HTTP/1.1\r\n" + head)
    #expect(try client.response().head == "HTTP/1.1 100 Continue\r\n\r\n")
    try client.send("o")
    // The loop serves its connections in turn, so it has seen that byte when it answers another; it reports it only
    // once.
    let other = try server.connect()
    try other.get("/")
    _ = try other.response()
    try client.send("k")
    #expect(try client.response().text == "POST /1 ok")
    try client.send("POST /2 HTTP/1.1\r\n" + head + "ok")
    #expect(try client.response().text == "POST /2 ok")
    try client.send("POST /3 HTTP/1.0\r\nConnection: keep-alive\r\n" + head)
    try client.send("ok")
    #expect(try client.response().text == "POST /3 ok")
  }

  @Test("is answered and then closed after its client has ended its side")
  func answersHalfClosed() throws {
    let held = Inbox<HTTPResponder>()
    let server = try TestServer { _, responder in held.put(responder) }
    let client = try server.connect()
    try client.get("/1")
    try client.get("/2")
    client.endSending()
    for text in ["one", "two"] {
      try held.take().respond(HTTPResponse(status: 200, text: text))
      #expect(try client.response().text == text)
    }
    #expect(try client.endsHere())
  }

  @Test("is reset if the handler aborts it, at once or later")
  func aborts() throws {
    let held = Inbox<HTTPResponder>()
    let server = try TestServer { request, responder in
      if request.path == "/now" { responder.abort() } else { held.put(responder) }
    }
    let first = try server.connect()
    try first.get("/now")
    #expect(throws: RawConnection.Failure.reset) { try first.rest() }
    let second = try server.connect()
    try second.get("/later")
    try held.take().abort()
    #expect(throws: RawConnection.Failure.reset) { try second.rest() }
  }
}
