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
    ])
  func origins(text: String, origin: String) throws {
    #expect(try TargetURL(text).origin == origin)
  }

  @Test(
    "what is no absolute http or https URL is refused",
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
}
