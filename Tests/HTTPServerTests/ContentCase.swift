import Testing

/// One row of the table of coded bodies: fields and bytes, and the expected result.
struct ContentCase: Sendable, CustomTestStringConvertible {
  enum Expectation: Sendable, Equatable {
    /// The handler gets this body, and no `Content-Encoding`.
    case handed(String)
    case refused(Int)
  }

  let name: String
  /// The values of `Content-Encoding`, one per field line.
  let codings: [String]
  let body: [UInt8]
  let expectation: Expectation

  var testDescription: String { name }

  init(_ name: String, _ codings: [String], _ body: [UInt8], _ expectation: Expectation) {
    self.name = name
    self.codings = codings
    self.body = body
    self.expectation = expectation
  }

  /// The request on the wire, with its body by length or, given the size, in chunks.
  func request(chunk: Int? = nil) -> [UInt8] {
    var text = "POST /case HTTP/1.1\r\nHost: a\r\n"
    for coding in codings { text += "Content-Encoding: \(coding)\r\n" }
    guard let chunk else { return Array((text + "Content-Length: \(body.count)\r\n\r\n").utf8) + body }
    var bytes = Array((text + "Transfer-Encoding: chunked\r\n\r\n").utf8)
    for start in stride(from: 0, to: body.count, by: chunk) {
      let piece = body[start..<min(start + chunk, body.count)]
      bytes += Array((String(piece.count, radix: 16) + "\r\n").utf8) + piece + [13, 10]
    }
    return bytes + Array("0\r\n\r\n".utf8)
  }

  private static func changed(_ bytes: [UInt8], at index: Int, to byte: UInt8) -> [UInt8] {
    var bytes = bytes
    bytes[index] = byte
    return bytes
  }

  private static let gzip = Coded.helloGzip
  private static let deflate = Coded.helloDeflate
  private static let plain = Array("hello".utf8)
  private static let prose = Coded.prose(3000)

  /// RFC 9110 section 8.4.
  static let codings: [ContentCase] = [
    ContentCase("9110 §8.4.1.3: gzip", ["gzip"], gzip, .handed("hello")),
    ContentCase("9110 §8.4.1.3: x-gzip is gzip", ["x-gzip"], gzip, .handed("hello")),
    ContentCase("9110 §8.4.1: codings are case-insensitive", ["GZip"], gzip, .handed("hello")),
    ContentCase("9110 §8.4.1.2: deflate is the zlib format", ["deflate"], deflate, .handed("hello")),
    ContentCase("9110 §8.4.1.2: deflate, large", ["deflate"], Coded.deflate(prose), .handed(prose)),
    ContentCase("9110 §8.4.1.3: gzip, large", ["gzip"], Coded.gzip(prose), .handed(prose)),
    ContentCase("9110 §8.4.1: identity is as if absent", ["identity"], plain, .handed("hello")),
    ContentCase("9110 §8.4: identity and gzip are one coding", ["identity, gzip"], gzip, .handed("hello")),
    ContentCase("9110 §5.6.1.2: empty elements count for nothing", [",gzip, ,"], gzip, .handed("hello")),
    ContentCase("9110 §5.6.1.2: an empty list", [""], plain, .handed("hello")),
    ContentCase("9110 §5.3: two fields, one of them identity", ["identity", "gzip"], gzip, .handed("hello")),
    ContentCase("9110 §15.5.16: an unknown coding", ["br"], plain, .refused(415)),
    ContentCase("9110 §15.5.16: a known coding with a suffix", ["gzipped"], gzip, .refused(415)),
    ContentCase("9110 §8.4: codings take no parameters", ["gzip;q=1"], gzip, .refused(415)),
    ContentCase("9110 §15.5.16: two codings", ["deflate, gzip"], Coded.gzip(deflate), .refused(415)),
    ContentCase("9110 §15.5.16: one coding twice", ["gzip, gzip"], Coded.gzip(gzip), .refused(415)),
    ContentCase("9110 §5.3: two codings in two fields", ["gzip", "deflate"], gzip, .refused(415)),
    ContentCase("9110 §8.4: no content, nothing to undo", ["gzip"], [], .handed("")),
    ContentCase("9110 §8.4: no content in an unknown coding", ["br"], [], .handed("")),
  ]

  /// RFC 1950 and RFC 1952.
  static let formats: [ContentCase] = [
    ContentCase("1952 §2.2: two members", ["gzip"], gzip + gzip, .handed("hellohello")),
    ContentCase(
      "1952 §2.2: empty members between", ["gzip"], Coded.emptyGzip + gzip + Coded.emptyGzip, .handed("hello")),
    ContentCase("1952 §2.2: a member of no data", ["gzip"], Coded.emptyGzip, .handed("")),
    ContentCase(
      "1952 §2.3.1: a file name and an extra field", ["gzip"],
      [0x1F, 0x8B, 8, 0x0C, 0, 0, 0, 0, 0, 3, 2, 0, 1, 2, 0x61, 0] + gzip[10...], .handed("hello")),
    ContentCase("1952 §2.3.1: another magic number", ["gzip"], changed(gzip, at: 1, to: 0x8C), .refused(400)),
    ContentCase("1952 §2.3.1: a method other than 8", ["gzip"], changed(gzip, at: 2, to: 7), .refused(400)),
    ContentCase("1952 §2.3.1.2: a reserved flag", ["gzip"], changed(gzip, at: 3, to: 0x20), .refused(400)),
    ContentCase("1952 §2.3.1: a wrong CRC-32", ["gzip"], changed(gzip, at: 17, to: 0x87), .refused(400)),
    ContentCase("1952 §2.3.1: a wrong ISIZE", ["gzip"], changed(gzip, at: 21, to: 6), .refused(400)),
    ContentCase("1951 §3.2.3: a reserved block type", ["gzip"], changed(gzip, at: 10, to: 0xCF), .refused(400)),
    ContentCase("1952 §2.2: cut off in the header", ["gzip"], Array(gzip.prefix(5)), .refused(400)),
    ContentCase("1952 §2.2: cut off in the data", ["gzip"], Array(gzip.prefix(13)), .refused(400)),
    ContentCase("1952 §2.2: cut off in the trailer", ["gzip"], Array(gzip.dropLast()), .refused(400)),
    ContentCase("1952 §2.2: the second member is cut off", ["gzip"], gzip + gzip.prefix(12), .refused(400)),
    ContentCase("1952 §2.2: text follows", ["gzip"], gzip + plain, .refused(400)),
    ContentCase("1952 §2.2: zeros follow", ["gzip"], gzip + [0, 0], .refused(400)),
    ContentCase("1952 §2.2: half of a magic number follows", ["gzip"], gzip + [0x1F], .refused(400)),
    ContentCase("9110 §8.4.1.3: what is not gzip at all", ["gzip"], plain, .refused(400)),
    ContentCase("9110 §8.4.1.3: zlib by the name of gzip", ["gzip"], deflate, .refused(400)),
    ContentCase("9110 §8.4.1.2: gzip by the name of deflate", ["deflate"], gzip, .refused(400)),
    ContentCase("9110 §8.4.1.2: deflate without zlib around", ["deflate"], Array(gzip[10..<17]), .refused(400)),
    ContentCase("1950 §2.2: a wrong Adler-32", ["deflate"], changed(deflate, at: 12, to: 0x16), .refused(400)),
    ContentCase("1950 §2.2: a preset dictionary", ["deflate"], [0x78, 0xBB, 0, 0, 0, 1, 3, 0], .refused(400)),
    ContentCase("1950 §2.2: cut off", ["deflate"], Array(deflate.dropLast(4)), .refused(400)),
    ContentCase("1950 §2.2: a second stream", ["deflate"], deflate + deflate, .refused(400)),
  ]

  /// The server's own limits, which are set to 4000 bytes, and to 20 times beyond 500.
  static let bounds: [ContentCase] = [
    ContentCase(
      "as large as may be", ["gzip"], Coded.gzip(Coded.prose(4000)), .handed(Coded.prose(4000))),
    ContentCase("larger by a byte", ["gzip"], Coded.gzip(Coded.prose(4001)), .refused(413)),
    ContentCase("larger by a byte, deflate", ["deflate"], Coded.deflate(Coded.prose(4001)), .refused(413)),
    ContentCase(
      "larger in its second member", ["gzip"], Coded.gzip(Coded.prose(3000)) + Coded.gzip(Coded.prose(3000)),
      .refused(413)),
    ContentCase(
      "larger before it is damaged", ["gzip"], Array(Coded.gzip(Coded.prose(9000)).dropLast()), .refused(413)),
    ContentCase(
      "a ratio that is high, of few bytes", ["gzip"], Coded.gzip([UInt8](repeating: 0x78, count: 500)),
      .handed(String(repeating: "x", count: 500))),
    ContentCase(
      "a ratio that is too high", ["gzip"], Coded.gzip([UInt8](repeating: 0x78, count: 3000)), .refused(413)),
  ]
}
