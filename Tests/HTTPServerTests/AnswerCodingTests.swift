import Dispatch
import Testing

@testable import HTTPServer

@Suite("An answer")
struct AnswerCodingTests {
  /// What a client accepts, and the coding that it gets.
  struct Accepting: Sendable, CustomTestStringConvertible {
    let fields: [String]
    let preference: AcceptEncoding.Preference
    let section: String

    var testDescription: String { "\(section): \(fields)" }

    init(_ section: String, _ fields: [String], _ preference: AcceptEncoding.Preference) {
      self.section = section
      self.fields = fields
      self.preference = preference
    }
  }

  static let table: [Accepting] = [
    Accepting("9110 §12.5.3, no field", [], .identity),
    Accepting("9110 §12.5.3, an empty field", [""], .identity),
    Accepting("9110 §12.5.3", ["gzip"], .gzip),
    Accepting("9110 §8.4.1, case-insensitive", ["GZIP"], .gzip),
    Accepting("9110 §8.4.1.3", ["x-gzip"], .gzip),
    Accepting("9110 §12.5.3", ["compress, gzip"], .gzip),
    Accepting("9110 §12.5.3", ["*"], .gzip),
    Accepting("9110 §12.5.3", ["compress;q=0.5, gzip;q=1.0"], .gzip),
    Accepting("9110 §12.5.3", ["gzip;q=1.0, identity; q=0.5, *;q=0"], .gzip),
    Accepting("9110 §5.3, two fields", ["br", "gzip;q=0.1"], .gzip),
    Accepting("9110 §5.6.1.2, empty elements", [",, gzip ,"], .gzip),
    Accepting("9110 §5.6.3, blanks around the weight", ["gzip \t;\t q=0.001"], .gzip),
    Accepting("9110 §12.4.2, Q in either case", ["gzip;Q=0.5"], .gzip),
    Accepting("9110 §12.4.2, a weight of 1.000", ["gzip;q=1.000"], .gzip),
    Accepting("9110 §12.4.2, a weight that ends in a point", ["gzip;q=1."], .gzip),
    Accepting("9110 §12.5.3, as dear as identity", ["gzip;q=0.5, identity;q=0.5"], .gzip),
    Accepting("9110 §12.5.3, other codings", ["br, deflate, zstd"], .identity),
    Accepting("9110 §8.4.1, a longer name", ["gzipped, xgzip, gzi"], .identity),
    Accepting("9110 §12.5.3", ["identity"], .identity),
    Accepting("9110 §12.4.2, not acceptable", ["gzip;q=0"], .identity),
    Accepting("9110 §12.4.2, not acceptable", ["gzip;q=0.000, br"], .identity),
    Accepting("9110 §12.5.3, * but not gzip", ["gzip;q=0, *"], .identity),
    Accepting("9110 §12.5.3", ["*;q=0"], .identity),
    Accepting("9110 §12.5.3, identity is preferred", ["gzip;q=0.5, identity"], .identity),
    Accepting("9110 §12.5.3, identity is preferred by *", ["gzip;q=0.5, *;q=0.8"], .identity),
    Accepting("9110 §12.4.2, two weights of one coding", ["gzip, gzip;q=0"], .identity),
    Accepting("9110 §12.4.2, over 1", ["gzip;q=1.001"], .identity),
    Accepting("9110 §12.4.2, over 1", ["gzip;q=2"], .identity),
    Accepting("9110 §12.4.2, four digits", ["gzip;q=0.1234"], .identity),
    Accepting("9110 §12.4.2, no digit", ["gzip;q="], .identity),
    Accepting("9110 §12.4.2, a point alone", ["gzip;q=.5"], .identity),
    Accepting("9110 §12.4.2, no number", ["gzip;q=0.x"], .identity),
    Accepting("9110 §12.4.2, another parameter", ["gzip;level=9"], .identity),
    Accepting("9110 §12.4.2, another parameter besides", ["gzip;q=1;x=y"], .identity),
    Accepting("9110 §12.4.2, an unreadable weight beside *", ["gzip;q=high, *"], .identity),
    Accepting("9110 §12.5.3, identity is refused", ["gzip, identity;q=0"], .gzipOnly),
    Accepting("9110 §12.5.3, all else is refused", ["gzip, *;q=0"], .gzipOnly),
    Accepting("9110 §12.5.3, any but identity", ["*, identity;q=0"], .gzipOnly),
    Accepting("9110 §12.4.1, neither is accepted", ["identity;q=0"], .identity),
    Accepting("9110 §12.4.1, neither is accepted", ["br, *;q=0"], .identity),
  ]

  static let text = Coded.prose(5000)

  /// Answers all requests alike.
  private func makeServer(
    _ response: HTTPResponse = HTTPResponse(status: 200, text: text),
    _ configure: (inout HTTPServerConfiguration) -> Void = { _ in }
  ) throws -> TestServer {
    try TestServer(configure) { _, responder in responder.respond(response) }
  }

  private func ask(
    _ server: TestServer, accepting codings: String? = "gzip", method: String = "GET"
  ) throws -> RawResponse {
    let client = try server.connect()
    try client.get("/", method: method, fields: codings.map { "Accept-Encoding: \($0)\r\n" } ?? "")
    return try client.response(toHead: method == "HEAD")
  }

  @Test("has the coding that the client prefers", arguments: table)
  func followsPreference(test: Accepting) throws {
    let server = try makeServer()
    let client = try server.connect()
    try client.get("/", fields: test.fields.map { "Accept-Encoding: \($0)\r\n" }.joined())
    let response = try client.response()
    #expect(response["vary"] == "Accept-Encoding")
    if test.preference == .identity {
      #expect(response["content-encoding"] == nil && response.text == Self.text)
    } else {
      #expect(response["content-encoding"] == "gzip")
      #expect(response.body.count < Self.text.utf8.count / 2)
      #expect(try Coded.inflated(response.body) == Self.text)
    }
    var accepted = AcceptEncoding()
    for field in test.fields { accepted.read(Array(field.utf8), field.utf8.count) }
    #expect(accepted.preference == test.preference)
  }

  @Test("is compressed from the minimum size on", arguments: [(1023, false), (1024, true), (1025, true)])
  func needsSize(size: Int, isCoded: Bool) throws {
    let response = try ask(makeServer(HTTPResponse(status: 200, text: Coded.prose(size))))
    #expect((response["content-encoding"] == "gzip") == isCoded)
    #expect((response["vary"] == "Accept-Encoding") == isCoded)
  }

  @Test("is compressed up to the maximum size", arguments: [(3000, true), (3001, false)])
  func hasLargestSize(size: Int, isCoded: Bool) throws {
    let server = try makeServer(HTTPResponse(status: 200, text: Coded.prose(size))) { $0.gzipMaxBytes = 3000 }
    #expect((try ask(server)["content-encoding"] == "gzip") == isCoded)
  }

  @Test(
    "is compressed if its type is text of some kind",
    arguments: [
      ("text/plain", true), ("Text/HTML; charset=utf-8", true), ("text/css ;x", true), ("application/json", true),
      ("application/problem+json", true), ("application/yaml", true), ("application/vnd.oai.openapi+yaml", true),
      ("application/javascript", true), ("text/javascript", true), ("application/xml", true),
      ("image/svg+xml", true), ("application/jsonx", false), ("image/png", false), ("application/octet-stream", false),
      ("application/gzip", false), ("video/mp4; x=text/plain", false), ("text/", false), ("", false), ("+xml", false),
    ])
  func needsType(type: String, isCoded: Bool) throws {
    let response = try ask(makeServer(HTTPResponse(status: 200, text: Self.text, contentType: type)))
    #expect((response["content-encoding"] == "gzip") == isCoded)
    #expect((response["vary"] != nil) == isCoded)
    if !isCoded { #expect(response.text == Self.text) }
  }

  @Test(
    "is not compressed if one of its fields forbids it",
    arguments: [
      HTTPHeader("Content-Encoding", "br"), HTTPHeader("cache-control", "max-age=60, No-Transform"),
      HTTPHeader("Content-Range", "bytes 0-4999/9000"), HTTPHeader("Content-Digest", "sha-256=:AA==:"),
      HTTPHeader("Repr-Digest", "sha-256=:AA==:"),
    ])
  func respectsFields(header: HTTPHeader) throws {
    let response = try ask(makeServer(HTTPResponse(status: 200, headers: [header], text: Self.text)))
    #expect(response.text == Self.text && response["vary"] == nil)
    #expect(response.fields.filter { $0.name == header.name.lowercased() }.map(\.value) == [header.value])
  }

  @Test("is not compressed without a type, for a part, or without content")
  func leavesOthers() throws {
    let body = Array(Self.text.utf8)
    let type = HTTPHeader("Content-Type", "text/plain")
    #expect(try ask(makeServer(HTTPResponse(status: 200, body: body))).body == body)
    #expect(try ask(makeServer(HTTPResponse(status: 206, headers: [type], body: body))).body == body)
    for status in [204, 304] {
      let response = try ask(makeServer(HTTPResponse(status: status, headers: [type], body: body)))
      #expect(response.status == status && response["content-encoding"] == nil)
    }
  }

  @Test("is not compressed if it would not become smaller")
  func givesUp() throws {
    var random = SplitMix(seed: 1)
    let noise = (0..<2000).map { _ in UInt8(random.below(256)) }
    let answer = HTTPResponse(status: 200, headers: [HTTPHeader("Content-Type", "text/plain")], body: noise)
    let response = try ask(makeServer(answer))
    #expect(response.body == noise && response["content-encoding"] == nil && response["vary"] == "Accept-Encoding")
    // Unless the client refuses exactly that.
    let forced = try ask(makeServer(answer), accepting: "gzip, identity;q=0")
    #expect(forced["content-encoding"] == "gzip")
    let limits = ContentLimits(maxBodyBytes: 4000, maxInflationRatio: 100, inflationFloorBytes: 0)
    #expect(try Coded.decode(forced.body, .gzip, limits) == noise)
  }

  @Test("is compressed for a client that refuses identity, whatever its size and type")
  func obeysRefusal() throws {
    let server = try makeServer(HTTPResponse(status: 200, text: "ok", contentType: "image/x"))
    let response = try ask(server, accepting: "gzip, identity;q=0")
    #expect(response["content-encoding"] == "gzip" && response["vary"] == "Accept-Encoding")
    #expect(try Coded.inflated(response.body) == "ok")
    let empty = try ask(makeServer(HTTPResponse(status: 200, text: "")), accepting: "gzip, identity;q=0")
    #expect(empty["content-length"] == "0" && empty["content-encoding"] == nil)
  }

  @Test("to HEAD has the same fields as to GET (RFC 9110 section 9.3.2)", arguments: ["gzip", "identity"])
  func matchesHead(codings: String) throws {
    let server = try makeServer()
    let client = try server.connect()
    let fields = "Accept-Encoding: \(codings)\r\n"
    try client.get("/", fields: fields)
    let get = try client.response()
    try client.get("/", method: "HEAD", fields: fields)
    let head = try client.response(toHead: true)
    let names = ["content-encoding", "content-length", "vary", "content-type"]
    #expect(names.map { head[$0] } == names.map { get[$0] })
    #expect(get["content-length"] == "\(get.body.count)")
    // No byte of a body arrived.
    try client.get("/")
    #expect(try client.response().text == Self.text)
  }

  @Test(
    "has a weak entity tag once it is compressed (RFC 9110 section 8.8.1)",
    arguments: [(#""a""#, #"W/"a""#), (#"W/"a""#, #"W/"a""#)])
  func weakensTag(tag: String, coded: String) throws {
    let server = try makeServer(HTTPResponse(status: 200, headers: [HTTPHeader("ETag", tag)], text: Self.text))
    #expect(try ask(server)["etag"] == coded)
    #expect(try ask(server, accepting: nil)["etag"] == tag)
  }

  @Test(
    "adds Accept-Encoding to the handler's Vary",
    arguments: [
      ("Origin", ["Origin", "Accept-Encoding"]), ("Origin, accept-encoding", ["Origin, accept-encoding"]), ("*", ["*"]),
    ])
  func mergesVary(vary: String, expected: [String]) throws {
    let server = try makeServer(HTTPResponse(status: 200, headers: [HTTPHeader("Vary", vary)], text: Self.text))
    #expect(try ask(server).fields.filter { $0.name == "vary" }.map(\.value) == expected)
  }

  @Test("is never compressed at level 0")
  func switchesOff() throws {
    let response = try ask(makeServer { $0.gzipLevel = 0 }, accepting: "gzip, identity;q=0")
    #expect(response.text == Self.text && response["vary"] == nil)
  }

  @Test("is compressed at every level, with equal results", arguments: 1...9)
  func isDeterministic(level: Int) throws {
    let server = try makeServer { $0.gzipLevel = level }
    let client = try server.connect()
    var bodies: Set<[UInt8]> = []
    for _ in 0..<3 {
      try client.get("/", fields: "Accept-Encoding: gzip\r\n")
      bodies.insert(try client.response().body)
    }
    #expect(bodies.count == 1)
    #expect(try Coded.inflated(bodies.first ?? []) == Self.text)
  }

  @Test(
    "follows the Accept-Encoding of each pipelined request, from any thread", arguments: [false, true])
  func pipelines(isDeferred: Bool) throws {
    let server = try TestServer { request, responder in
      let size = 500 + 700 * (Int(request.path.dropFirst()) ?? 0)
      let response = HTTPResponse(status: 200, text: Coded.prose(size))
      if isDeferred {
        DispatchQueue.global().async { responder.respond(response) }
      } else {
        responder.respond(response)
      }
    }
    let client = try server.connect()
    let codings = ["gzip", "identity", "gzip, identity;q=0", "br"]
    try client.send(
      (0..<60).map { index in
        "\(index % 5 == 4 ? "HEAD" : "GET") /\(index) HTTP/1.1\r\nHost: a\r\n"
          + "Accept-Encoding: \(codings[index % 4])\r\n\r\n"
      }.joined())
    for index in 0..<60 {
      let isHead = index % 5 == 4
      let response = try client.response(toHead: isHead)
      let isCoded = index % 4 == 2 || (index % 4 == 0 && index > 0)
      #expect((response["content-encoding"] == "gzip") == isCoded, "\(index)")
      if isHead { continue }
      let text = isCoded ? try Coded.inflated(response.body) : response.text
      #expect(text == Coded.prose(500 + 700 * index), "\(index)")
    }
  }

  @Test("is not compressed if it is a refusal")
  func leavesRefusals() throws {
    let server = try TestServer(
      errorResponse: { HTTPResponse(status: $0, text: $1 + Self.text) }, { _, responder in responder.abort() })
    let client = try server.connect()
    try client.send("GET / HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n")
    let response = try client.response()
    #expect(response.status == 400 && response["content-encoding"] == nil)
  }
}
