import Glibc
import Testing

@testable import HTTPServer

@Suite("Out of file descriptors, a server")
struct ExhaustionTests {
  /// In a process of its own, whose limit of descriptors is lowered.
  @Test("continues to serve, and accepts waiting clients once there are descriptors again")
  func recovers() async {
    await #expect(processExitsWith: .success) {
      let server = try TestServer()
      let established = try server.connect()
      try established.get("/before")
      try #require(established.response().status == 200)
      // Created before the limit, because a client's end needs a descriptor too.
      let address = try SocketAddress(host: "127.0.0.1", port: server.server.port)
      let waiting = try (0..<8).map { _ in try RawConnection(unconnectedLike: address) }
      let next = dup(0)
      Glibc.close(next)
      var bound = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &bound)
      bound.rlim_cur = rlim_t(next + 2)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &bound) == 0)
      for (index, client) in waiting.enumerated() {
        try client.connect(to: address)
        try client.get("/\(index)")
      }
      // At most two were accepted. The others are in the backlog, and none fails.
      for _ in 0..<100 {
        try established.get("/meanwhile")
        try #require(established.response().text == "GET /meanwhile ")
      }
      try #require(waiting.filter { $0.hasInput }.count <= 2)
      // Each that leaves frees a descriptor for another.
      for (index, client) in waiting.enumerated() {
        try #require(client.response().text == "GET /\(index) ")
        client.close()
      }
      try established.get("/after")
      try #require(established.response().text == "GET /after ")
    }
  }
}
