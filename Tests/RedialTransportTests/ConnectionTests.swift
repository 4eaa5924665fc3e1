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
    try body(
      Connection(socket: ends[0], Lifetime(TransportConfiguration(userAgent: "")), group: 1, rounds: rounds), ends[1])
  }

  @Test("nothing is sent on one that has ended, or has something to be read, unless requests of HTTP/2 are in flight")
  func quiet() {
    connected { connection, other in
      #expect(connection.isQuiet(isIdle: true))
      #expect(send(other, "x", 1, 0) == 1)
      #expect(!connection.isQuiet(isIdle: true))
      #expect(connection.isQuiet(isIdle: false))
      connection.hasSpokenHTTP1 = true
      #expect(!connection.isQuiet(isIdle: false))
    }
    connected { connection, other in
      #expect(shutdown(other, Int32(SHUT_WR)) == 0)
      #expect(!connection.isQuiet(isIdle: false))
    }
  }

  @Test("it takes a number of requests, and only for a while, both less up to a fifth")
  func lifetime() {
    var configuration = TransportConfiguration(userAgent: "")
    (configuration.maxConnectionAge, configuration.maxConnectionUses) = (.seconds(100), 50)
    let now = ContinuousClock.now
    for _ in 0..<100 {
      let connection = Connection(socket: -1, Lifetime(configuration, at: now), group: 1, rounds: rounds)
      #expect(!connection.isAtEnd(at: now + .seconds(79)) && connection.isAtEnd(at: now + .seconds(100)))
      for _ in 0..<39 { connection.use() }
      #expect(!connection.isAtEnd(at: now))
      for _ in 39..<50 { connection.use() }
      #expect(connection.isAtEnd(at: now))
    }
  }

  @Test("bytes that are there before a request are known, and the end of a connection is none")
  func input() {
    connected { connection, other in
      #expect(!connection.hasInput)
      #expect(shutdown(other, Int32(SHUT_WR)) == 0)
      #expect(!connection.hasInput)
    }
    connected { connection, other in
      #expect(send(other, "x", 1, 0) == 1)
      #expect(connection.hasInput)
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
}
