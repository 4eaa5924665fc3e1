import Testing

@testable import HTTPServer

@Suite("A coded body")
struct ContentDecodingTests {
  /// Answers with the body, and with the remaining fields.
  private func makeServer(_ configure: (inout HTTPServerConfiguration) -> Void = { _ in }) throws -> TestServer {
    try TestServer(
      {
        $0.maxBodyBytes = 4000
        $0.maxInflationRatio = 20
        $0.inflationFloorBytes = 500
        configure(&$0)
      },
      { request, responder in
        let codings = HTTPHeader("X-Codings", "\(request.headerCount("content-encoding"))")
        let host = HTTPHeader("X-Host", request.header("host") ?? "none")
        let body = String(decoding: request.body, as: UTF8.self)
        responder.respond(HTTPResponse(status: 200, headers: [codings, host], text: body))
      })
  }

  /// Reads the answer, and that of another request: a wrong body ends no connection.
  private func check(_ test: ContentCase, _ client: RawConnection, _ manner: String) throws {
    let response = try client.response()
    switch test.expectation {
    case .handed(let text):
      #expect(response.status == 200 && response.text == text, "\(manner): \(response)")
      #expect(response["x-codings"] == "0" && response["x-host"] == "a", "\(manner): \(response)")
    case .refused(let status):
      #expect(response.status == status, "\(manner): \(response)")
      #expect(response["accept-encoding"] == (status == 415 ? "gzip, deflate" : nil), "\(manner)")
    }
    #expect(response["connection"] == nil, "\(manner)")
    try client.get("/next")
    #expect(try client.response().status == 200, "\(manner)")
  }

  @Test(
    "is inflated or refused, in any pieces",
    arguments: ContentCase.codings + ContentCase.formats + ContentCase.bounds)
  func followsTable(test: ContentCase) throws {
    let server = try makeServer()
    let client = try server.connect()
    let request = test.request()
    try client.send(request)
    try check(test, client, "whole")
    let headCount = request.count - test.body.count
    for position in Set([headCount - 1, headCount, headCount + 1, headCount + 9, request.count - 9, request.count - 1])
    {
      guard (1..<request.count).contains(position) else { continue }
      try client.send(Array(request[..<position]))
      try client.send(Array(request[position...]))
      try check(test, client, "in two, at \(position - headCount) of the body")
    }
    for chunk in [1, 7, 1000] where !test.body.isEmpty {
      try client.send(test.request(chunk: chunk))
      try check(test, client, "in chunks of \(chunk)")
    }
  }

  @Test("may arrive byte by byte", arguments: [Coded.helloGzip, Coded.helloGzip + Coded.helloGzip])
  func comesByteByByte(body: [UInt8]) throws {
    let test = ContentCase(
      "", ["gzip"], body, .handed(String(repeating: "hello", count: body.count / Coded.helloGzip.count)))
    let server = try makeServer()
    let client = try server.connect()
    for byte in test.request() { try client.send([byte]) }
    try check(test, client, "by length")
    for byte in test.request(chunk: 3) { try client.send([byte]) }
    try check(test, client, "in chunks")
  }

  @Test("is decoded by itself among pipelined requests")
  func pipelines() throws {
    let cases = ContentCase.codings + ContentCase.formats
    let server = try makeServer()
    let client = try server.connect()
    try client.send(cases.flatMap { $0.request() })
    for test in cases {
      let response = try client.response()
      switch test.expectation {
      case .handed(let text): #expect(response.status == 200 && response.text == text, "\(test.name)")
      case .refused(let status): #expect(response.status == status, "\(test.name)")
      }
    }
  }

  @Test("reaches the handler unchanged if the server does not decode")
  func leavesAlone() throws {
    let server = try TestServer({ $0.decodesContent = false }) { request, responder in
      let coding = HTTPHeader("X-Coding", request.header("content-encoding") ?? "none")
      responder.respond(HTTPResponse(status: 200, headers: [coding], body: Array(request.body)))
    }
    let client = try server.connect()
    for coding in ["gzip", "br", "gzip, br"] {
      try client.send(ContentCase("", [coding], Coded.helloGzip, .refused(0)).request())
      let response = try client.response()
      #expect(response["x-coding"] == coding && response.body == Coded.helloGzip)
    }
  }

  @Test("reaches the handler unchanged if it wants that for this request")
  func leavesSomeAlone() throws {
    let server = try TestServer({ $0.maxBodyBytes = 100 }, codedPath: "/coded") { request, responder in
      let coding = HTTPHeader("X-Coding", request.header("content-encoding") ?? "none")
      responder.respond(HTTPResponse(status: 200, headers: [coding], body: Array(request.body)))
    }
    func head(_ coding: String, _ length: Int, _ fields: String = "") -> String {
      "POST /coded HTTP/1.1\r\nHost: a\r\nContent-Encoding: \(coding)\r\n\(fields)Content-Length: \(length)\r\n\r\n"
    }
    let client = try server.connect()
    // It would be over the limit if it were inflated.
    let large = Coded.gzip([UInt8](repeating: 0, count: 20 << 10))
    #expect(large.count <= 100)
    for (coding, body) in [
      ("gzip", Coded.helloGzip), ("br", Coded.helloGzip), ("gzip, br", large), ("identity", large), ("gzip", []),
    ] {
      try client.send(Array(head(coding, body.count).utf8) + body)
      let response = try client.response()
      #expect(response.status == 200 && response["x-coding"] == coding && response.body == body, "\(coding)")
      // On the same connection, the body of another request is decoded.
      try client.send(ContentCase("", ["gzip"], Coded.helloGzip, .handed("hello")).request())
      let other = try client.response()
      #expect(other["x-coding"] == "none" && other.text == "hello")
    }
    try client.send(head("br", 2, "Expect: 100-continue\r\n"))
    #expect(try client.response().status == 100)
    try client.send("hi")
    #expect(try client.response().text == "hi")
    try client.send(head("gzip", 101))
    #expect(try client.response().status == 413)
  }

  @Test("is requested by 100 Continue only in a supported coding (RFC 9110 section 10.1.1)")
  func answersExpectation() throws {
    let server = try makeServer()
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 25\r\nContent-Encoding: "
    let client = try server.connect()
    try client.send(head + "gzip\r\n\r\n")
    #expect(try client.response().status == 100)
    try client.send(Coded.helloGzip)
    #expect(try client.response().text == "hello")
    let other = try server.connect()
    try other.send(head + "br\r\n\r\n")
    let response = try other.response()
    #expect(response.status == 415 && response["accept-encoding"] == "gzip, deflate")
    #expect(response["connection"] == "close")
    #expect(try other.endsHere())
  }

  @Test("of 1000 members of a megabyte of zeros is refused before it is inflated")
  func refusesBomb() throws {
    let server = try makeServer { $0.maxBodyBytes = 2 << 20 }
    let member = Coded.gzip([UInt8](repeating: 0, count: 1 << 20))
    // The limit is reached in the third member. The fourth begins with a block that does not exist: inflating it would be
    // another refusal.
    var broken = member
    broken[10] = 0xFF
    let bomb = ContentCase(
      "", ["gzip"], (0..<1000).flatMap { $0 == 3 ? broken : member }, .refused(413))
    let client = try server.connect()
    try client.send(bomb.request())
    try check(bomb, client, "1 GB in \(bomb.body.count) bytes")
    let damaged = ContentCase("", ["gzip"], broken, .refused(400))
    try client.send(damaged.request())
    try check(damaged, client, "the fourth member")
  }

  @Test("never ends the connection, however it is damaged")
  func survivesDamageOnTheWire() throws {
    let server = try makeServer()
    let client = try server.connect()
    for seed in 0..<100 as Range<UInt64> {
      var random = SplitMix(seed: seed)
      let text = Coded.prose(random.below(2000))
      let body = Coded.damaged(Coded.gzip(text), &random)
      let test = ContentCase("", ["gzip"], body, .handed(text))
      try client.send(random.below(2) == 0 ? test.request() : test.request(chunk: 1 + random.below(100)))
      let response = try client.response()
      #expect([200, 400, 413].contains(response.status), "seed \(seed)")
      if response.status == 200 { #expect(response.text == (body.isEmpty ? "" : text), "seed \(seed)") }
    }
  }
}
