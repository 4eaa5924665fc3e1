import Testing

@testable import RedialService

@Suite("How clients of a reverse proxy address the service")
struct ForwardedAddressTests {
  private func base(_ fields: (String, String)...) -> String {
    ForwardedAddress(fields.map { (name: "x-forwarded-" + $0.0, value: $0.1) }).base
  }

  @Test("links are absolute if scheme and host are known, and otherwise have only the prefix")
  func bases() {
    #expect(base(("proto", "https"), ("host", "a.example:81"), ("prefix", "/b/")) == "https://a.example:81/b")
    #expect(base(("proto", "https"), ("prefix", "/b")) == "/b")
    #expect(base(("host", "a.example"), ("prefix", "/b")) == "/b")
    #expect(base(("proto", "https"), ("host", "a.example")) == "https://a.example")
    #expect(base(("prefix", "/")) == "")
    #expect(base() == "")
  }

  @Test("the client is the last one in the list that is no trusted proxy")
  func clients() throws {
    let proxies = try #require(TrustedProxies("127.0.0.1,10.0.0.0/8"))
    #expect(proxies.client(among: "198.51.100.1, 192.0.2.7 , 10.1.2.3", behind: "127.0.0.1") == "192.0.2.7")
    #expect(proxies.client(among: "10.1.2.4,10.1.2.3", behind: "127.0.0.1") == "10.1.2.4")
    #expect(proxies.client(among: "192.0.2.7, unknown", behind: "127.0.0.1") == "127.0.0.1")
    #expect(proxies.client(among: "", behind: nil) == nil)
    #expect(proxies.client(among: "2001:db8::7", behind: nil) == "2001:db8::7")
  }

  @Test("of several hosts and schemes the last counts, and prefixes are joined")
  func several() {
    #expect(base(("proto", "http, https"), ("host", "evil.test,a.example")) == "https://a.example")
    #expect(base(("prefix", "/a"), ("prefix", "/b,/c")) == "/a/b/c")
    // The last value is invalid, and an earlier one, from the client, is not used in its place.
    #expect(base(("proto", "https"), ("host", "a.example, <b>")) == "")
  }

  @Test(
    "a prefix that is not a path, or could be read as a host, is ignored",
    arguments: ["//evil.test", "/a//b", "a", "/..", "/a/./b", "/a?b", "/a#b", "/\"", "/%2e%2e", "/\u{e9}", "https://a"])
  func hostilePrefixes(prefix: String) {
    #expect(base(("prefix", prefix)) == "")
  }

  @Test(
    "a host that could not stand in a URL is ignored",
    arguments: ["a/b", "a@b", "[::1", "[]", "[x]", "a:", "a:x", "a:123456", "a\\b", ":80", "?"])
  func hostileHosts(host: String) {
    #expect(base(("proto", "https"), ("host", host)) == "")
  }
}

@Suite("Whose forwarded fields are used")
struct TrustedProxiesTests {
  @Test("peers are trusted by address, by block, and by socket")
  func trusts() throws {
    let proxies = try #require(TrustedProxies("192.0.2.7, 10.0.0.0/8,fd00::/8,unix"))
    #expect(proxies.entries == ["192.0.2.7", "10.0.0.0/8", "fd00::/8", "unix"])
    for peer in ["192.0.2.7", "10.255.0.1", "fd12::1"] { #expect(proxies.trusts(peer)) }
    for peer in ["192.0.2.8", "11.0.0.1", "fe80::1", "::1", "", "unix"] { #expect(!proxies.trusts(peer)) }
    #expect(proxies.trusts(nil))
    let addresses = try #require(TrustedProxies("0.0.0.0/0,::/0"))
    #expect(addresses.trusts("203.0.113.1") && !addresses.trusts(nil))
    #expect(TrustedProxies("") == TrustedProxies() && TrustedProxies().isEmpty && !TrustedProxies().trusts(nil))
    for text in ["localhost", "10.0.0.1/8", "127.1", "[::1]", "*", "10.0.0.0/33"] {
      #expect(TrustedProxies(text) == nil)
    }
  }
}
