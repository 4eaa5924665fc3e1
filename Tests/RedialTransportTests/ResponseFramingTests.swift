import Testing

@testable import RedialTransport

@Suite("Where a response ends")
struct ResponseFramingTests {
  /// Takes heads, each of whose lines but the last has its end.
  private func framing(_ method: String, _ head: String) -> ResponseFraming {
    var received = Received()
    received.begin(method)
    for line in (head + "\r\n").utf8.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast() {
      _ = (Array(line) + [0x0A]).withUnsafeBytes { received.takeHead($0, atMost: 1000) }
    }
    #expect(received.isHeadWhole, "\(head)")
    // What comes later is of the body or a trailer.
    let before = received.framing.isDoubtful
    _ = Array(" X: 1\r\n".utf8).withUnsafeBytes { received.takeHead($0, atMost: 1000) }
    #expect(received.framing.isDoubtful == before)
    return received.framing
  }

  private static let clear: [(method: String, head: String)] = [
    ("GET", "200 OK\r\nContent-Length: 5\r\n"), ("GET", "200 OK\r\n"), ("GET", "200 OK\nContent-Length:5\n"),
    ("GET", "200\r\nContent-Length: 05 \t\r\n"), ("GET", "200 OK\r\ntransfer-encoding:CHUNKED\r\n"),
    ("GET", "204 No\r\n"), ("GET", "204 No\r\nContent-Length: 00\r\n"), ("GET", "200 OK\r\nContent-Length-X: a\r\n"),
    ("GET", "103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
    ("GET", "304 Not\r\nContent-Length: 1\r\n"), ("GET", "304 Not\r\nTransfer-Encoding: chunked\r\n"),
    ("HEAD", "200 OK\r\n"), ("HEAD", "200 OK\r\nContent-Length: 1\r\n"), ("HEAD", "404 No\r\nContent-Length: 5\r\n"),
    ("HEAD", "200 OK\r\nTransfer-Encoding: chunked\r\n"),
  ]

  @Test("all agree on the end of an ordinary response, and of one that has no content", arguments: clear)
  func unambiguous(method: String, head: String) {
    let framing = framing(method, "HTTP/1.1 \(head)")
    #expect(!framing.isDoubtful && !framing.isUnclear && !framing.endsHere)
  }

  private static let doubtful: [(method: String, head: String)] = [
    ("GET", "200 OK\r\nContent-Length:\r\n"), ("GET", "200 OK\r\nContent-Length: ,\r\n"),
    ("GET", "200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n"), ("GET", "200 OK\r\nContent-Length: 5, 5\r\n"),
    ("GET", "200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n"),
    ("GET", "200 OK\r\nTransfer-Encoding: identity\r\n"),
    ("GET", "200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
    ("GET", "204 No\r\nContent-Length: 10\r\n"), ("GET", "204 No\r\nTransfer-Encoding: chunked\r\n"),
    ("GET", "101 Switching\r\n"), ("HEAD", "204 No\r\nContent-Length: 10\r\n"),
    ("HEAD", "200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n"),
    ("GET", "100 Go on\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
    ("GET", "100 Go on\r\n x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
    ("GET", "200 OK\r\n X: 1\r\n"), ("GET", "200 OK\r\nX: 1\r\n\t2\r\n"), ("GET", "200 OK\r\n: 5\r\n"),
    ("GET", "200 OK\r\n\u{1}X: 5\r\n"), ("GET", "200 OK\r\nX\u{1}: 5\r\n"), ("GET", "200 OK\r\nX : 5\r\n"),
    ("GET", "200 OK\r\nX: 1\rContent-Length: 5\r\n"), ("GET", "200 OK\r\nno colon\r\n"),
  ]

  @Test("no request follows a response of which readers may find another end", arguments: doubtful)
  func ambiguous(method: String, head: String) {
    let framing = framing(method, "HTTP/1.1 \(head)")
    #expect(framing.isDoubtful && !framing.isUnclear && !framing.endsHere)
  }

  @Test("chunks in HTTP/1.0 are in doubt, and nothing in HTTP/2 is")
  func versions() {
    #expect(framing("GET", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n").isDoubtful)
    #expect(!framing("GET", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n").isDoubtful)
    #expect(!framing("GET", "HTTP/2 204 \r\ncontent-length: 5\r\n").isDoubtful)
  }

  private static let unclear = [
    "Content-Length: +5", "Content-Length: five", "Content-Length: -1", "Content-Length: 0x5", "Content-Length: 5;",
    "Content-Length: 5.0", "Content-Length: 9999999999999999999", "Content-Length: 5 5", "Content-Length: 5, 6",
    "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\n 6", "Content-Length:\r\n\t5",
    "Content-Length : 5\r\nContent-Length: 6", "Content-Length : x", "Transfer-Encoding : chunked",
    "Transfer-Encoding\t: chunked", "Transfer-Encoding:\r\n chunked", "Transfer-Encoding: gzip,\r\n\tchunked",
    "Content-Length: 5\r\nTransfer-Encoding : chunked",
  ]

  @Test("of these nobody knows the end, unless there is no content", arguments: unclear)
  func contradictions(fields: String) {
    let framing = framing("GET", "HTTP/1.1 200 OK\r\n\(fields)\r\nX: 1\r\n")
    #expect(framing.isUnclear && framing.isDoubtful)
    #expect(!self.framing("GET", "HTTP/1.1 304 Not\r\n\(fields)\r\n").isUnclear)
    #expect(!self.framing("HEAD", "HTTP/1.1 200 OK\r\n\(fields)\r\n").isUnclear)
  }

  @Test("a length is known whatever stands beside it that says nothing")
  func lengths() {
    for (fields, length) in [
      ("Content-Length: 007 ", 7), ("Content-Length: 00000000000000000000007", 7), ("Content-Length: 7, 7", 7),
      ("Content-Length: 7\r\n  ", 7), ("Content-Length:\r\nContent-Length: 7", 7),
      ("Content-Length: 7\r\nX: 1\r\n 8", 7),
      ("Content-Length: 7\r\nTransfer-Encoding: chunked", nil), ("X: 7", nil),
    ] as [(String, Int?)] {
      let framing = framing("GET", "HTTP/1.1 200 OK\r\n\(fields)\r\n")
      #expect(framing.length == length && !framing.isUnclear && !framing.endsHere, "\(fields)")
    }
    #expect(framing("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n").length == nil)
  }

  @Test("a length that libcurl does not find is obeyed here")
  func unheard() {
    for fields in ["Content-Length : 2", "content-length\t \t: 2, 2", "Content-Length : 2\r\nContent-Length : 2"] {
      let framing = framing("GET", "HTTP/1.1 200 OK\r\n\(fields)\r\n")
      #expect(framing.endsHere && framing.length == 2 && framing.isDoubtful && !framing.isUnclear)
    }
    for fields in ["Content-Length : 2\r\nContent-Length: 2", "Content-Length : 2\r\nTransfer-Encoding: chunked"] {
      #expect(!framing("GET", "HTTP/1.1 200 OK\r\n\(fields)\r\n").endsHere)
    }
  }
}
