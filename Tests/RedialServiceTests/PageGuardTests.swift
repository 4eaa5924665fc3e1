import HTTPServer
import RedialModel
import Testing

@testable import RedialService

@Suite("What web pages may request")
struct PageGuardTests {
  private typealias Evidence = PageGuard.Evidence

  private func refusal(
    _ evidence: PageGuard.Evidence, _ exposure: PageGuard.Exposure = .own, asksForKey: Bool = false,
    isRemote: Bool = true, hosts: String = ""
  ) throws -> String? {
    let pages = PageGuard(hosts: try #require(AllowedHosts(hosts)))
    return pages.refusal(of: evidence, to: exposure, asksForKey: asksForKey, isRemote: { isRemote })?.code.rawValue
  }

  @Test(
    "addresses and loopback names cannot be rebound and are always allowed",
    arguments: [
      "", "127.0.0.1", "127.0.0.1:8080", "localhost", "LocalHost:8080", "localhost.:1", "a.localhost:8080",
      "[::1]:8080",
      "[::1]", "192.0.2.7:80", "[2001:db8::1]", "0.0.0.0:8080", "127.9.9.9",
    ])
  func allowed(authority: String) {
    #expect(AllowedHosts().allows(authority))
  }

  @Test(
    "any other name is refused, even if it looks like one of them",
    arguments: [
      "attacker.test", "attacker.test:8080", "localhost.attacker.test", "xlocalhost", "127.0.0.1.attacker.test:8080",
      "1.2.3.4.5", "127.0.0.1a", "redial:8080", "localhost.attacker.test.", ".", ":8080x",
    ])
  func refused(authority: String) throws {
    #expect(!AllowedHosts().allows(authority))
    #expect(try refusal(Evidence(authority: authority)) == "hostNotAllowed")
    #expect(try refusal(Evidence(authority: authority), .document) == "hostNotAllowed")
    #expect(try refusal(Evidence(authority: authority), .open) == nil)
    #expect(try refusal(Evidence(authority: authority), asksForKey: true) == nil)
    #expect(try refusal(Evidence(authority: authority), isRemote: false) == nil)
    #expect(try refusal(Evidence(authority: authority), hosts: "*") == nil)
  }

  @Test("configured names are allowed, alone or with all names under them")
  func names() throws {
    let hosts = try #require(AllowedHosts("Redial, *.internal.example.com,x.example."))
    #expect(hosts.names == ["redial", "*.internal.example.com", "x.example"])
    for host in [
      "redial", "REDIAL:8080", "redial.", "a.internal.example.com", "a.b.internal.example.com:1", "x.example",
    ] {
      #expect(hosts.allows(host), "\(host)")
    }
    for host in ["redial.example.com", "internal.example.com", "xinternal.example.com", "a.x.example"] {
      #expect(!hosts.allows(host), "\(host)")
    }
    for text in ["redial:8080", "http://redial", "a b.c/d", "*.", "*.*", "a*", "é", ".x"] {
      #expect(AllowedHosts(text) == nil, "\(text)")
    }
    #expect(AllowedHosts("") == AllowedHosts())
  }

  @Test("a page of another origin is refused, with keys and without", arguments: [true, false])
  func crossSite(asksForKey: Bool) throws {
    let host = "127.0.0.1:8080"
    let strangers = [
      Evidence(authority: host, site: "cross-site"), Evidence(authority: host, site: "same-site"),
      Evidence(authority: host, site: "something-new"), Evidence(authority: host, origin: "http://attacker.test"),
      Evidence(authority: host, origin: "null"), Evidence(authority: host, origin: "http://127.0.0.1:9090"),
      Evidence(authority: host, origin: "http://127.0.0.1"), Evidence(authority: host, origin: ""),
      Evidence(authority: host, site: "none", origin: "chrome-extension://abc"),
      Evidence(authority: "", origin: "http://"),
      Evidence(authority: host, site: "same-site", origin: "http://127.0.0.1:8080"),
    ]
    for stranger in strangers {
      #expect(try refusal(stranger, asksForKey: asksForKey) == "crossSiteRequest", "\(stranger)")
      #expect(try refusal(stranger, .document, asksForKey: asksForKey) == "crossSiteRequest", "\(stranger)")
      // A Unix domain socket may be behind a proxy that browsers use.
      #expect(try refusal(stranger, asksForKey: asksForKey, isRemote: false) == "crossSiteRequest", "\(stranger)")
      #expect(try refusal(stranger, .open, asksForKey: asksForKey) == nil, "\(stranger)")
    }
    let own = [
      Evidence(authority: host), Evidence(authority: host, site: "same-origin"),
      Evidence(authority: host, site: "none"),
      Evidence(authority: host, origin: "http://127.0.0.1:8080"),
      Evidence(authority: "Localhost:8080", origin: "http://localhost:8080"),
      Evidence(authority: host, site: "same-origin", origin: "https://redial.example.com"),
    ]
    for own in own { #expect(try refusal(own, asksForKey: asksForKey) == nil, "\(own)") }
  }

  @Test("a page may link to a document, and to nothing else, and may not frame or fetch it")
  func links() throws {
    var link = Evidence(authority: "127.0.0.1:8080", site: "cross-site", isNavigation: true)
    #expect(try refusal(link, .document) == nil)
    #expect(try refusal(link, .own) == "crossSiteRequest")
    #expect(try refusal(link, .acting) == "crossSiteRequest")
    link.origin = "http://attacker.test"
    #expect(try refusal(link, .document) == "crossSiteRequest")
    link = Evidence(authority: "attacker.test", site: "cross-site", isNavigation: true)
    #expect(try refusal(link, .document) == "hostNotAllowed")
  }

  @Test("without a key a request that only reads is forwarded only with a field that no page can send")
  func deliberate() throws {
    var get = Evidence(authority: "127.0.0.1:8080", isReading: true)
    #expect(try refusal(get, .acting) == "forwardNotDeliberate")
    #expect(try refusal(get, .own) == nil)
    #expect(try refusal(get, .acting, asksForKey: true) == nil)
    #expect(try refusal(get, .acting, isRemote: false) == nil)
    // A user has followed a link, or was redirected from a typed address.
    get.site = "none"
    #expect(try refusal(get, .acting) == "forwardNotDeliberate")
    get.hasDeliberateField = true
    #expect(try refusal(get, .acting) == nil)
    #expect(try refusal(Evidence(authority: "127.0.0.1:8080"), .acting) == nil)
  }

  @Test("health is open, page and contract are documents, a forwarded request acts, and all others are own routes")
  func exposures() {
    let expected: [(String, PageGuard.Exposure)] = [
      ("/healthz", .open), ("/readyz", .open), ("/", .document), ("/openapi.yaml", .document),
      ("/llms.txt", .document),
      ("/v1/forward/http://x", .acting), ("/metrics", .own), ("/v1/webhook-secret", .own), ("/v1/calls", .own),
      ("/v1/targets/x/pause", .own), ("/v1/keys", .own), ("/v1/events", .own), ("/nothing", .own),
    ]
    for (path, exposure) in expected { #expect(Self.exposure(.get, path) == exposure, "\(path)") }
    #expect(Self.exposure(.post, "/v1/calls") == .own)
    #expect(Self.exposure(.post, "/") == .own)
  }

  /// What the API is to a page at a path; a path without a route is the service's own.
  private static func exposure(_ method: HTTPMethod, _ path: String) -> PageGuard.Exposure {
    guard case .found(let route, _) = RouteTests.router.match(method, path) else { return .own }
    return route.exposure
  }
}
