import RedialCore
import RedialModel
import Testing

@testable import RedialTransport

/// How libcurl 7.88 handles an upload over HTTP/1.1 that its target does not read, or answers before it has read it.
@Suite("Uploads that a target does not read", .onThreads)
struct UploadTests {
  /// More than sockets buffer.
  private static let size = 24 << 20

  private func perform(
    _ target: ScriptedTarget, timeout: Duration = forever,
    _ adjust: (inout TransportConfiguration) -> Void = { _ in }
  ) throws -> AttemptResult? {
    try TransportProbe(adjust).perform(target.url, from: ScriptedSource(Self.size), timeout: timeout)
  }

  private func expectUnread(_ result: AttemptResult?, _ code: String, after least: Duration) {
    #expect(result?.outcome == .maybeSent && result?.failure?.code == code, "\(String(describing: result?.failure))")
    #expect(result?.figures?.phase == .request)
    #expect(result.map { $0.duration >= least } == true, "\(String(describing: result?.duration))")
    #expect(result.map { ($0.figures?.bytesSent ?? 0) < Self.size } == true)
  }

  @Test("one that is never read ends at the attempt's timeout, as maybe sent")
  func neverRead() throws {
    let target = ScriptedTarget { $0.waitUntilAborted() }
    defer { target.stop() }
    let isSending = { (result: AttemptResult) in result.figures?.phase == .request }
    let (late, timeout) = try patiently(from: .milliseconds(300), until: isSending) {
      try perform(target, timeout: $0)
    }
    expectUnread(late, "timeout", after: timeout - .milliseconds(10))
  }

  @Test("an error before the body was read is the response at once")
  func earlyError() throws {
    for stays in [true, false] {
      let target = ScriptedTarget { connection in
        _ = connection.receive(atMost: 500)
        connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge")
        if stays { connection.waitUntilAborted() } else { connection.waitForEnd() }
      }
      defer { target.stop() }
      let result = try perform(target)
      #expect(result?.outcome == .answered && result?.status == 413, "\(String(describing: result?.failure))")
      #expect(result.map { String(decoding: $0.body, as: UTF8.self) } == "large")
      #expect((result?.figures?.bytesSent ?? 0) < Self.size)
    }
  }

  // Closing with an unread body resets the connection, and the reset may overtake the answer.
  @Test("an error and a close with an unread body is a response if libcurl has seen it, and otherwise maybe sent")
  func earlyErrorAndReset() throws {
    let target = ScriptedTarget { connection in
      _ = connection.receive(atMost: 500)
      connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    }
    defer { target.stop() }
    for _ in 0..<5 {
      let result = try perform(target)
      switch result?.outcome {
      case .answered: #expect(result?.status == 413)
      case .maybeSent: #expect(result?.failure?.code == "connectionClosed")
      default: Issue.record("\(String(describing: result))")
      }
    }
  }

  @Test("a complete success while the body is not read any more is the response, and the connection is closed")
  func earlySuccess() throws {
    let target = ScriptedTarget { connection in
      _ = connection.receive(atMost: 500)
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
      connection.waitUntilAborted()
    }
    defer { target.stop() }
    let probe = try TransportProbe()
    let result = probe.perform(target.url, from: ScriptedSource(Self.size))
    #expect(result?.outcome == .answered && result?.status == 200, "\(String(describing: result?.failure))")
    #expect(result.map { String(decoding: $0.body, as: UTF8.self) } == "done")
    let held = probe.perform(
      TransportRequest(
        id: 1, url: target.url, method: "PUT", body: [UInt8](repeating: 7, count: Self.size), timeout: forever,
        captureLimit: 99))
    #expect(held?.status == 200 && held?.figures?.isReused == false, "\(String(describing: held))")
    #expect(target.connectionCount == 2)
  }

  @Test("an interim response ends nothing, and a target that continues to read gets everything")
  func interim() throws {
    let target = ScriptedTarget { connection in
      _ = connection.receive(atMost: 100)
      connection.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
      Thread.pause(.milliseconds(300))
      var left = Self.size / 3
      while left > 0 {
        let count = connection.receive(atMost: 65_536)
        guard count > 0 else { return }
        left -= count
      }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    }
    defer { target.stop() }
    let result = try TransportProbe().perform(target.url, from: ScriptedSource(Self.size / 3))
    #expect(result?.status == 200, "\(String(describing: result))")
    #expect(result.map { ($0.figures?.bytesSent ?? 0) > Self.size / 3 } == true)
  }

  @Test("after an unrequested interim response the attempt continues, streamed or not")
  func unsolicitedInterim() throws {
    let size = 1_500_000
    let target = ScriptedTarget { connection in
      // What is there before the request is no response to it.
      _ = connection.receive(atMost: 1)
      connection.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
      Thread.pause(.milliseconds(50))
      while connection.readRequest() != nil, connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") {}
    }
    defer { target.stop() }
    for source in [ScriptedSource(size), nil] {
      let probe = try TransportProbe()
      let result = probe.perform(
        TransportRequest(
          id: 1, url: target.url, method: "PUT", body: source == nil ? [UInt8](repeating: 7, count: size) : [],
          source: source, timeout: forever, captureLimit: 99))
      #expect(result?.status == 200 && result?.body == Array("ok".utf8), "\(String(describing: result))")
      #expect(probe.perform(target.url)?.status == 200)
    }
  }
}
