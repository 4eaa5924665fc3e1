import Testing

@testable import HTTPServer

@Suite("A conditional request (RFC 9110 section 13)")
struct PreconditionTests {
  private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
  private static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
  private static let after = "Sun, 06 Nov 1994 08:49:38 GMT"

  /// The fields of a GET for a resource with the tag "v1" and the date above, and the resulting status.
  private static let table: [(fields: [String], status: Int)] = [
    ([], 200),
    // Section 13.1.1: If-Match, by strong comparison.
    (["If-Match: \"v1\""], 200), (["If-Match: \"v2\""], 412), (["If-Match: *"], 200), (["If-Match: W/\"v1\""], 412),
    (["If-Match: \"v0\", \"v1\""], 200), (["If-Match: \"v0\"", "If-Match: \"v1\""], 200), (["If-Match: v1"], 412),
    // Section 13.1.2: If-None-Match, by weak comparison.
    (["If-None-Match: \"v1\""], 304), (["If-None-Match: W/\"v1\""], 304), (["If-None-Match: \"v2\""], 200),
    (["If-None-Match: *"], 304), (["If-None-Match: \"a,b\" , \"v1\""], 304), (["If-None-Match: \"a\",\"v1"], 200),
    (["If-None-Match: \"V1\""], 200), (["If-None-Match: \"a\"", "if-none-match: \"v1\""], 304),
    // Section 13.1.3: If-Modified-Since, in each form of a date; an invalid or repeated one is ignored.
    (["If-Modified-Since: \(modified)"], 304), (["If-Modified-Since: \(after)"], 304),
    (["If-Modified-Since: \(before)"], 200), (["If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT"], 304),
    (["If-Modified-Since: Sun Nov  6 08:49:37 1994"], 304), (["If-Modified-Since: yesterday"], 200),
    (["If-Modified-Since: \(modified)", "If-Modified-Since: \(modified)"], 200),
    // Section 13.1.4: If-Unmodified-Since.
    (["If-Unmodified-Since: \(modified)"], 200), (["If-Unmodified-Since: \(before)"], 412),
    (["If-Unmodified-Since: yesterday"], 200),
    // Section 13.2.2: the order, and which fields are ignored beside others.
    (["If-Match: \"v1\"", "If-Unmodified-Since: \(before)"], 200),
    (["If-Match: \"v2\"", "If-None-Match: \"v1\""], 412), (["If-Match: \"v1\"", "If-None-Match: \"v1\""], 304),
    (["If-None-Match: \"v2\"", "If-Modified-Since: \(after)"], 200),
    (["If-None-Match: \"v1\"", "If-Modified-Since: \(before)"], 304),
    (["If-Unmodified-Since: \(before)", "If-None-Match: \"v1\""], 412),
    (["If-Unmodified-Since: \(modified)", "If-Modified-Since: \(modified)"], 304),
  ]

  private static func server() throws -> TestServer {
    try TestServer { request, responder in
      var response = HTTPResponse(
        status: request.path == "/missing" ? 404 : 200,
        headers: [
          HTTPHeader("Content-Language", "en"), HTTPHeader("Content-Location", "/v1"),
          HTTPHeader("Cache-Control", "no-cache"),
        ],
        text: String(repeating: "content ", count: 200))
      if request.path != "/bare" {
        response.headers += [HTTPHeader("ETag", "\"v1\""), HTTPHeader("Last-Modified", Self.modified)]
      }
      responder.respond(response)
    }
  }

  @Test("is answered as its conditions say, and the connection stays open", arguments: table.indices)
  func isEvaluated(index: Int) throws {
    let (fields, status) = Self.table[index]
    let server = try Self.server()
    let client = try server.connect()
    for method in ["GET", "HEAD"] {
      try client.get("/", method: method, fields: fields.map { $0 + "\r\n" }.joined())
      #expect(try client.response(toHead: method == "HEAD").status == status, "\(method) \(fields)")
    }
    // For a status other than 200 there is nothing to compare.
    try client.get("/missing", fields: fields.map { $0 + "\r\n" }.joined())
    #expect(try client.response().status == 404)
    // For a method that changes something, only the handler knows the current state.
    try client.get("/", method: "DELETE", fields: fields.map { $0 + "\r\n" }.joined())
    #expect(try client.response().status == 200)
  }

  @Test(
    "for a resource without a validator is treated like a list that matches nothing, or anything",
    arguments: [
      ("If-Match: \"v1\"", 412), ("If-Match: *", 200), ("If-None-Match: \"v1\"", 200), ("If-None-Match: *", 304),
      ("If-Modified-Since: \(after)", 200), ("If-Unmodified-Since: \(before)", 200),
    ])
  func isBare(field: String, status: Int) throws {
    let server = try Self.server()
    let client = try server.connect()
    try client.get("/bare", fields: field + "\r\n")
    #expect(try client.response().status == status)
  }

  @Test("that fails is rendered by errorResponse, and the connection stays open")
  func isRendered() throws {
    let server = try TestServer(errorResponse: { HTTPResponse(status: $0, text: "refused: \($1)") }) { _, responder in
      responder.respond(HTTPResponse(status: 200, headers: [HTTPHeader("ETag", "\"v1\"")], text: "content"))
    }
    let client = try server.connect()
    for _ in 0..<2 {
      try client.get("/", fields: "If-Match: \"v2\"\r\n")
      let response = try client.response()
      #expect(response.status == 412 && response["etag"] == nil && response["connection"] == nil)
      #expect(response.text == "refused: The resource is not in the state that the request requires.")
    }
  }

  @Test("is answered as its conditions say, even if the answer would be a stream")
  func isStreamed() throws {
    let opened = Inbox<HTTPResponseStream>()
    let server = try TestServer { _, responder in
      let head = HTTPResponse(status: 200, headers: [HTTPHeader("ETag", "\"v1\"")], text: "first")
      opened.put(responder.stream(head) { _ in })
    }
    let client = try server.connect()
    for (field, status) in [("If-None-Match: \"v1\"", 304), ("If-Match: \"v2\"", 412)] {
      try client.get("/", fields: field + "\r\n")
      #expect(try client.response().status == status)
      #expect(try opened.take().write("more".utf8) == .closed)
    }
    try client.get("/", fields: "If-None-Match: \"v2\"\r\n")
    #expect(try client.head().status == 200)
    try opened.take().end()
  }

  @Test(
    "that is answered with 304 gets the fields for caches, and no content (section 15.4.5)",
    arguments: ["gzip", "identity"])
  func isNotModified(coding: String) throws {
    let server = try Self.server()
    let client = try server.connect()
    try client.get("/", fields: "Accept-Encoding: \(coding)\r\nIf-None-Match: W/\"v1\"\r\n")
    let response = try client.response()
    #expect(response.status == 304)
    #expect(
      response["etag"] == (coding == "gzip" ? "W/\"v1\"" : "\"v1\"") && response["cache-control"] == "no-cache"
        && response["date"] != nil)
    #expect(response["content-location"] == "/v1" && response["vary"] == "Accept-Encoding")
    for name in ["content-type", "content-language", "content-length", "content-encoding", "transfer-encoding"] {
      #expect(response[name] == nil)
    }
    try client.get("/", fields: "If-None-Match: \"v2\"\r\n")
    #expect(try client.response().body.count == 1600)
  }

  @Test("is passed to a handler that changes something")
  func isShown() throws {
    let conditions = Inbox<HTTPPreconditions>()
    let server = try TestServer { request, responder in
      conditions.put(request.preconditions)
      responder.respond(HTTPResponse(status: 204))
    }
    let client = try server.connect()
    try client.get("/", method: "PUT", fields: "If-Match: \"v1\"\r\nIf-Match: \"v2\"\r\n")
    let match = try conditions.take()
    #expect(match.outcome(entityTag: "\"v2\"", lastModified: nil, isSafe: false) == .proceed)
    #expect(match.outcome(entityTag: "\"v3\"", lastModified: nil, isSafe: false) == .failed)
    #expect(match.outcome(entityTag: nil, lastModified: nil, isSafe: false, exists: false) == .failed)
    // Section 13.1.2: to create only a missing resource.
    try client.get("/", method: "PUT", fields: "If-None-Match: *\r\n")
    let none = try conditions.take()
    #expect(none.outcome(entityTag: nil, lastModified: nil, isSafe: false, exists: false) == .proceed)
    #expect(none.outcome(entityTag: "\"v1\"", lastModified: nil, isSafe: false) == .failed)
    try client.get("/")
    #expect(try conditions.take().isEmpty)
  }

  @Test(
    "accepts valid dates and no others",
    arguments: [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
      ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799), ("Mon, 29 Feb 2100 00:00:00 GMT", nil),
      ("Wednesday, 01-Jan-69 00:00:00 GMT", 3_124_224_000), ("Thursday, 01-Jan-70 00:00:00 GMT", 0),
      ("Sun Nov 16 08:49:37 1994", 784_975_777), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
      ("Sun, 06 Nov 1994 24:00:00 GMT", nil), ("Sun, 31 Nov 1994 00:00:00 GMT", nil), ("", nil),
      ("Sun, 06 Nov 94 08:49:37 GMT", nil), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
      ("Sun, 06 nov 1994 08:49:37 GMT", nil),
    ] as [(String, Int?)])
  func readsDates(text: String, seconds: Int?) { #expect(HTTPDate.seconds(text) == seconds) }

  @Test("reads back each date that the server writes")
  func readsOwnDates() {
    var random = SeededRandom(seed: 1)
    for _ in 0..<2000 {
      let seconds = Int.random(in: 0..<200_000_000_000, using: &random)
      var text: [UInt8] = []
      DateText.append(seconds, to: &text)
      #expect(HTTPDate.seconds(String(decoding: text, as: UTF8.self)) == seconds)
    }
  }
}
