import Glibc
import RedialCore
import RedialModel
import Testing

@testable import RedialTransport

@Suite("Servers that misbehave", .onThreads)
struct MisbehaviourTests {
  private func result(
    method: String = "POST", body: String = "charge", timeout: Duration = forever, captureLimit: Int = 4096,
    scheme: String = "http", adjust: (inout TransportConfiguration) -> Void = { _ in },
    script: @escaping @Sendable (ScriptedTarget.Connection) -> Void
  ) throws -> AttemptResult {
    let target = ScriptedTarget(script)
    defer { target.stop() }
    return try #require(
      try TransportProbe(adjust).perform(
        "\(scheme)://127.0.0.1:\(target.port)/", method: method, body: body, timeout: timeout,
        captureLimit: captureLimit))
  }

  @Test("a reset before the request was read may still have let it through")
  func resetBefore() throws {
    let result = try result { $0.reset() }
    #expect(result.outcome == .maybeSent || result.outcome == .notSent)
    #expect(result.outcome == .notSent || (result.figures?.bytesSent ?? 0) > 0)
    #expect(result.failure?.code == "connectionClosed" || result.failure?.code == "connectFailed")
  }

  @Test("a reset after the request was read may follow its execution")
  func resetAfter() throws {
    let result = try result { connection in
      _ = connection.readRequest()
      connection.reset()
    }
    #expect(result.outcome == .maybeSent && result.failure?.code == "connectionClosed")
    #expect(result.figures?.phase == .request)
  }

  @Test("an incomplete success does not count as one, and what has arrived of it is there")
  func brokenOff() throws {
    for (text, status, body) in [
      ("HTTP/1.1 20", nil, ""), ("HTTP/1.1 200 OK\r\n", 200, ""), ("HTTP/1.1 200 OK\r\nContent-Le", 200, ""),
      ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", 200, "abc"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", 200, "ab"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", 200, "ab"),
    ] as [(String, Int?, String)] {
      let result = try result { connection in
        _ = connection.readRequest()
        connection.send(text)
      }
      #expect(result.outcome == .maybeSent, "\(text)")
      #expect(result.status == status && result.body == Array(body.utf8), "\(text)")
      #expect(result.truncated == (status != nil), "\(text)")
    }
  }

  @Test(
    "garbage is not a response",
    arguments: [
      "\u{0}\u{1}\u{2}\u{3}", "220 smtp.example ESMTP\r\n", "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 abc\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "<html>", "HTTP/1.1 200 OK\r\n bad: fold\r\n\r\n",
    ])
  func garbage(_ text: String) throws {
    let result = try result { connection in
      _ = connection.readRequest()
      connection.send(text)
    }
    // Libcurl ignores a length that it cannot read, and a folded first line; then the end of the connection ends it.
    #expect(result.outcome == .maybeSent || result.status == 200)
    #expect(result.outcome != .answered || result.body.isEmpty)
  }

  @Test("an endless header is cut off at its limit, and the status decides")
  func endlessHeader() throws {
    for piece in ["X-More: \(String(repeating: "y", count: 500))\r\n", String(repeating: "z", count: 500)] {
      let result = try result { connection in
        _ = connection.readRequest()
        connection.send("HTTP/1.1 200 OK\r\n")
        while connection.send(piece) {}
      }
      #expect(result.outcome == .answered && result.status == 200)
      #expect(result.failure?.code == "responseHeaderTooLarge")
    }
    let interim = try result { connection in
      _ = connection.readRequest()
      while connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n") {}
    }
    #expect(interim.outcome == .maybeSent && interim.failure?.code == "responseHeaderTooLarge")
  }

  @Test("a slow drip ends at the attempt's timeout, or at the minimum speed")
  func drip() throws {
    let script: @Sendable (ScriptedTarget.Connection) -> Void = { connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
      while connection.send("x") { Thread.pause(.milliseconds(20)) }
    }
    let (timed, _) = try patiently(from: .milliseconds(200), until: { $0.figures?.phase == .response }) {
      try self.result(timeout: $0, script: script)
    }
    #expect(timed.outcome == .maybeSent && timed.failure?.code == "timeout")
    #expect(timed.figures?.phase == .response)
  }

  @Test("a length that is too small leaves the rest unread, and the connection is not reused")
  func wrongLength() throws {
    let target = ScriptedTarget { connection in
      while connection.readRequest() != nil {
        connection.send(
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 smuggled\r\nContent-Length: 0\r\n\r\n")
      }
    }
    defer { target.stop() }
    let probe = try TransportProbe()
    for _ in 0..<3 {
      let result = probe.perform(target.url)
      #expect(result?.status == 200 && result?.body == Array("ok".utf8))
    }
    #expect(target.connectionCount == 3)
  }

  @Test("of a response with two different lengths the status counts")
  func twoLengths() throws {
    let result = try result { connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Length: 2\r\n\r\nok")
    }
    #expect(result.outcome == .answered && result.status == 200 && result.failure?.code == "responseCorrupt")
    #expect(result.body.isEmpty && result.truncated)
  }

  @Test("a compressed answer is inflated")
  func inflated() throws {
    let packed = gzip(Array("hello, hello, hello".utf8))
    let result = try result(method: "GET", body: "") { connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
      connection.send(bytes: packed)
    }
    #expect(result.body == Array("hello, hello, hello".utf8))
    #expect(!result.truncated)
  }

  @Test("of a gzip bomb no more is inflated than is kept")
  func bomb() throws {
    let packed = gzip([UInt8](repeating: 0, count: 50_000_000))
    #expect(packed.count < 60_000)
    let result = try result(captureLimit: 1000) { connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
      connection.send(bytes: packed)
    }
    #expect(result.status == 200 && result.body.count == 1000 && result.truncated && result.failure == nil)
  }

  @Test("a body that is not in its coding is shown as it came, and the status decides", arguments: [200, 503])
  func corruptCoding(status: Int) throws {
    let result = try result { connection in
      _ = connection.readRequest()
      connection.send("HTTP/1.1 \(status) Said\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain")
    }
    #expect(result.outcome == .answered && result.status == status && result.failure?.code == "responseCorrupt")
    #expect(result.body == Array("plain".utf8) && !result.truncated)
    #expect(String(decoding: result.head.bytes, as: UTF8.self) == "Content-Encoding: gzip\r\nContent-Length: 5\r\n")
  }

  @Test("a TLS handshake that does not come counts as a failed connection")
  func slowTLS() throws {
    let (result, _) = try patiently(from: .milliseconds(100), until: { $0.figures?.phase == .tls }) { timeout in
      try self.result(scheme: "https", adjust: { $0.connectTimeout = timeout }) { $0.waitForEnd() }
    }
    #expect(result.outcome == .notSent && result.failure?.code == "connectTimeout")
    #expect(result.figures?.phase == .tls)
    let plain = try self.result(scheme: "https") { $0.send("HTTP/1.1 400 Bad Request\r\n\r\n") }
    #expect(plain.outcome == .notSent && plain.failure?.code == "tlsFailed")
  }

  @Test("a server that closes an idle connection after it has read a POST gets it once per attempt")
  func once() throws {
    let target = ScriptedTarget { connection in
      guard let first = connection.readRequest(), first.hasPrefix("GET") else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      _ = connection.readRequest()
    }
    defer { target.stop() }
    let probe = try TransportProbe()
    for round in 1...5 {
      #expect(probe.perform(target.url)?.status == 200)
      let large = String(repeating: "c", count: round.isMultiple(of: 2) ? 200_000 : 10)
      let result = probe.perform(target.url, method: "POST", body: large)
      #expect(result?.outcome == .maybeSent && result?.figures?.isReused == true)
      #expect(target.requests.filter { $0.hasPrefix("POST") }.count == round)
    }
  }
}

extension Thread {
  /// Blocks the thread for a while, like a slow server.
  static func pause(_ time: Duration) { usleep(UInt32(time.wholeMicroseconds)) }
}
