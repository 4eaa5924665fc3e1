import Testing

@testable import RedialModel

@Suite("Target URLs")
struct TargetURLTests {
  @Test(
    "an origin is scheme, host and port, in one form (RFC 6454 section 6.2)",
    arguments: [
      ("http://example.com", "http://example.com"), ("HTTPS://Example.COM/Path?q#f", "https://example.com"),
      ("http://example.com:80/", "http://example.com"), ("https://example.com:443", "https://example.com"),
      ("https://example.com:80/", "https://example.com:80"), ("http://example.com:", "http://example.com"),
      ("http://127.0.0.1:8080/a", "http://127.0.0.1:8080"), ("http://[::1]:9/", "http://[::1]:9"),
      ("http://[2001:DB8::1]", "http://[2001:db8::1]"), ("http://a_b.c-d/?x=http://y", "http://a_b.c-d"),
      ("http://x?y", "http://x"), ("http://x#y", "http://x"),
      // Every spelling of a host is one origin.
      ("https://Example.com.:443/", "https://example.com"), ("http://127.1/", "http://127.0.0.1"),
      ("http://0x7F000001:80/", "http://127.0.0.1"), ("http://127.0.0.1.:81/", "http://127.0.0.1:81"),
      ("http://[0:0::1]/", "http://[::1]"), ("http://[::FFFF:127.0.0.1]:8/", "http://127.0.0.1:8"),
      ("http://[2001:db8:0:0:1:0:0:1]/", "http://[2001:db8::1:0:0:1]"),
    ])
  func origins(text: String, origin: String) throws {
    #expect(try TargetURL(text).origin == origin)
  }

  @Test(
    "a text that is not an absolute http or https URL is refused",
    arguments: [
      "", "example.com", "/path", "//example.com/", "ftp://example.com/", "file:///etc/passwd", "http:/x", "http://",
      "http:///path", "http://:80/", "http://user@x/", "http://user:secret@x/", "http://x y/", "http://x/a b",
      "http://x/\n",
      "http://x/é", "http://exämple.com/", "http://x:0/", "http://x:65536/", "http://x:-1/", "http://x:8a/",
      "http://x:80:80/", "http://[::1/", "http://[]/", "http://[zz::1]/", "http://[::1]x/", "http://x\\y/",
      "http://x%20y/",
      "javascript:alert(1)", "http://x/" + String(repeating: "a", count: 8192),
    ])
  func refused(text: String) {
    #expect(throws: TargetURL.URLFault.self) { try TargetURL(text) }
  }

  @Test(
    "a name that cannot exist has a fault, and an address never",
    arguments: [
      ("a..b", false), (".a", false), ("a..", false), (".", false), ("..", false), ("A..B:80", false),
      (String(repeating: "x", count: 64), false), ("a." + String(repeating: "x", count: 64), false),
      (String(repeating: "x", count: 64) + ".a", false), (String(repeating: "x", count: 63), true), ("a.", true),
      ("a.b.c:9", true), ("_a.b", true), ("127.0.0.1", true), ("[::1]:80", true), ("127.1", true),
    ])
  func names(host: String, isPossible: Bool) throws {
    for scheme in ["http", "https", "HTTP"] {
      let origin = try TargetURL("\(scheme)://\(host)/").origin
      #expect((TargetURL.nameFault(inOrigin: origin) == nil) == isPossible, "\(origin)")
    }
  }

  @Test("a URL has the same origin, or the same fault, in any case of its scheme")
  func cases() {
    let hosts = [
      "", "x", "example.com", "example.com.", "example.de", "1.2.3.4", "1.2.3", "1.2.3.4.", "256.1.1.1", "0x7f.1",
      "x.0x",
      "x.9", "9.x", "[::1]", "[::g]", "a_b", "a b", "a%62", "é", "EXAMPLE.com", "\u{7F}", "user@x", "x\\y",
      String(repeating: "a", count: 253), String(repeating: "a", count: 254),
    ]
    let ports = [
      "", ":", ":0", ":1", ":80", ":080", ":443", ":8080", ":65535", ":65536", ":99999", ":123456", ":8a", ":-1",
    ]
    let rests = [
      "", "/", "/a?b=c#d", "?q", "#f", "/a b", "/\\", "/\u{7F}", "/é", "/" + String(repeating: "a", count: 8000),
    ]
    var (good, bad) = (0, 0)
    for scheme in ["http", "https"] {
      for host in hosts {
        for port in ports {
          for rest in rests {
            let text = "://\(host)\(port)\(rest)"
            let one = Self.origin(of: scheme + text)
            #expect(one == Self.origin(of: scheme.uppercased() + text), "\(scheme)\(text)")
            if case .success = one { good += 1 } else { bad += 1 }
          }
        }
      }
    }
    #expect(good > 500 && bad > 500)
  }

  private static func origin(of text: String) -> Result<String, TargetURL.URLFault> {
    do throws(TargetURL.URLFault) {
      return .success(try TargetURL(text).origin)
    } catch {
      return .failure(error)
    }
  }
}
