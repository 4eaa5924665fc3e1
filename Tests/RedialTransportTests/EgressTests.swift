import RedialCore
import RedialModel
import Testing

@testable import RedialTransport

@Suite("What may be dialled", .onThreads)
struct EgressTests {
  private func probe(_ policy: EgressPolicy) throws -> TransportProbe { try TransportProbe { $0.egress = policy } }

  @Test("an address that the policy refuses is not dialled, in whatever form it is written")
  func refused() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    defer { target.stop() }
    let probe = try probe(EgressPolicy())
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]", "localhost", "a.localhost"] {
      let result = probe.perform("http://\(host):\(target.port)/")
      #expect(result?.outcome == .blocked, "\(host)")
      #expect(result?.failure?.code == "egressLoopback", "\(host)")
      #expect(result?.failure?.message == "The egress policy refuses loopback addresses.", "\(host)")
    }
    for host in ["169.254.169.254", "0.0.0.0", "0", "224.0.0.1", "[fe80::1]", "100.100.100.200"] {
      #expect(probe.perform("http://\(host):\(target.port)/")?.outcome == .blocked, "\(host)")
    }
    #expect(target.connectionCount == 0)
  }

  @Test("an allowed address is dialled")
  func allowed() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    defer { target.stop() }
    #expect(try probe(EgressPolicy(reachesLoopback: true)).perform(target.url)?.status == 200)
    let rule = try #require(EgressRule("localhost:\(target.port)"))
    let named = try probe(EgressPolicy(reach: .listed, allow: [rule]))
    #expect(named.perform("http://localhost:\(target.port)/")?.status == 200)
    #expect(named.perform(target.url)?.failure?.code == "egressNotListed")
  }

  @Test("the service does not call itself, under any of its machine's addresses")
  func own() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    defer { target.stop() }
    let policy = EgressPolicy(reachesLoopback: true, own: [.init(address: nil, port: target.port)])
    let probe = try probe(policy)
    for host in ["127.0.0.1", "127.8.8.8", "localhost"] {
      #expect(probe.perform("http://\(host):\(target.port)/")?.failure?.code == "egressOwnAddress")
    }
    #expect(target.connectionCount == 0)
  }

  @Test("the service's own addresses can be set before the first request")
  func ownLater() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    defer { target.stop() }
    let probe = try probe(EgressPolicy(reachesLoopback: true))
    let own = EgressPolicy.Endpoint(address: IPAddress(canonical: "127.0.0.1"), port: target.port)
    probe.transport.restrict(to: EgressPolicy(reachesLoopback: true, own: [own]))
    #expect(probe.perform(target.url)?.failure?.code == "egressOwnAddress")
  }
}
