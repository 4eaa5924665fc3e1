import Glibc
import Testing

@testable import HTTPServer

@Suite("Addresses to listen on")
struct ListenAddressTests {
  @Test(
    "are read as they are written",
    arguments: [
      ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080)),
      ("localhost:0", .tcp(host: "localhost", port: 0)), ("[::1]:65535", .tcp(host: "::1", port: 65_535)),
      ("[fe80::1%eth0]:80", .tcp(host: "fe80::1%eth0", port: 80)), ("unix:/run/a b.sock", .unix(path: "/run/a b.sock")),
      ("unix:a:80", .unix(path: "a:80")),
    ])
  func reads(text: String, address: ListenAddress) {
    #expect(ListenAddress(text) == address)
    #expect(address.description == text)
  }

  @Test(
    "are refused if they are ambiguous",
    arguments: [
      "", ":", "8080", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:80", "[::1]", "[]:80",
      "[127.0.0.1]:80", "unix:", "unix",
    ])
  func refuses(text: String) {
    #expect(ListenAddress(text) == nil)
  }

  @Test(
    "make URLs that clients accept",
    arguments: [
      ("127.0.0.1", "http://127.0.0.1:80"), ("::1", "http://[::1]:80"), ("::", "http://[::]:80"),
      ("fe80::1%lo", "http://[fe80::1%25lo]:80"), ("::ffff:127.0.0.1", "http://127.0.0.1:80"),
    ])
  func writesURLs(host: String, url: String) throws {
    #expect(try SocketAddress(host: host, port: 80).url == url)
  }

  @Test("a socket's path makes one too, up to the longest that the system allows")
  func writesPaths() throws {
    for path in ["redial.sock", "/" + String(repeating: "p", count: 106)] {
      #expect(try SocketAddress(path: path).url == "unix:" + path)
    }
  }

  @Test("the service manager's variables name the sockets from descriptor 3 on")
  func readsVariables() throws {
    let environment = ["LISTEN_PID": "17", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "web::admin:more"]
    let sockets = try InheritedSocket.list(environment, process: 17)
    #expect(sockets.map(\.descriptor) == [3, 4, 5] && sockets.map(\.name) == ["web", "", "admin"])
    #expect(sockets.map(\.description) == ["descriptor 3 (web)", "descriptor 4", "descriptor 5 (admin)"])
    let unnamed = try InheritedSocket.list(["LISTEN_PID": "17", "LISTEN_FDS": "1"], process: 17)
    #expect(unnamed == [InheritedSocket(descriptor: 3)])
  }

  @Test(
    "variables that are missing or for another process give no sockets",
    arguments: [
      [:], ["LISTEN_FDS": "1"], ["LISTEN_PID": "17"], ["LISTEN_PID": "18", "LISTEN_FDS": "1"],
      ["LISTEN_PID": "17", "LISTEN_FDS": "0"],
    ])
  func ignoresVariables(environment: [String: String]) throws {
    #expect(try InheritedSocket.list(environment, process: 17).isEmpty)
  }

  @Test("variables that are not numbers are an error that names them")
  func refusesVariables() {
    for (name, value) in [("LISTEN_PID", "x"), ("LISTEN_PID", "0"), ("LISTEN_FDS", "-1"), ("LISTEN_FDS", "100000")] {
      let environment = ["LISTEN_PID": "17", "LISTEN_FDS": "1"].merging([name: value]) { $1 }
      #expect(throws: HTTPServerError.invalidEnvironment(name: name, value: value)) {
        try InheritedSocket.list(environment, process: 17)
      }
    }
  }

  @Test("the variables are gone once they are read")
  func unsetsVariables() async {
    await #expect(processExitsWith: .success) {
      setenv("LISTEN_PID", "\(getpid())", 1)
      setenv("LISTEN_FDS", "2", 1)
      setenv("LISTEN_FDNAMES", "web:admin", 1)
      let sockets = try InheritedSocket.takeFromEnvironment()
      #expect(sockets.map(\.name) == ["web", "admin"])
      for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { #expect(getenv(name) == nil) }
      #expect(try InheritedSocket.takeFromEnvironment().isEmpty)
    }
  }
}
