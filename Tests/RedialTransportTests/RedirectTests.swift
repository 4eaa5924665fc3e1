import Polling
import RedialCore
import RedialModel
import Testing

@testable import RedialTransport

@Suite("Redirects", .onThreads)
struct RedirectTests {
  private func target(_ answers: @escaping @Sendable (String) -> String?) -> ScriptedTarget {
    ScriptedTarget { connection in
      while let request = connection.readRequest() {
        let path = request.split(separator: " ", maxSplits: 2)[1]
        let answer = answers(String(path)) ?? "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere"
        guard connection.send(answer) else { return }
      }
    }
  }

  private static func move(_ status: Int, _ location: String) -> String {
    "HTTP/1.1 \(status) Moved\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
  }

  private func perform(
    _ probe: TransportProbe, _ url: String, method: String = "GET", headers: [HeaderField] = [], body: String = "",
    max: Int = 5, timeout: Duration = forever
  ) -> AttemptResult? {
    probe.perform(
      TransportRequest(
        id: 1, url: url, method: method, headers: headers, body: Array(body.utf8), timeout: timeout,
        captureLimit: 100, maxRedirects: max))
  }

  @Test("they are followed on request, and the last response is the attempt's")
  func followed() throws {
    let target = target { path in
      path == "/a" ? Self.move(302, "/b") : path == "/b" ? Self.move(301, "c?x=1") : nil
    }
    defer { target.stop() }
    let result = perform(try TransportProbe(), target.url + "/a")
    #expect(result?.status == 200)
    #expect(result?.body == Array("here".utf8))
    #expect(result?.figures?.redirects == 2)
    #expect(target.requests.map { $0.split(separator: " ")[1] } == ["/a", "/b", "/c?x=1"])
  }

  @Test("a loop ends at the limit, with the last redirect as the response")
  func loop() throws {
    let target = target { _ in Self.move(302, "/again") }
    defer { target.stop() }
    let result = perform(try TransportProbe(), target.url, max: 3)
    #expect(result?.status == 302 && result?.outcome == .answered)
    #expect(target.requests.count == 4)
  }

  struct Rule: Sendable {
    var status: Int
    var before: String
    var after: String
    var keepsBody: Bool
  }

  @Test(
    "method and body follow RFC 9110",
    arguments: [
      Rule(status: 301, before: "POST", after: "GET", keepsBody: false),
      Rule(status: 302, before: "POST", after: "GET", keepsBody: false),
      Rule(status: 303, before: "POST", after: "GET", keepsBody: false),
      Rule(status: 303, before: "PUT", after: "GET", keepsBody: false),
      Rule(status: 301, before: "PUT", after: "PUT", keepsBody: true),
      Rule(status: 302, before: "PATCH", after: "PATCH", keepsBody: true),
      Rule(status: 307, before: "POST", after: "POST", keepsBody: true),
      Rule(status: 308, before: "POST", after: "POST", keepsBody: true),
    ])
  func rules(_ rule: Rule) throws {
    let target = target { $0 == "/a" ? Self.move(rule.status, "/b") : nil }
    defer { target.stop() }
    let result = perform(
      try TransportProbe(), target.url + "/a", method: rule.before,
      headers: [HeaderField("Content-Type", "text/plain")], body: "charge")
    #expect(result?.status == 200)
    let second = try #require(target.requests.last)
    #expect(second.hasPrefix("\(rule.after) /b "))
    #expect(second.hasSuffix("charge") == rule.keepsBody)
    #expect(second.contains("Content-Type: text/plain") == rule.keepsBody)
  }

  @Test("credentials are sent only to their origin")
  func credentials() throws {
    let other = target { _ in nil }
    defer { other.stop() }
    let target = target { [url = other.url] in $0 == "/away" ? Self.move(307, url + "/x") : Self.move(307, "/away") }
    defer { target.stop() }
    let fields = ["Authorization", "Cookie", "X-Api-Key", "X-Auth-Token"].map { HeaderField($0, "secret") }
    #expect(
      perform(try TransportProbe(), target.url + "/near", headers: fields + [HeaderField("X-Plain", "1")])?.status
        == 200)
    #expect(target.requests.count == 2)
    for request in target.requests { #expect(request.contains("Authorization: secret")) }
    let far = try #require(other.requests.first)
    #expect(!far.contains("secret") && far.contains("X-Plain: 1"))
  }

  @Test(
    "a field is a credential by a word of its name",
    arguments: [
      "X-Functions-Key", "Ocp-Apim-Subscription-Key", "X-Auth-Key", "X-Access-Key", "Private-Key", "Api_Key", "X-Auth",
      "X-Session-Id", "X-JWT-Assertion", "Cf-Access-Jwt-Assertion", "X-Passwd", "X-Credentials", "X-Amz-Credential",
      "X-Authorization", "authToken", "xApiKey", "X-CSRF", "Proxy-Authorization", "apikey",
    ])
  func personal(_ name: String) { #expect(Hop.isPersonal(name)) }

  @Test(
    "a field is not a credential because of similar letters",
    arguments: [
      "Idempotency-Key", "X-Author", "X-Monkey", "X-Design", "Accept", "Content-Type", "X-Compass", "User-Agent",
    ])
  func plain(_ name: String) { #expect(!Hop.isPersonal(name)) }

  @Test("fields marked as secret are sent only to their origin")
  func secret() throws {
    let hop = Hop(
      url: "https://a.example/", method: "GET",
      headers: [HeaderField("X-Hidden", "1"), HeaderField("X-Plain", "2")], body: [])
    let near = hop.redirected(302, to: "https://a.example/b", without: ["x-hidden"])
    #expect(near?.headers.map(\.name).count == 2)
    let far = hop.redirected(302, to: "https://b.example/", without: ["x-hidden"])
    #expect(far?.headers.map(\.value) == ["2"])
  }

  @Test("the egress policy checks each hop")
  func egress() throws {
    let inner = target { _ in nil }
    defer { inner.stop() }
    let target = target { [port = inner.port] in
      switch $0 {
      case "/own": Self.move(302, "http://localhost:\(port)/")
      case "/meta": Self.move(302, "http://169.254.169.254/latest/meta-data/")
      case "/long": Self.move(307, "http://2852039166/")
      default: nil
      }
    }
    defer { target.stop() }
    let policy = EgressPolicy(allow: [try #require(EgressRule("127.0.0.1:\(target.port)"))])
    let probe = try TransportProbe { $0.egress = policy }
    #expect(perform(probe, target.url + "/own")?.failure?.code == "egressLoopback")
    #expect(perform(probe, target.url + "/meta")?.failure?.code == "egressLinkLocal")
    #expect(perform(probe, target.url + "/long", method: "POST", body: "x")?.outcome == .blocked)
    #expect(inner.connectionCount == 0)
  }

  @Test(
    "a URL that no call could have is not followed",
    arguments: [
      "file:///etc/passwd", "gopher://127.0.0.1/", "http://user:pass@127.0.0.1/", "http://256.1.1.1/", "",
    ])
  func unusable(_ location: String) throws {
    let target = target { _ in Self.move(302, location) }
    defer { target.stop() }
    #expect(perform(try TransportProbe(), target.url)?.status == 302)
    #expect(target.requests.count == 1)
  }

  @Test("an attempt that was redirected may have been executed, whatever the result of the next request")
  func executed() throws {
    let port = ScriptedTarget.unusedPort()
    let target = target { _ in Self.move(303, "http://127.0.0.1:\(port)/") }
    defer { target.stop() }
    let result = perform(try TransportProbe(), target.url, method: "POST", body: "charge")
    #expect(result?.outcome == .maybeSent)
    #expect(result?.failure?.code == "connectionRefused")
  }

  @Test("all requests of an attempt share its time")
  func time() throws {
    let slow = ScriptedTarget { connection in
      _ = connection.readRequest()
      connection.waitForEnd()
    }
    defer { slow.stop() }
    let (timeout, pause) = (Duration.milliseconds(300), Duration.milliseconds(150))
    let target = target { [url = slow.url] _ in
      Thread.pause(pause)
      return Self.move(302, url)
    }
    defer { target.stop() }
    // If the second had its own time, each attempt would take at least as much longer as the first takes. A busy machine may
    // do the same to some, or leave no time for the second, but not to all.
    var result: AttemptResult?
    try poll("\(String(describing: result)), second requests: \(slow.requests.count)") {
      result = perform(try TransportProbe(), target.url, timeout: timeout)
      let isShared = result.map { $0.figures?.redirects == 1 && $0.duration < timeout + pause } == true
      return isShared && !slow.requests.isEmpty
    }
    #expect(result?.failure?.code == "timeout")
    #expect((result?.duration).map { $0 >= timeout - .milliseconds(10) } == true)
  }
}
