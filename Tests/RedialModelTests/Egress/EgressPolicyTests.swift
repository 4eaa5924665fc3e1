import RedialModel
import Testing

@Suite("The egress policy")
struct EgressPolicyTests {
  private func rules(_ texts: String...) throws -> [EgressRule] { try texts.map { try #require(EgressRule($0)) } }

  private func dial(
    _ policy: EgressPolicy, _ address: String, port: Int = 80, host: String? = nil, isLocal: Bool = false
  ) throws -> String? {
    policy.refusal(
      host: host, address: try #require(IPAddress(canonical: address)), port: port, isLocal: { isLocal })?.rule
  }

  @Test("a name is checked by its address, each time")
  func dialled() throws {
    let policy = EgressPolicy(reach: .public)
    #expect(policy.refusal(ofOrigin: "http://rebind.example") == nil)
    #expect(try dial(policy, "93.184.216.34", host: "rebind.example") == nil)
    #expect(try dial(policy, "127.0.0.1", host: "rebind.example") == "loopback")
    #expect(try dial(policy, "10.0.0.1", host: "rebind.example") == "private")
    #expect(try dial(policy, "169.254.169.254", host: "rebind.example") == "linkLocal")
  }

  @Test("loopback is allowed only with the reach private, for a service that only loopback reaches")
  func loopback() throws {
    #expect(try dial(EgressPolicy(reachesLoopback: true), "127.0.0.1") == nil)
    #expect(try dial(EgressPolicy(reachesLoopback: true), "::1") == nil)
    for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
      #expect(try dial(EgressPolicy(reach: .public, reachesLoopback: true), address) == "loopback")
      #expect(try dial(EgressPolicy(reach: .listed, reachesLoopback: true), address) == "notListed")
    }
    #expect(try dial(EgressPolicy(reach: .public, allow: try rules("127.0.0.1")), "127.0.0.1") == nil)
    #expect(try dial(EgressPolicy(), "127.0.0.1") == "loopback")
  }

  @Test("a list names blocks, names, everything below a name, and ports")
  func lists() throws {
    let policy = EgressPolicy(
      reach: .public,
      allow: try rules("10.1.0.0/16", "fd00:1::/32", "*.corp.example:443", "billing.example:8000-8999"),
      deny: try rules("10.1.2.0/24", "*:25", "evil.example", "*.evil.example"))
    #expect(try dial(policy, "10.1.1.1") == nil)
    #expect(try dial(policy, "10.1.2.1") == "denied")
    #expect(try dial(policy, "10.2.0.1") == "private")
    #expect(try dial(policy, "fd00:1::7") == nil)
    #expect(try dial(policy, "192.168.0.1", port: 443, host: "a.corp.example") == nil)
    #expect(try dial(policy, "192.168.0.1", port: 80, host: "a.corp.example") == "private")
    #expect(try dial(policy, "192.168.0.1", port: 443, host: "corp.example") == "private")
    #expect(try dial(policy, "192.168.0.1", port: 443, host: "xcorp.example") == "private")
    #expect(try dial(policy, "192.168.0.1", port: 8500, host: "billing.example") == nil)
    #expect(try dial(policy, "192.168.0.1", port: 9000, host: "billing.example") == "private")
    #expect(try dial(policy, "1.1.1.1", port: 25) == "denied")
    #expect(try dial(policy, "1.1.1.1", host: "EVIL.example.") == "denied")
    #expect(policy.refusal(ofOrigin: "http://a.evil.example")?.rule == "denied")
    #expect(policy.refusal(ofOrigin: "http://notevil.example") == nil)
    #expect(policy.refusal(ofOrigin: "http://mail.example:25")?.rule == "denied")
  }

  @Test("a denied block covers its addresses in every form")
  func deniedForms() throws {
    let policy = EgressPolicy(deny: try rules("10.0.0.0/8"))
    for address in ["10.0.0.1", "::ffff:10.0.0.1", "::10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::"] {
      #expect(try dial(policy, address) == "denied", "\(address)")
    }
  }

  @Test("no list allows what is always refused, and no wildcard allows loopback")
  func notAllowed() throws {
    let all = EgressPolicy(allow: try rules("*", "0.0.0.0/0", "::/0", "*.example", "meta.example"))
    for address in ["169.254.169.254", "fe80::1", "224.0.0.1", "0.0.0.0", "::", "fd00:ec2::254"] {
      #expect(try dial(all, address, host: "meta.example") != nil, "\(address)")
    }
    let wide = EgressPolicy(allow: try rules("*", "*.example"))
    #expect(try dial(wide, "127.0.0.1", host: "a.example") == "loopback")
    let exact = EgressPolicy(allow: try rules("127.0.0.1:9000", "side.example"))
    #expect(try dial(exact, "127.0.0.1", port: 9000) == nil)
    #expect(try dial(exact, "127.0.0.1", port: 9001) == "loopback")
    #expect(try dial(exact, "::1", host: "side.example") == nil)
  }

  @Test("the reach listed allows exactly what a list names")
  func listed() throws {
    let policy = EgressPolicy(reach: .listed, allow: try rules("93.184.216.0/24", "api.example"))
    #expect(try dial(policy, "93.184.216.34") == nil)
    #expect(try dial(policy, "93.184.217.34") == "notListed")
    #expect(try dial(policy, "10.0.0.1", host: "api.example") == nil)
    // Any name may have an address in a block.
    #expect(policy.refusal(ofOrigin: "http://other.example") == nil)
    #expect(try dial(policy, "1.1.1.1", host: "other.example") == "notListed")
    let names = EgressPolicy(reach: .listed, allow: try rules("api.example:443"))
    #expect(names.refusal(ofOrigin: "https://api.example") == nil)
    #expect(names.refusal(ofOrigin: "http://api.example")?.rule == "notListed")
  }

  @Test("the service does not call itself")
  func own() throws {
    let one = EgressPolicy(
      allow: try rules("127.0.0.1"), reachesLoopback: true,
      own: [.init(address: IPAddress(canonical: "127.0.0.1"), port: 8080)])
    #expect(try dial(one, "127.0.0.1", port: 8080) == "ownAddress")
    #expect(try dial(one, "64:ff9b::7f00:1", port: 8080) == "ownAddress")
    #expect(try dial(one, "::1", port: 8080) == "ownAddress")
    #expect(try dial(one, "127.0.0.1", port: 8081) == nil)
    let near = EgressPolicy(own: [.init(address: IPAddress(canonical: "10.0.0.5"), port: 8080)])
    #expect(try dial(near, "10.0.0.5", port: 8080) == "ownAddress")
    #expect(try dial(near, "10.0.0.6", port: 8080) == nil)
    let any = EgressPolicy(reachesLoopback: true, own: [.init(address: nil, port: 8080)])
    #expect(try dial(any, "127.9.9.9", port: 8080) == "ownAddress")
    #expect(try dial(any, "10.0.0.5", port: 8080, isLocal: true) == "ownAddress")
    #expect(try dial(any, "10.0.0.5", port: 8080, isLocal: false) == nil)
    #expect(try dial(any, "10.0.0.5", port: 80, isLocal: true) == nil)
  }

  @Test("a refusal names its rule and no address")
  func silence() throws {
    let policy = EgressPolicy(reach: .public, deny: try rules("172.20.0.0/16"))
    for address in ["10.11.12.13", "127.3.2.1", "169.254.9.9", "fd12::34"] {
      let refusal = policy.refusal(
        host: "inner.example", address: try #require(IPAddress(canonical: address)), port: 80, isLocal: { false })
      #expect(refusal?.clause.contains { $0.isNumber || $0 == ":" } == false)
    }
  }

  @Test("invalid rules are refused")
  func malformed() {
    for text in [
      "", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "::/129", "fd00::1/8", "a b", "*.*", "a..b",
      "*x.example", "host:0", "host:70000", "host:9-8", "host:", "1.2.3", "0x7f.1", "[fd00::/8", "[10.0.0.0]/8:x",
      "http://a/",
    ] {
      #expect(EgressRule(text) == nil, "\(text)")
    }
    #expect(EgressRule("[fd00::]/8:443")?.ports == 443...443)
    #expect(EgressRule("[fd00::]") != nil && EgressRule("fd00::/8") != nil && EgressRule("*:8000-8999") != nil)
  }

  @Test("addresses are written as RFC 5952 says, and read back")
  func text() throws {
    for text in [
      "127.0.0.1", "255.255.255.255", "::", "::1", "2001:db8::1", "fe80::1:0:0:1", "1:2:3:4:5:6:7:8", "1:0:2:3:4:5:6:7",
      "64:ff9b::7f00:1", "a::",
    ] {
      #expect(try #require(IPAddress(canonical: text)).description == text)
    }
  }
}
