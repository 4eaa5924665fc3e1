import RedialModel
import Testing

/// Every form of an address, with the three settings of `egress`.
@Suite("Where calls may go")
struct EgressTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var url: String
    /// The rule that refuses it, for each setting; an empty text for none, `url` for a URL that cannot be read.
    var rules: [String]

    var testDescription: String { url }

    /// - Parameters:
    ///   - near: The rule under `private`.
    ///   - far: The rule under `public`; by default as under `private`.
    ///   - listed: The rule under `listed`; by default that it is not on a list, unless it is always refused.
    init(_ url: String, _ near: String, _ far: String? = nil) {
      self.url = url
      let always: Set = ["url", "linkLocal", "metadata", "multicast", "unspecified"]
      rules = [near, far ?? near, always.contains(near) ? near : "notListed"]
    }
  }

  static let loopback = [
    "http://127.0.0.1/", "http://127.1/", "http://127.0.1/", "http://2130706433/", "http://0x7f000001/",
    "http://0X7F.0.0.1/", "http://0177.0.0.1/", "http://017700000001/", "http://0x7f.1/", "http://127.0.0.1./",
    "http://127.255.255.254:81/", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/",
    "http://[::FFFF:7f00:1]/", "http://[::127.0.0.1]/", "http://[64:ff9b::127.0.0.1]/", "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::7f00:1]/", "http://[2002:7f00:1::1]/", "http://[2001:0:7f00:1:0:0:f7f7:f7f7]/",
    "http://[2001:0:808:808:0:0:80ff:fffe]/", "http://[fe80::5efe:7f00:1]/", "https://0x7f.0x0.0x0.0x1/",
  ].map { Row($0, $0.contains("fe80") ? "linkLocal" : "loopback") }

  static let never =
    [
      "http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://0xA9FEA9FE/", "http://169.254.43518/",
      "http://0251.0376.0251.0376/", "http://169.254.0.1/", "http://[fe80::1]/", "http://[febf::1]/",
      "http://[::ffff:169.254.169.254]/", "http://[::169.254.169.254]/", "http://[64:ff9b::a9fe:a9fe]/",
      "http://[2002:a9fe:a9fe::]/", "http://[2001:0:a9fe:a9fe::]/", "http://[2001::5601:5601]/",
    ].map { Row($0, "linkLocal") }
    + [
      "http://100.100.100.200/", "http://168.63.129.16/", "http://192.0.0.192/", "http://[fd00:ec2::254]/",
      "http://[fd20:ce::254]/", "http://[::ffff:100.100.100.200]/", "http://[64:ff9b::6464:64c8]/",
      "http://[64:ff9b:1::a83f:8110]/", "http://[2002:a83f:8110::]/", "http://[::168.63.129.16]/",
      "http://0xa83f8110/", "http://0144.0144.0144.0310/", "http://[fd00:0ec2:0:0:0:0:0:0254]/",
    ].map { Row($0, "metadata") }
    + [
      "http://224.0.0.1/", "http://239.255.255.250:1900/", "http://255.255.255.255/", "http://0xffffffff/",
      "http://[ff02::1]/", "http://[ff0e::1]/", "http://[::ffff:224.0.0.1]/",
      "http://[64:ff9b::e000:1]/", "http://[2002:e000:1::]/", "http://0340.0.0.1/",
    ].map { Row($0, "multicast") }
    + [
      "http://0.0.0.0/", "http://0/", "http://0x0/", "http://0.1.2.3/", "http://[::]/", "http://[::0]/",
      "http://[::ffff:0.0.0.0]/", "http://[64:ff9b::]/", "http://[0:0:0:0:0:0:0.0.0.0]/", "http://00000/",
    ].map { Row($0, "unspecified") }

  static let near =
    [
      "http://10.0.0.1/", "http://10.1/", "http://012.0.0.1/", "http://0xa000001/", "http://172.16.0.1/",
      "http://172.31.255.255/", "http://192.168.1.1/", "http://3232235777/", "http://100.64.0.1/",
      "http://100.127.255.254/", "http://[fd00::1]/", "http://[fc00::1]/", "http://[fec0::1]/",
      "http://[::ffff:10.0.0.1]/", "http://[::10.0.0.1]/", "http://[64:ff9b::a00:1]/", "http://[2002:c0a8:101::]/",
      "http://[64:ff9b:1::808:808]/", "http://[2001:0:a00:1:0:0:f7f7:f7f7]/",
    ].map { Row($0, "", "private") }
    + [
      "http://192.0.2.1/", "http://198.51.100.1/", "http://203.0.113.9/", "http://198.18.0.1/", "http://198.19.255.1/",
      "http://192.0.0.8/", "http://192.88.99.1/", "http://240.0.0.1/", "http://[2001:db8::1]/", "http://[3fff::1]/",
      "http://[100::1]/", "http://[4000::1]/", "http://[5f00::1]/", "http://[2001:2::1]/",
    ].map { Row($0, "", "reserved") }

  static let far = [
    "http://93.184.216.34/", "https://1.1.1.1/", "http://8.8.8.8:8053/", "http://134744072/", "http://0x08080808/",
    "http://172.15.255.255/", "http://172.32.0.1/", "http://100.63.255.255/", "http://100.128.0.1/", "http://11.0.0.1/",
    "http://169.253.255.255/", "http://126.255.255.255/", "http://128.0.0.1/", "http://223.255.255.255/",
    "http://[2606:4700::1111]/", "http://[2a00::1]/", "http://[::ffff:8.8.8.8]/", "http://[64:ff9b::808:808]/",
    "http://[2002:808:808::]/", "http://example.com/", "http://EXAMPLE.com./", "http://a.b.c.example:8443/",
    // All of these are names, whatever they look like; their addresses are checked when they are dialled.
    "http://127.0.0.1.example.com/", "http://0x7f.example/", "http://deadbeef/", "http://1e1.a/", "http://localhost/",
  ].map { Row($0, "") }

  static let unreadable = [
    "http://256.0.0.1/", "http://1.2.3.4.5/", "http://0x100000000/", "http://4294967296/", "http://127.0.0.1.1/",
    "http://08.0.0.1/", "http://1..1/", "http://0xg.1/", "http://[::1%25lo]/", "http://[fe80::1%eth0]/", "http://[::1",
    "http://[1:2:3]/", "http://[::1::]/", "http://[:::1]/", "http://[1:2:3:4:5:6:7:8:9]/", "http://[::127.0.0.256]/",
    "http://[v1.a]/", "http://[12345::]/", "http://[::1]x/", "http://user@10.0.0.1/", "http://a:b@example.com/",
    "http://example.com@127.0.0.1/", "http://@127.0.0.1/", "http://127.0.0.1\\@example.com/", "http:/127.0.0.1/",
    "http:127.0.0.1", "//127.0.0.1/", "http:///path", "http://127.0.0.1:0/", "http://127.0.0.1:65536/",
    "http://127.0.0.1:80a/", "http://127.0.0.1:-1/", "http://127.0.0.1:80:80/", "http://127.0.0.1\r\nHost: a/",
    "http://127.0.0.1/\u{0}", "http://127.0.0.1/a b", "http://127.0.0.1/\u{7F}", "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/", "http://%31%32%37.0.0.1/", "http://loc%61lhost/", "unix:/var/run/docker.sock",
    "http+unix://%2Frun%2Fx.sock/", "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:6379/_x",
    "dict://127.0.0.1:11211/stat", "ldap://127.0.0.1/", "javascript:alert(1)", "", "http://",
  ].map { Row($0, "url") }

  static let rows = loopback + never + near + far + unreadable

  private func rule(_ url: String, _ policy: EgressPolicy) -> String {
    guard let target = try? TargetURL(url) else { return "url" }
    return policy.refusal(ofOrigin: target.origin)?.rule ?? ""
  }

  @Test("each form of an address has the class of the address", arguments: rows)
  func forms(_ row: Row) {
    #expect(EgressPolicy.Reach.allCases.map { rule(row.url, EgressPolicy(reach: $0)) } == row.rules)
  }

  @Test("the table is as large as it says")
  func size() {
    #expect(Self.rows.count >= 80)
    #expect(Set(Self.rows.map(\.url)).count == Self.rows.count)
  }
}
