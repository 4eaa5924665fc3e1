import RedialModel
import Testing

@testable import RedialTransport

@Suite("The received part of a response")
struct ReceivedTests {
  /// Receives lines, each without its end.
  private func head(_ lines: [String], mayDecode: Bool = false, atMost limit: Int = 1000) -> (Received, whole: Bool) {
    var received = Received()
    received.mayDecode = mayDecode
    for line in lines {
      guard Array("\(line)\r\n".utf8).withUnsafeBytes({ received.takeHead($0, atMost: limit) }) else {
        return (received, false)
      }
    }
    return (received, true)
  }

  private func take(_ count: Int, into received: inout Received, _ limits: Received.BodyLimits) -> Bool {
    [UInt8](repeating: 7, count: count).withUnsafeBytes { received.takeBody($0, limits) }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test("the header is that of the last status line")
  func lastHeader() {
    let (received, isWhole) = head([
      "HTTP/1.1 100 Continue", "content-length: 3", "", "HTTP/1.1 200 OK", "a: 1", "Content-Length:  5 ", "",
    ])
    #expect(isWhole && received.isHeadWhole && !received.framing.isUnclear)
    #expect(String(decoding: received.head, as: UTF8.self) == "a: 1\r\nContent-Length:  5 \r\n")
    #expect(received.framing.length == 5)
  }

  @Test("a header that has begun is not whole before its empty line")
  func incomplete() {
    let (received, isWhole) = head(["HTTP/1.1 100 Continue", "", "HTTP/1.1 200 OK", "a: 1"])
    #expect(isWhole && !received.isHeadWhole)
    #expect(received.framing.length == nil)
  }

  @Test("trailers are no fields, and no status lines, whether or not there is content before them")
  func trailersByState() {
    for status in [200, 503] {
      let (received, isWhole) = head(
        [
          "HTTP/1.1 \(status) Said", "a: 1", "", "Retry-After: 7200", "HTTP/1.1 500: x", "Content-Length: 1",
          "content-length: 2", "",
        ])
      #expect(isWhole && received.isHeadWhole && received.status == status && received.framing.length == nil)
      #expect(text(received.head) == "a: 1\r\n")
    }
  }

  @Test("interim heads leave nothing behind, and 101 is none")
  func interim() {
    let (received, _) = head(["HTTP/1.1 103 Early Hints", "Retry-After: 7200", ""])
    #expect(received.status == nil && !received.isHeadWhole && received.head.isEmpty)
    #expect(head(["HTTP/1.1 103 Early Hints", "", "HTTP/2 404 ", "b: 2", ""]).0.status == 404)
    #expect(head(["HTTP/1.1 101 Switching", ""]).0.isHeadWhole)
  }

  @Test(
    "a status line is strict",
    arguments: [
      ("HTTP/1.1 200 OK", 200), ("HTTP/1.0 404", 404), ("HTTP/2 999 ", 999), ("HTTP/1.1\t 301 x", 301),
      ("HTTP/1.1 200OK", 200),
      ("http/1.1 200 OK", nil), ("HTTP/ 200 OK", nil), ("HTTP/1. 200", nil), ("HTTP/x.y 200", nil), ("HTTP/1.1", nil),
      ("HTTP/1.1200 OK", nil), ("HTTP/1.1 20", nil), ("HTTP/1.1 2000", nil), ("HTTP/1.1 099", nil),
      ("HTTP/1.1 ok", nil),
      (" HTTP/1.1 200 OK", nil), ("ICY 200 OK", nil), ("", nil),
    ] as [(String, Int?)])
  func statusLines(line: String, status: Int?) {
    let (received, isRead) = head([line])
    #expect(isRead == (status != nil) && received.status == status && received.isNotHTTP == (status == nil))
  }

  @Test(
    "a folded line continues the field before it (RFC 9112 section 5.2)",
    arguments: [
      (["a:", " 1"], "a: 1\r\n"), (["a: 1", "\t2", "  3  "], "a: 1 2 3  \r\n"), (["a: 1  ", " "], "a: 1  \r\n"),
      ([" a: 1", " b: 2", "c: 3"], "c: 3\r\n"), (["a: 1", "no colon", " b: 2", "c: 3"], "a: 1\r\nc: 3\r\n"),
      ([": 1", " b: 2"], ""), (["a \t: 1", " 2"], "a: 1 2\r\n"), (["a:1", " :2"], "a:1 :2\r\n"),
    ])
  func folds(lines: [String], expected: String) {
    #expect(text(head(["HTTP/1.1 200 OK"] + lines + [""]).0.head) == expected)
  }

  @Test("where nobody knows the end, the response ends with its head, of which all fields are kept")
  func unclearEnd() {
    for lines in [
      ["Content-Length: 5", " 6"], ["transfer-encoding:", "\tchunked"], ["Content-Length: 5", "Content-Length: 6"],
    ] {
      let (received, continues) = head(["HTTP/1.1 503 No"] + lines + ["a: 1"])
      #expect(continues && !received.isHeadWhole)
      let (whole, hasEnded) = head(["HTTP/1.1 503 No"] + lines + ["a: 1", ""])
      #expect(!hasEnded && whole.isHeadWhole && text(whole.head).hasSuffix("\r\na: 1\r\n"))
      #expect(whole.progress(hasEnded: false).fault == .unclearEnd && !whole.progress(hasEnded: false).isWhole)
    }
  }

  @Test("a 205 that announces content is whole with that alone, as for other readers (RFC 9112 section 6.3)")
  func resetContent() {
    var (received, _) = head(["HTTP/1.1 205 Reset", "Content-Length: 1", ""])
    #expect(!received.isComplete)
    #expect(take(1, into: &received, Received.BodyLimits(kept: 10, received: 10)) && received.isComplete)
    #expect(head(["HTTP/1.1 205 Reset", "Content-Length: 0", ""]).0.isComplete)
    #expect(!head(["HTTP/1.1 205 Reset", "Transfer-Encoding: chunked", ""]).0.isComplete)
  }

  @Test("a response ends with a length that libcurl does not find, and what is behind it belongs to nobody")
  func unheardLength() {
    var (received, continues) = head(["HTTP/1.1 200 OK", "Content-Length : 5", ""])
    let limits = Received.BodyLimits(kept: 10, received: 10)
    #expect(continues && take(4, into: &received, limits) && !received.progress(hasEnded: false).isWhole)
    #expect(!take(4, into: &received, limits) && received.progress(hasEnded: false).isWhole)
    #expect(received.progress(hasEnded: false).fault == nil)
    let content = received.moveContent(isWhole: true, atMost: 10).response
    #expect(content.body.count == 5 && !content.truncated)
    let (empty, hasEnded) = head(["HTTP/1.1 503 No", "Content-Length : 0", "a: 1", ""])
    #expect(!hasEnded && empty.progress(hasEnded: false).isWhole && text(empty.head) == "Content-Length: 0\r\na: 1\r\n")
  }

  @Test("fields beyond the limit are dropped, those that fit are kept, and a head without an end ends the response")
  func longHeader() {
    let long = "long: \(String(repeating: "x", count: 30))"
    let (received, isWhole) = head(["HTTP/1.1 200 OK", "a: 1", long, " folded", "b: 2", ""], atMost: 24)
    #expect(isWhole && received.isHeadWhole && received.lacksFields && text(received.head) == "a: 1\r\nb: 2\r\n")
    let (fitting, _) = head(["HTTP/1.1 200 OK", "a: 1", "b: 2", ""], atMost: 12)
    #expect(!fitting.lacksFields && fitting.head.count == 12)
    let (endless, continues) = head(["HTTP/1.1 200 OK", long, long, long], atMost: 24)
    #expect(!continues && endless.hasEndlessHead && endless.status == 200 && !endless.isHeadWhole)
    #expect(head(["HTTP/1.1 200 OK", "a: 1", " \(long)", ""], atMost: 24).0.lacksFields)
  }

  private static let packed = gzip(Array("hello, hello".utf8))

  private func content(
    _ coding: String, _ body: [UInt8], mayDecode: Bool = true, kept: Int = 1000, isWhole: Bool = true
  ) -> Received.Content {
    var (received, _) = head(["HTTP/1.1 200 OK", "CONTENT-ENCODING: \(coding)", "a: 1", ""], mayDecode: mayDecode)
    for piece in stride(from: 0, to: body.count, by: 7) {
      _ = body[piece..<min(piece + 7, body.count)].withUnsafeBytes {
        received.takeBody($0, Received.BodyLimits(kept: kept, received: 1 << 20))
      }
    }
    return received.moveContent(isWhole: isWhole, atMost: kept)
  }

  @Test("a body is decoded only if that was asked for, and then loses the fields about its coding")
  func coding() {
    let plain = content("gzip", Self.packed)
    #expect(text(plain.response.body) == "hello, hello" && text(plain.response.head.bytes) == "a: 1\r\n")
    #expect(!plain.response.truncated && !plain.isFalselyCoded)
    let unchanged = content("gzip", Self.packed, mayDecode: false)
    #expect(unchanged.response.body == Self.packed && !unchanged.isFalselyCoded)
    #expect(text(unchanged.response.head.bytes) == "CONTENT-ENCODING: gzip\r\na: 1\r\n")
  }

  @Test("what is not in its coding stays as it came, whole or cut")
  func falseCoding() {
    let half = Array(Self.packed.dropLast(4))
    for body in [
      Array("plain".utf8), half, Array(Self.packed.dropLast(8)) + [UInt8](repeating: 0, count: 8), [0x1F, 0x8B],
    ] {
      let found = content("gzip", body)
      #expect(found.isFalselyCoded && found.response.body == body && !found.response.truncated)
    }
    let cut = content("gzip", half, isWhole: false)
    #expect(text(cut.response.body) == "hello, hello" && cut.response.truncated && !cut.isFalselyCoded)
    let unknown = content("gzip, what", Self.packed)
    #expect(!unknown.isFalselyCoded && unknown.response.body == Self.packed)
    let empty = content("gzip", [])
    #expect(!empty.isFalselyCoded && !empty.response.truncated)
  }

  @Test("of a decoded body no more than the limit is kept", arguments: [0, 1, 11, 12, 13])
  func decodedLimit(kept: Int) {
    let found = content("gzip", Self.packed, kept: kept)
    #expect(text(found.response.body) == String("hello, hello".prefix(kept)) && found.response.truncated == (kept < 12))
  }

  @Test("a body that cannot be compressed is kept to the limit, too")
  func incompressible() {
    var random = SystemRandomNumberGenerator()
    let body = (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    let found = content("gzip", gzip(body), kept: body.count)
    #expect(found.response.body == body && !found.response.truncated)
  }

  @Test("trailers are counted, and are not part of the header")
  func trailers() {
    var (received, _) = head(["HTTP/1.1 200 OK", "a: 1", ""])
    let before = received.headBytes
    #expect(take(3, into: &received, Received.BodyLimits(kept: 10, received: 10)))
    let trailer = Array("b: 2\r\n".utf8)
    #expect(trailer.withUnsafeBytes { received.takeHead($0, atMost: 1000) })
    #expect(received.headBytes == before + trailer.count)
    #expect(String(decoding: received.head, as: UTF8.self) == "a: 1\r\n")
  }

  @Test("of a body only the first bytes are kept, and beyond the limit it is cut off")
  func longBody() {
    var received = Received()
    let limits = Received.BodyLimits(kept: 5, received: 8)
    #expect(take(4, into: &received, limits))
    #expect(take(4, into: &received, limits))
    #expect(!received.wasEnough)
    #expect(!take(1, into: &received, limits))
    #expect(received.wasEnough)
    let cut = received.moveContent(isWhole: true, atMost: 5).response
    #expect(cut.body.count == 5 && cut.truncated)
    received.begin()
    #expect(take(5, into: &received, limits))
    let all = received.moveContent(isWhole: true, atMost: 5).response
    #expect(all.body.count == 5 && !all.truncated)
  }

  @Test("nothing of the response before is left")
  func again() {
    var (received, _) = head(["HTTP/1.1 200 OK", "content-length: 5", "content-length: 6"], mayDecode: true)
    _ = take(3, into: &received, Received.BodyLimits(kept: 2, received: 2))
    received.begin()
    #expect(received.head.isEmpty && received.headBytes == 0 && received.framing.length == nil)
    #expect(!received.framing.isUnclear && !received.isHeadWhole && !received.wasEnough && !received.mayDecode)
    #expect(received.status == nil && !received.lacksFields)
    let left = received.moveContent(isWhole: true, atMost: 5).response
    #expect(left.body.isEmpty && !left.truncated)
  }
}
