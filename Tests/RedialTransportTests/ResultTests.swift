import Glibc
import RedialCore
import RedialModel
import Testing

@testable import RedialTransport

@Suite("The result of an attempt", .onThreads)
struct ResultTests {
  private func result(
    of script: @escaping @Sendable (ScriptedTarget.Connection) -> Void, timeout: Duration = forever,
    captureLimit: Int = 4096, _ adjust: (inout TransportConfiguration) -> Void = { _ in }
  ) throws -> AttemptResult {
    let target = ScriptedTarget { connection in
      guard connection.readRequest() != nil else { return }
      script(connection)
    }
    defer { target.stop() }
    return try #require(
      try TransportProbe(adjust).perform(target.url, timeout: timeout, captureLimit: captureLimit))
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test("a response has its status, header and body; interim headers and trailers are not part of it")
  func answer() throws {
    let result = try result(of: { connection in
      connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
      connection.send("HTTP/1.1 503 No\r\nRetry-After: 7\r\nTransfer-Encoding: chunked\r\n\r\n")
      connection.send("3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n")
    })
    #expect(result.outcome == .answered)
    #expect(result.status == 503)
    #expect(text(result.head.bytes) == "Retry-After: 7\r\nTransfer-Encoding: chunked\r\n")
    #expect(text(result.body) == "abcde")
    #expect(!result.truncated && result.failure == nil)
    #expect(result.duration > .zero)
  }

  @Test("a redirect is a response, and not followed")
  func redirect() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
    defer { target.stop() }
    #expect(try TransportProbe().perform(target.url)?.status == 302)
    #expect(target.requests.count == 1)
  }

  @Test("a body is kept up to the limit and the rest is marked")
  func capture() throws {
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789")
    defer { target.stop() }
    let probe = try TransportProbe()
    let short = try #require(probe.perform(target.url, captureLimit: 4))
    #expect(text(short.body) == "0123" && short.truncated)
    let whole = try #require(probe.perform(target.url, captureLimit: 10))
    #expect(text(whole.body) == "0123456789" && !whole.truncated)
    let none = try #require(probe.perform(target.url, captureLimit: 0))
    #expect(none.body.isEmpty && none.truncated && none.status == 200)
    #expect(target.connectionCount == 1)
  }

  @Test("an endless body is cut off at the limit, and the response counts")
  func endless() throws {
    let result = try result(
      of: { connection in
        connection.send("HTTP/1.1 200 OK\r\n\r\n")
        while connection.send(String(repeating: "x", count: 8192)) {}
      }, captureLimit: 100, { $0.maxResponseBytes = 50_000 })
    #expect(result.outcome == .answered && result.status == 200)
    #expect(result.body.count == 100 && result.truncated)
  }

  @Test("a status decides, also of a header without an end", arguments: [200, 503])
  func oversizedHead(status: Int) throws {
    let result = try result(of: { connection in
      connection.send("HTTP/1.1 \(status) Said\r\n")
      while connection.send("X-More: \(String(repeating: "y", count: 1000))\r\n") {}
    })
    #expect(result.outcome == .answered && result.status == status && result.truncated)
    #expect(result.failure?.code == "responseHeaderTooLarge" && result.head.bytes.count > 60 * 1024)
  }

  @Test("of a response that is cut, a success is not one; any other status decides", arguments: [200, 302, 404, 503])
  func cut(status: Int) throws {
    let result = try result(of: {
      $0.send("HTTP/1.1 \(status) Said\r\nX-Kept: 1\r\nContent-Length: 9\r\n\r\nabc")
    })
    #expect(result.outcome == (status == 200 ? .maybeSent : .answered) && result.status == status)
    #expect(result.failure?.code == "responseIncomplete" && text(result.body) == "abc" && result.truncated)
    #expect(text(result.head.bytes) == "X-Kept: 1\r\nContent-Length: 9\r\n")
  }

  @Test("a whole answer counts, although the target resets the connection behind it")
  func resetBehindAnswer() throws {
    let result = try result(of: { connection in
      connection.send("HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno")
      connection.reset()
    })
    #expect(result.outcome == .answered && result.status == 503 && result.failure == nil && text(result.body) == "no")
  }

  @Test("a target that closes, resets, stops or answers nonsense may have got the request")
  func noAnswer() throws {
    #expect(try result(of: { _ in }).failure?.code == "connectionClosed")
    #expect(try result(of: { $0.reset() }).failure?.code == "connectionClosed")
    #expect(
      try result(of: { $0.send("HTTP/1.1 100 Continue\r\n\r\n") }).failure?.code == "responseIncomplete")
    #expect(try result(of: { $0.send("SSH-2.0-OpenSSH\r\n\r\n") }).failure?.code == "responseInvalid")
    for script: @Sendable (ScriptedTarget.Connection) -> Void in [{ _ in }, { $0.reset() }, { $0.send("nonsense") }] {
      let result = try result(of: script)
      #expect(result.outcome == .maybeSent && result.status == nil && result.body.isEmpty)
    }
  }

  @Test("a target that does not answer in time may have got the request")
  func timeout() throws {
    let (result, timeout) = try patiently(from: .milliseconds(50), until: { $0.figures?.mayHaveLeft == true }) {
      try self.result(of: { $0.waitForEnd() }, timeout: $0)
    }
    #expect(result.outcome == .maybeSent)
    #expect(result.failure?.code == "timeout")
    #expect(result.duration >= timeout)
  }

  @Test("a refused connection or a missing address means that nothing was sent")
  func notSent() throws {
    let probe = try TransportProbe()
    let refused = probe.perform("http://127.0.0.1:\(ScriptedTarget.unusedPort())")
    #expect(refused?.outcome == .notSent && refused?.failure?.code == "connectionRefused")
    #expect(probe.perform("http://redial.invalid/")?.outcome == .notSent)
  }

  @Test("only http and https are used, and the environment's proxies are ignored")
  func schemes() throws {
    setenv("http_proxy", "http://127.0.0.1:1", 1)
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1)
    let probe = try TransportProbe()
    for url in ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "://", ""] {
      let result = probe.perform(url)
      #expect(result?.outcome == .unusable, "\(url)")
      #expect(result?.failure?.code == "urlUnusable", "\(url)")
    }
    let target = ScriptedTarget.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    defer { target.stop() }
    #expect(probe.perform(target.url)?.status == 200)
  }
}
