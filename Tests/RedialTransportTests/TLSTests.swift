import RedialCore
import RedialModel
import Testing

@testable import RedialTransport

@Suite("TLS, with nginx and certificates of our own", .onThreads, .withNginx)
struct TLSTests {
  private func probe(
    _ servers: SecureServers, _ adjust: (inout TransportConfiguration) -> Void = { _ in }
  ) throws -> TransportProbe {
    try TransportProbe {
      $0.tls.trustedIssuers = servers.path("ca.pem")
      adjust(&$0)
    }
  }

  @Test("HTTP/2 is used if the server chooses it, on one connection")
  func http2() throws {
    let servers = try SecureServers.shared.get()
    let probe = try probe(servers)
    let first = probe.perform(servers.url("good"))
    #expect(first?.status == 200)
    #expect(first.map { String(decoding: $0.body, as: UTF8.self) } == "HTTP/2.0 ")
    #expect(first?.figures?.version == .http2)
    #expect(first?.figures?.isReused == false)
    #expect((first?.figures?.secured ?? 0) > (first?.figures?.connected ?? 0))
    let url = servers.url("good")
    probe.transport.start(
      (10..<60).map { TransportRequest(id: $0, url: url, method: "GET", timeout: forever, captureLimit: 99) })
    let results = probe.wait(count: 50).filter { $0.key >= 10 }
    #expect(results.count == 50)
    #expect(results.values.allSatisfy { $0[0].status == 200 && $0[0].figures?.isReused == true })
    let body = String(repeating: "0123456789abcdef", count: 3000)
    let large = probe.perform(servers.url("good") + "/echo", method: "PUT", body: body)
    #expect(large.map { String(decoding: $0.body, as: UTF8.self) } == "PUT")
    #expect(large?.figures?.version == .http2)
  }

  @Test(
    "a response over HTTP/2 before the whole body was sent ends the attempt, and the connection stays usable"
  )
  func earlyAnswer() throws {
    let servers = try SecureServers.shared.get()
    let probe = try probe(servers)
    // nginx answers without reading the body, and does not allow it to be sent.
    for round in 0..<2 {
      let result = probe.perform(
        TransportRequest(
          id: 1, url: servers.url("good"), method: "PUT", body: [UInt8](repeating: 7, count: 1 << 20),
          timeout: forever, captureLimit: 99))
      #expect(result?.outcome == .answered && result?.status == 200, "\(String(describing: result?.failure))")
      #expect(result.map { String(decoding: $0.body, as: UTF8.self) } == "HTTP/2.0 ")
      #expect(result?.figures?.isReused == (round > 0))
    }
    #expect(probe.perform(servers.url("good"))?.figures?.isReused == true)
  }

  @Test("an invalid certificate ends the call, and its fault is named")
  func certificates() throws {
    let servers = try SecureServers.shared.get()
    let probe = try probe(servers)
    for (name, code) in [
      ("expired", "certificateExpired"), ("self", "certificateSelfSigned"), ("other", "certificateWrongHost"),
    ] {
      let result = probe.perform(servers.url(name), method: "POST", body: "secret")
      #expect(result?.outcome == .unusable, "\(name)")
      #expect(result?.failure?.code == code, "\(name)")
      #expect(result?.figures?.phase == .tls && result?.figures?.bytesSent == 0, "\(name)")
    }
    // Without our issuer, the server is not trusted.
    let distrustful = try TransportProbe()
    #expect(distrustful.perform(servers.url("good"))?.failure?.code == "certificateUntrusted")
    let broken = try TransportProbe { $0.tls.trustedIssuers = "/no/such/file.pem" }
    #expect(broken.perform(servers.url("good"))?.failure?.code == "issuersUnreadable")
  }

  @Test("a target may require a client certificate, which no other target gets")
  func client() throws {
    let servers = try SecureServers.shared.get()
    #expect(try probe(servers).perform(servers.url("client"))?.status == 400)
    let probe = try probe(servers)
    let own = TargetTLS(certificate: servers.path("client.pem"), key: servers.path("client.key"))
    let result = probe.perform(servers.url("client"), tls: own)
    #expect(result?.status == 200)
    #expect(result.map { String(decoding: $0.body, as: UTF8.self) } == "HTTP/2.0 CN=Test client")
    #expect(probe.perform(servers.url("good")).map { String(decoding: $0.body, as: UTF8.self) } == "HTTP/2.0 ")
    // A call without it uses neither the connection with our certificate nor the certificate.
    #expect(probe.perform(servers.url("client"))?.status == 400)
    let missing = TargetTLS(certificate: "/no/such.pem", key: "/no/such.key")
    #expect(probe.perform(servers.url("client"), tls: missing)?.failure?.code == "clientCertificateUnusable")
  }

  @Test("a redirect to another origin is followed without the target's certificate, pins and issuers")
  func redirected() throws {
    let servers = try SecureServers.shared.get()
    let probe = try probe(servers)
    let own = TargetTLS(
      certificate: servers.path("client.pem"), key: servers.path("client.key"), pins: [try servers.pin("good")])
    func result(_ from: String, _ to: String) -> AttemptResult? {
      probe.perform(
        TransportRequest(
          id: 1, url: "\(servers.url(from))/to/\(servers.url(to).drop { $0 != "1" })", method: "GET",
          timeout: forever, captureLimit: 99, maxRedirects: 1, tls: .only(own, for: servers.url(from))))
    }
    func body(_ result: AttemptResult?) -> String? { result.map { String(decoding: $0.body, as: UTF8.self) } }
    let elsewhere = result("good", "client")
    #expect(elsewhere?.figures?.redirects == 1 && elsewhere?.status == 400)
    #expect(body(result("client", "client")) == "HTTP/2.0 CN=Test client")
  }

  @Test("a target can be pinned to public keys, one of which it must have")
  func pins() throws {
    let servers = try SecureServers.shared.get()
    let (good, other) = (try servers.pin("good"), try servers.pin("other"))
    #expect(good.count == 44 && good != other)
    func result(_ pins: [String]) throws -> AttemptResult? {
      try probe(servers).perform(servers.url("good"), tls: TargetTLS(pins: pins))
    }
    #expect(try result([good])?.status == 200)
    #expect(try result([other, good])?.status == 200)
    let refused = try result([other])
    #expect(refused?.outcome == .unusable)
    #expect(refused?.failure?.code == "certificateNotPinned")
  }

  @Test("a target may have its own issuers, and too old versions of TLS are refused")
  func issuersAndVersions() throws {
    let servers = try SecureServers.shared.get()
    let own = try probe(servers)
    let itself = TargetTLS(caFile: servers.path("self.pem"))
    #expect(own.perform(servers.url("self"), tls: itself)?.status == 200)
    #expect(own.perform(servers.url("good"), tls: itself)?.failure?.code == "certificateUntrusted")
    #expect(own.perform(servers.url("good"))?.status == 200)
    #expect(own.perform(servers.url("old"), tls: TargetTLS(minVersion: .tls13))?.failure?.code == "tlsFailed")
    #expect(try probe(servers).perform(servers.url("old"))?.status == 200)
    let strict = try probe(servers) { $0.tls.minimumVersion = .tls13 }
    #expect(strict.perform(servers.url("good"))?.status == 200)
    let refused = strict.perform(servers.url("old"))
    #expect(refused?.failure?.code == "tlsFailed")
    #expect(refused?.outcome == .notSent)
  }
}
