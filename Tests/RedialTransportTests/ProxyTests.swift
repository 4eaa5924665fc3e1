import Polling
import Glibc
import RedialCore
import RedialModel
import Synchronization
import Testing

@testable import RedialTransport

@Suite("A proxy", .onThreads)
struct ProxyTests {
  /// A proxy that opens tunnels to a port of 127.0.0.1 for any host, and answers other requests itself.
  private func proxy(tunnelsTo port: Int = 0) -> ScriptedTarget {
    ScriptedTarget { connection in
      while let request = connection.readRequest() {
        guard request.hasPrefix("CONNECT ") else {
          connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nby proxy ")
          continue
        }
        guard port > 0, let far = Self.connect(port) else {
          connection.send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
          continue
        }
        connection.send("HTTP/1.1 200 Connected\r\n\r\n")
        Self.join(connection.descriptor, far)
        return
      }
    }
  }

  private static func connect(_ port: Int) -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if isConnected { return descriptor }
    close(descriptor)
    return nil
  }

  /// Copies bytes in both directions until one side ends.
  private static func join(_ near: Int32, _ far: Int32) {
    var ends = [
      pollfd(fd: near, events: Int16(POLLIN), revents: 0), pollfd(fd: far, events: Int16(POLLIN), revents: 0),
    ]
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while poll(&ends, 2, 30_000) > 0 {
      for (index, other) in [(0, far), (1, near)] where ends[index].revents != 0 {
        let count = recv(ends[index].fd, &bytes, bytes.count, 0)
        guard count > 0, send(other, bytes, count, Int32(MSG_NOSIGNAL)) == count else {
          close(far)
          return
        }
      }
    }
    close(far)
  }

  @Test("gets requests without TLS whole, with the URL in them, and resolves the name itself")
  func absoluteForm() throws {
    let proxy = proxy()
    defer { proxy.stop() }
    let probe = try TransportProbe { $0.proxy = proxy.url }
    let result = probe.perform("http://no-such-host.invalid:81/a?b=1", method: "POST", body: "x")
    #expect(result.map { String(decoding: $0.body, as: UTF8.self) } == "by proxy ")
    let request = try #require(proxy.requests.first)
    #expect(
      request.hasPrefix("POST http://no-such-host.invalid:81/a?b=1 HTTP/1.1\r\nHost: no-such-host.invalid:81\r\n"))
    #expect(!request.lowercased().contains("proxy-authorization"))
  }

  @Test("opens tunnels for TLS with the target", .withNginx)
  func tunnel() throws {
    let servers = try SecureServers.shared.get()
    let port = try #require(Int(servers.url("good").split(separator: ":").last ?? ""))
    let proxy = proxy(tunnelsTo: port)
    defer { proxy.stop() }
    let probe = try TransportProbe {
      $0.proxy = proxy.url
      $0.tls.trustedIssuers = servers.path("ca.pem")
    }
    // The certificate is for this name, which only the proxy can reach.
    let result = probe.perform("https://localhost:4711/", headers: [HeaderField("Authorization", "secret")])
    #expect(result.map { String(decoding: $0.body, as: UTF8.self) } == "HTTP/2.0 ")
    let request = try #require(proxy.requests.first)
    #expect(request.hasPrefix("CONNECT localhost:4711 HTTP/1.1\r\n") && !request.contains("secret"))
    #expect(probe.perform("https://other.example:4711/")?.failure?.code == "certificateWrongHost")
  }

  @Test("that cannot be reached is not the target's fault, and one that refuses is named")
  func faults() throws {
    let lost = try TransportProbe { $0.proxy = "http://127.0.0.1:\(ScriptedTarget.unusedPort())" }
    let unreachable = lost.perform("http://x.example/")
    #expect(unreachable?.outcome == .localFault && unreachable?.failure?.code == "proxyUnreachable")
    let proxy = proxy()
    defer { proxy.stop() }
    let refused = try TransportProbe { $0.proxy = proxy.url }.perform("https://x.example/")
    #expect(refused?.outcome == .notSent && refused?.failure?.code == "proxyRefused")
  }

  @Test("that asks for a password is not the target's fault, with a tunnel or without")
  func password() throws {
    let proxy = ScriptedTarget { connection in
      while connection.readRequest() != nil {
        connection.send("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
      }
    }
    defer { proxy.stop() }
    let probe = try TransportProbe { $0.proxy = proxy.url }
    for url in ["http://x.example/", "https://x.example/"] {
      let result = probe.perform(url)
      #expect(
        result?.outcome == .localFault && result?.failure?.code == "proxyRefused"
          && result?.figures?.mayHaveLeft == false,
        "\(url): \(String(describing: result))")
    }
    // Without a proxy, it is an answer like any other.
    let answer = try TransportProbe().perform(proxy.url)
    #expect(answer?.outcome == .answered && answer?.status == 407)
  }

  @Test("that makes no tunnel is not the target's fault", arguments: ["", "garbage\r\n\r\n", "\u{16}\u{3}\u{1}"])
  func broken(answer: String) throws {
    let proxy = ScriptedTarget { connection in
      if connection.readRequest() != nil { connection.send(answer) }
    }
    defer { proxy.stop() }
    let result = try TransportProbe { $0.proxy = proxy.url }.perform("https://x.example/")
    #expect(
      result?.outcome == .localFault && result?.failure?.code == "proxyRefused", "\(String(describing: result))")
  }

  @Test("that takes no connection in time is not the target's fault")
  func silence() throws {
    // A full queue of connections: the system answers no further one.
    let full = try #require(FullQueue())
    let probe = try TransportProbe {
      $0.proxy = "http://127.0.0.1:\(full.port)"
      $0.connectTimeout = .milliseconds(300)
    }
    for url in ["http://x.example/", "https://x.example/"] {
      let result = probe.perform(url)
      #expect(
        result?.outcome == .localFault && result?.failure?.code == "proxyUnreachable",
        "\(url): \(String(describing: result))")
    }
  }

  @Test("that says nothing is not the target's fault, unless it answers others")
  func deafness() throws {
    let isAlive = Atomic(false)
    let proxy = ScriptedTarget { connection in
      while let request = connection.readRequest() {
        guard isAlive.load(ordering: .relaxed), request.contains("redial-probe.invalid") else { continue }
        connection.send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
      }
    }
    defer { proxy.stop() }
    for isUp in [false, true] {
      isAlive.store(isUp, ordering: .relaxed)
      let probe = try TransportProbe { $0.proxy = proxy.url }
      for (url, word) in [("https://x.example/", "connectTimeout"), ("http://x.example/", "timeout")] {
        let request = TransportRequest(id: 1, url: url, method: "GET", timeout: .milliseconds(300), captureLimit: 9)
        let result = probe.perform(request)
        #expect(result?.failure?.code == (isUp ? word : "proxyUnreachable"), "\(url): \(String(describing: result))")
        #expect((result?.outcome == .localFault) == !isUp)
      }
    }
  }

  @Test("gets no request that the egress policy refuses by the URL")
  func egress() throws {
    let proxy = proxy()
    defer { proxy.stop() }
    let probe = try TransportProbe {
      $0.proxy = proxy.url
      $0.egress = EgressPolicy(reach: .public)
    }
    for url in ["http://169.254.169.254/", "http://10.1.1.1/", "http://[::ffff:7f00:1]/"] {
      #expect(probe.perform(url)?.outcome == .blocked, "\(url)")
    }
    #expect(proxy.connectionCount == 0)
    #expect(probe.perform("http://x.example/")?.status == 200)
  }
}
