import Glibc
import Testing

@testable import RedialTransport

@Suite("Connections that served before")
struct ConnectionTests {
  /// A connection, and its other end.
  private func connected(_ body: (Connection, Int32) throws -> Void) rethrows {
    var ends: [Int32] = [-1, -1]
    precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0, "no sockets")
    defer { for end in ends { close(end) } }
    try body(Connection(socket: ends[0], group: 1), ends[1])
  }

  @Test("nothing is sent on one with something to be read, unless it speaks HTTP/2, or on one that has ended")
  func quiet() {
    connected { connection, other in
      #expect(connection.isQuiet)
      #expect(send(other, "x", 1, 0) == 1)
      #expect(connection.isQuiet)
      connection.hasSpokenHTTP1 = true
      #expect(!connection.isQuiet)
    }
    connected { connection, other in
      #expect(shutdown(other, Int32(SHUT_WR)) == 0)
      #expect(!connection.isQuiet)
    }
  }

  @Test("a request of which nothing has arrived is known")
  func unseen() {
    connected { connection, other in
      guard let socket = connection.socket else { return }
      #expect(!connection.hasUnseen(1))
      #expect(send(socket, "request", 7, 0) == 7)
      #expect(connection.hasUnseen(7))
      var bytes = [UInt8](repeating: 0, count: 7)
      #expect(recv(other, &bytes, 7, 0) == 7)
      #expect(!connection.hasUnseen(7))
    }
  }

  private static let heads: [(isDoubtful: Bool, method: String, head: String)] = [
    (false, "GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"), (false, "GET", "HTTP/1.1 200 OK\r\n"),
    (false, "GET", "HTTP/1.1 200 OK\nContent-Length:5\n"), (false, "GET", "HTTP/1.1 200\r\nContent-Length: 05 \t\r\n"),
    (false, "GET", "HTTP/1.1 200 OK\r\ntransfer-encoding:CHUNKED\r\n"), (false, "GET", "HTTP/1.1 204 No\r\n"),
    (false, "GET", "HTTP/1.1 204 No\r\nContent-Length: 00\r\n"), (false, "HEAD", "HTTP/1.1 200 OK\r\n"),
    (false, "GET", "HTTP/1.1 200 OK\r\nContent-Length-X: a\r\n"),
    (false, "GET", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n"),
    (false, "GET", "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
    (false, "GET", "HTTP/2 204 \r\ncontent-length: 5\r\n"),
    (true, "GET", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n"), (true, "GET", "HTTP/1.1 200 OK\r\nContent-Length:\r\n"),
    (true, "GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n"),
    (true, "GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n"),
    (true, "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n"),
    (true, "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
    (true, "GET", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n"),
    (true, "GET", "HTTP/1.1 204 No\r\nContent-Length: 10\r\n"),
    (true, "GET", "HTTP/1.1 304 Not\r\nContent-Length: 1\r\n"),
    (true, "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"), (true, "GET", "HTTP/1.1 101 Switching\r\n"),
    (true, "GET", "HTTP/1.1 100 Go on\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
    (true, "GET", "HTTP/1.1 200 OK\r\n X: 1\r\n"), (true, "GET", "HTTP/1.1 200 OK\r\nX: 1\r\n\t2\r\n"),
    (true, "GET", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n"), (true, "GET", "HTTP/1.1 200 OK\r\n: 5\r\n"),
    (true, "GET", "HTTP/1.1 200 OK\r\nX: 1\rContent-Length: 5\r\n"), (true, "GET", "HTTP/1.1 200 OK\r\nno colon\r\n"),
  ]

  @Test("where a response ends is in doubt if readers may differ")
  func framing() {
    for (isDoubtful, method, head) in Self.heads {
      var framing = ResponseFraming(method)
      for line in (head + "\r\n").utf8.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast() {
        (Array(line) + [0x0A]).withUnsafeBytes { framing.take($0) }
      }
      #expect(framing.isHeadWhole && framing.isDoubtful == isDoubtful, "\(method) \(head)")
      // What comes later is of the body or a trailer.
      " X: 1\r\n".utf8.withContiguousStorageIfAvailable { framing.take(UnsafeRawBufferPointer($0)) }
      #expect(framing.isDoubtful == isDoubtful)
    }
  }
}
