import RedialCore
import RedialModel
import Testing

@testable import RedialTransport

@Suite("What a target receives", .onThreads)
struct RequestTests {
  private func lines(_ request: String) -> [String] { request.split(separator: "\r\n").map(String.init) }

  @Test("method, path, header fields and body arrive as given, and nothing else")
  func asGiven() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    defer { target.stop() }
    let result = try TransportProbe().perform(
      target.url + "/a/../b//c?x=%20y&z", method: "PATCH",
      headers: [
        HeaderField("X-Twice", "1"), HeaderField("x-twice", "2"), HeaderField("X-Empty", ""),
        HeaderField("content-type", "text/plain"),
      ], body: "hello")
    #expect(result?.status == 200)
    let request = try #require(target.requests.first)
    #expect(
      lines(request) == [
        "PATCH /a/../b//c?x=%20y&z HTTP/1.1", "Host: 127.0.0.1:\(target.port)", "User-Agent: redial/test",
        "Accept-Encoding: gzip, deflate", "X-Twice: 1", "x-twice: 2", "X-Empty:", "content-type: text/plain",
        "Content-Length: 5", "hello",
      ])
  }

  @Test("a request without a body has a length only where its method expects one (RFC 9110 section 8.6)")
  func noBody() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    defer { target.stop() }
    let probe = try TransportProbe()
    for method in ["GET", "POST", "DELETE", "PUT", "OPTIONS", "MERGE"] { _ = probe.perform(target.url, method: method) }
    let expected = [false, true, false, true, false, false]
    #expect(target.requests.map { $0.contains("Content-Length: 0") } == expected)
    #expect(
      target.requests.map { String($0.prefix { $0 != " " }) } == ["GET", "POST", "DELETE", "PUT", "OPTIONS", "MERGE"])
  }

  @Test("the caller's User-Agent and Accept replace ours")
  func ownFields() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    defer { target.stop() }
    _ = try TransportProbe().perform(
      target.url, headers: [HeaderField("user-agent", "mine"), HeaderField("ACCEPT", "text/html")])
    let request = try #require(target.requests.first)
    #expect(lines(request).contains("user-agent: mine"))
    #expect(lines(request).contains("ACCEPT: text/html"))
    #expect(!request.contains("redial/test"))
  }

  @Test("no 100 Continue is requested, however long the body is", arguments: [0, 1023, 1024, 40_000, 2_000_000])
  func noExpectation(bytes: Int) throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    defer { target.stop() }
    _ = try TransportProbe().perform(target.url, method: "POST", body: String(repeating: "x", count: bytes))
    let request = try #require(target.requests.first)
    #expect(request.hasPrefix("POST "))
    #expect(!request.lowercased().contains("expect"))
  }

  @Test("HEAD does not wait for a body")
  func head() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    defer { target.stop() }
    let probe = try TransportProbe()
    #expect(probe.perform(target.url, method: "HEAD")?.status == 200)
    // And a reused handle makes other requests as before.
    let after = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    defer { after.stop() }
    #expect(probe.perform(after.url, method: "POST", body: "x")?.body == Array("ok".utf8))
    #expect(probe.perform(after.url)?.body == Array("ok".utf8))
    #expect(after.requests.map { $0.hasPrefix("POST") } == [true, false])
  }

  @Test("a body of a megabyte with every byte value arrives whole")
  func largeBody() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    defer { target.stop() }
    let body = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let request = TransportRequest(
      id: 1, url: target.url, method: "PUT", body: body, timeout: .seconds(60), captureLimit: 0)
    #expect(try TransportProbe().perform(request)?.status == 200)
    let sent = try #require(target.bytesOfRequests.first)
    #expect(Array(sent.suffix(body.count + 4)) == [13, 10, 13, 10] + body)
  }

  @Test("connections are reused for the next request")
  func reuse() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    defer { target.stop() }
    let probe = try TransportProbe()
    for _ in 0..<5 { #expect(probe.perform(target.url)?.status == 200) }
    #expect(target.connectionCount == 1)
    #expect(target.requests.count == 5)
  }

  @Test("a reused handle calls other URLs, and refuses invalid ones, like a new one")
  func otherURLs() throws {
    let (one, other) = (
      ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"),
      ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother")
    )
    defer { for target in [one, other] { target.stop() } }
    let probe = try TransportProbe()
    #expect(probe.perform(one.url + "/a?b=c")?.body == Array("one".utf8))
    #expect(probe.perform(one.url + "/a?b=c")?.body == Array("one".utf8))
    #expect(probe.perform("http://127.0.0.1:\(other.port)?d")?.body == Array("other".utf8))
    #expect(probe.perform("http://[::1/")?.failure?.code == "urlUnusable")
    // Not a reference that is relative to the URL before.
    #expect(probe.perform("127.0.0.1:\(other.port)/e")?.body == Array("other".utf8))
    #expect(probe.perform(one.url + "/f")?.body == Array("one".utf8))
    #expect(one.requests.map { $0.prefix { $0 != "H" } } == ["GET /a?b=c ", "GET /a?b=c ", "GET /f "])
    #expect(other.requests.map { $0.prefix { $0 != "H" } } == ["GET /?d ", "GET /e "])
  }

  @Test("a request on an idle connection that fails is not sent a second time")
  func oneRequest() throws {
    let target = ScriptedTarget { connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      _ = connection.readRequest()
    }
    defer { target.stop() }
    let probe = try TransportProbe()
    #expect(probe.perform(target.url)?.status == 200)
    let result = probe.perform(target.url, method: "POST", body: "charge")
    #expect(result?.outcome == .maybeSent)
    #expect(result?.failure?.code == "connectionClosed")
    #expect(target.requests.count == 2)
  }
}
