import Testing

@testable import RedialTransport

@Suite("The received part of a response")
struct ReceivedTests {
  /// Receives lines, each without its end.
  private func head(_ lines: [String], mayInflate: Bool = false, atMost limit: Int = 1000) -> (Received, whole: Bool) {
    var received = Received()
    received.mayInflate = mayInflate
    for line in lines {
      guard Array("\(line)\r\n".utf8).withUnsafeBytes({ received.takeHead($0, atMost: limit) }) else {
        return (received, false)
      }
    }
    return (received, true)
  }

  private func take(_ count: Int, into received: inout Received, _ limits: Received.BodyLimits, arrived: Int) -> Bool {
    [UInt8](repeating: 7, count: count).withUnsafeBytes { received.takeBody($0, limits) { arrived } }
  }

  @Test("the header is that of the last status line")
  func lastHeader() {
    let (received, isWhole) = head([
      "HTTP/1.1 100 Continue", "content-length: 3", "", "HTTP/1.1 200 OK", "a: 1", "Content-Length:  5 ", "",
    ])
    #expect(isWhole && received.isHeadWhole && !received.isContradictory)
    #expect(String(decoding: received.head, as: UTF8.self) == "a: 1\r\nContent-Length:  5 \r\n")
    #expect(received.contentLength == 5)
  }

  @Test("a header that has begun is not whole before its empty line")
  func incomplete() {
    let (received, isWhole) = head(["HTTP/1.1 100 Continue", "", "HTTP/1.1 200 OK", "a: 1"])
    #expect(isWhole && !received.isHeadWhole)
    #expect(received.contentLength == nil)
  }

  @Test("two lengths that differ end the response; two equal ones do not")
  func contradictoryLengths() {
    let (same, isWhole) = head(["HTTP/1.1 200 OK", "content-length: 5", "Content-Length: 5", ""])
    #expect(isWhole && !same.isContradictory)
    let (other, continues) = head(["HTTP/1.1 200 OK", "content-length: 5", "Content-Length: 6", ""])
    #expect(!continues && other.isContradictory)
  }

  @Test("a header beyond its limit ends the response", arguments: [(25, true), (24, false)])
  func longHeader(limit: Int, fits: Bool) {
    // 17, 6 and 2 bytes.
    let (received, isWhole) = head(["HTTP/1.1 200 OK", "a: 1", ""], atMost: limit)
    #expect(isWhole == fits)
    #expect(received.hasOversizedHead != fits)
  }

  @Test("only a response that libcurl decompresses counts as inflated", arguments: [true, false])
  func coding(mayInflate: Bool) {
    let (received, _) = head(["HTTP/1.1 200 OK", "CONTENT-ENCODING: gzip", ""], mayInflate: mayInflate)
    #expect(received.wasInflated == mayInflate)
  }

  @Test("trailers are counted, and are not part of the header")
  func trailers() {
    var (received, _) = head(["HTTP/1.1 200 OK", "a: 1", ""])
    let before = received.headBytes
    #expect(take(3, into: &received, Received.BodyLimits(kept: 10, received: 10), arrived: 3))
    let trailer = Array("b: 2\r\n".utf8)
    #expect(trailer.withUnsafeBytes { received.takeHead($0, atMost: 1000) })
    #expect(received.headBytes == before + trailer.count)
    #expect(String(decoding: received.head, as: UTF8.self) == "a: 1\r\n")
  }

  @Test("of a body only the first bytes are kept, and beyond the limit it is cut off")
  func longBody() {
    var received = Received()
    let limits = Received.BodyLimits(kept: 5, received: 8)
    #expect(take(4, into: &received, limits, arrived: 0))
    #expect(take(4, into: &received, limits, arrived: 0))
    #expect(!received.wasEnough)
    #expect(!take(1, into: &received, limits, arrived: 0))
    #expect(received.wasEnough)
    let (bytes, isTruncated) = received.moveBody()
    #expect(bytes.count == 5 && isTruncated)
    received.begin()
    #expect(take(5, into: &received, limits, arrived: 0))
    let (all, isCut) = received.moveBody()
    #expect(all.count == 5 && !isCut)
  }

  @Test("a body that inflates to more than its ratio is cut off, but not a small one")
  func bomb() {
    let limits = Received.BodyLimits(kept: 10, received: 1 << 20, inflation: 10)
    var received = Received()
    #expect(take(64 * 1024, into: &received, limits, arrived: 1))
    #expect(take(1000, into: &received, limits, arrived: 100))
    #expect(!take(1, into: &received, limits, arrived: 100))
    #expect(received.wasEnough)
    var plain = Received()
    #expect(take(128 * 1024, into: &plain, Received.BodyLimits(kept: 10, received: 1 << 20), arrived: 1))
  }

  @Test("nothing of the response before is left")
  func again() {
    var (received, _) = head(["HTTP/1.1 200 OK", "content-length: 5", "content-length: 6"], mayInflate: true)
    _ = take(3, into: &received, Received.BodyLimits(kept: 2, received: 2), arrived: 3)
    received.begin()
    #expect(received.head.isEmpty && received.headBytes == 0 && received.contentLength == nil)
    #expect(!received.isContradictory && !received.isHeadWhole && !received.wasEnough && !received.mayInflate)
    let (bytes, isTruncated) = received.moveBody()
    #expect(bytes.isEmpty && !isTruncated)
  }
}
