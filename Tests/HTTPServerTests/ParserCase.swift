import Testing

/// One row of the conformance table: bytes, and the expected result.
struct ParserCase: Sendable, CustomTestStringConvertible {
  enum Expectation: Sendable {
    /// One whole request and nothing left over. Of the fields, those named are compared.
    case request(RequestExpectation)
    /// That many whole requests, and nothing left over.
    case requests(Int)
    /// Refused with a status.
    case refused(Int)
    /// Neither complete nor wrong so far.
    case incomplete
  }

  struct RequestExpectation: Sendable {
    var method = "GET"
    var path = "/"
    var query: String?
    var headers: [String]?
    var body = ""
    var minorVersion = 1
    var keepsAlive = true
  }

  let name: String
  let input: [UInt8]
  let expectation: Expectation

  var testDescription: String { name }

  /// A request that is accepted.
  static func accepts(
    _ name: String, _ text: String, method: String = "GET", path: String = "/", query: String? = nil,
    headers: [String]? = nil, body: String = "", minorVersion: Int = 1, keepsAlive: Bool = true
  ) -> ParserCase {
    ParserCase(
      name: name, input: Array(text.utf8),
      expectation: .request(
        RequestExpectation(
          method: method, path: path, query: query, headers: headers, body: body, minorVersion: minorVersion,
          keepsAlive: keepsAlive)))
  }

  /// Creates a whole head from a request line.
  static func acceptsLine(
    _ name: String, _ line: String, method: String = "GET", path: String = "/", query: String? = nil
  ) -> ParserCase {
    accepts(name, line + "\r\nHost: a\r\n\r\n", method: method, path: path, query: query)
  }

  static func refuses(_ name: String, _ status: Int, _ text: String) -> ParserCase {
    ParserCase(name: name, input: Array(text.utf8), expectation: .refused(status))
  }

  static func refuses(_ name: String, _ status: Int, bytes: [UInt8]) -> ParserCase {
    ParserCase(name: name, input: bytes, expectation: .refused(status))
  }

  /// Creates a whole head from a request line.
  static func refusesLine(_ name: String, _ status: Int, _ line: String) -> ParserCase {
    refuses(name, status, line + "\r\nHost: a\r\n\r\n")
  }

  /// Creates a whole request from field lines, each without its CRLF, and a body.
  static func refusesFields(_ name: String, _ status: Int, _ fields: [String], body: String = "") -> ParserCase {
    refuses(name, status, (["POST / HTTP/1.1"] + fields).map { $0 + "\r\n" }.joined() + "\r\n" + body)
  }

  /// Creates a whole request from field lines, each without its CRLF, and a body.
  static func acceptsFields(
    _ name: String, _ fields: [String], body coded: String = "", decoded: String? = nil, keepsAlive: Bool = true
  ) -> ParserCase {
    accepts(
      name, (["POST / HTTP/1.1"] + fields).map { $0 + "\r\n" }.joined() + "\r\n" + coded, method: "POST",
      body: decoded ?? coded, keepsAlive: keepsAlive)
  }

  /// A request with a chunked body.
  static func chunked(_ name: String, _ coded: String, _ decoded: String) -> ParserCase {
    acceptsFields(name, ["Host: a", "Transfer-Encoding: chunked"], body: coded, decoded: decoded)
  }

  /// A request with a wrong chunked body.
  static func refusesChunked(_ name: String, _ status: Int, _ coded: String) -> ParserCase {
    refusesFields(name, status, ["Host: a", "Transfer-Encoding: chunked"], body: coded)
  }

  static func incomplete(_ name: String, _ text: String) -> ParserCase {
    ParserCase(name: name, input: Array(text.utf8), expectation: .incomplete)
  }

  static func pipelined(_ name: String, _ count: Int, _ text: String) -> ParserCase {
    ParserCase(name: name, input: Array(text.utf8), expectation: .requests(count))
  }

  /// The whole table.
  static let all = requestLines + fields + lengths + chunks + limits
}
