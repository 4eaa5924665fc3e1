import RedialCore
import RedialModel
import Testing

@testable import RedialTransport

@Suite("Bodies that are read while they are sent", .onThreads)
struct StreamedBodyTests {
  private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

  private func content(_ request: [UInt8]) -> [UInt8] {
    let text = Array("\r\n\r\n".utf8)
    let start = request.prefix(2000).indices.dropLast(3).first { Array(request[$0..<($0 + 4)]) == text }
    return Array(request[((start ?? request.count - 4) + 4)...])
  }

  // From a mebibyte on, libcurl would ask for permission to send it.
  @Test(
    "it arrives byte for byte, with its length in the header", arguments: [1, 131_072, 131_073, 1_000_000, 1_500_000])
  func whole(size: Int) throws {
    let target = ScriptedTarget.answering(Self.ok)
    defer { target.stop() }
    let source = ScriptedSource(size)
    let result = try TransportProbe().perform(target.url, method: "PUT", from: source)
    #expect(result?.status == 200, "\(String(describing: result?.failure))")
    #expect(result?.figures?.bytesSent ?? 0 > size)
    let request = try #require(target.bytesOfRequests.first)
    #expect(content(request) == source.whole)
    let head = String(decoding: request.prefix(300), as: UTF8.self)
    #expect(head.contains("Content-Length: \(size)\r\n") && !head.lowercased().contains("chunked"))
    #expect(!head.contains("Expect"))
  }

  @Test("requests on one connection, streamed or not, each have their own body")
  func reuse() throws {
    let target = ScriptedTarget.answering(Self.ok)
    defer { target.stop() }
    let probe = try TransportProbe()
    for round in 0..<3 {
      #expect(probe.perform(target.url, from: ScriptedSource(200_000 + round))?.status == 200)
      #expect(probe.perform(target.url, method: "POST", body: "small \(round)")?.status == 200)
      #expect(probe.perform(target.url)?.status == 200)
    }
    #expect(target.connectionCount == 1)
    let sizes = target.bytesOfRequests.map { content($0).count }
    #expect(sizes == [200_000, 7, 0, 200_001, 7, 0, 200_002, 7, 0])
  }

  @Test("of a body that the target does not read, at most two pieces and the sockets' buffers are read")
  func bounded() throws {
    let target = ScriptedTarget { connection in
      // The kernel buffers a few megabytes for a socket that is not read.
      connection.waitUntilAborted()
    }
    defer { target.stop() }
    var source = ScriptedSource(256 << 20)
    let (result, _) = try patiently(from: .seconds(1), until: { $0.figures?.phase == .request }) { timeout in
      source = ScriptedSource(256 << 20)
      return try TransportProbe().perform(target.url, from: source, timeout: timeout)
    }
    #expect(result.outcome == .maybeSent && result.failure?.code == "timeout")
    #expect(source.given < 24 << 20, "\(source.given)")
    let sent = result.figures?.bytesSent ?? 0
    // Two pieces, and libcurl's own buffer of 64 KiB.
    #expect(source.given - sent <= 2 * BodyFeed.pieceSize + 65_536, "\(source.given) read, \(sent) sent")
  }

  @Test("while a piece is awaited other requests continue, and then it continues")
  func pause() throws {
    let target = ScriptedTarget.answering(Self.ok)
    defer { target.stop() }
    let probe = try TransportProbe()
    let source = ScriptedSource(1_000_000, haltAt: 500_000)
    probe.transport.start([
      TransportRequest(id: 7, url: target.url, method: "POST", source: source, timeout: forever, captureLimit: 9)
    ])
    for _ in 0..<20 { #expect(probe.perform(target.url)?.status == 200) }
    source.release()
    #expect(probe.wait(count: 1)[7]?.last?.status == 200)
    #expect(target.bytesOfRequests.last.map { content($0) } == source.whole)
  }

  @Test("if the first piece is missing, nothing is sent, and the fault is on this side")
  func faultAtFirst() throws {
    let target = ScriptedTarget.answering(Self.ok)
    defer { target.stop() }
    let result = try TransportProbe().perform(target.url, from: ScriptedSource(1_000_000, faultAt: 0))
    #expect(result?.outcome == .localFault && result?.status == nil)
    #expect(result?.failure == AttemptFailure(code: "bodyGone", message: "It is gone."))
    #expect(result?.figures?.mayHaveLeft != true)
    #expect(target.connectionCount == 0)
  }

  @Test("if a later piece is missing, the request is cut short, and the fault is on this side")
  func faultLater() throws {
    let target = ScriptedTarget.answering(Self.ok)
    defer { target.stop() }
    let probe = try TransportProbe()
    let result = probe.perform(target.url, from: ScriptedSource(1_000_000, faultAt: 600_000))
    #expect(result?.outcome == .localFault)
    #expect(result?.failure?.code == "bodyGone")
    // A call that must not be repeated must not run again after this.
    #expect(result?.figures?.phase == .request && result?.figures?.mayHaveLeft == true)
    // A connection on which a request was cut short cannot be reused.
    #expect(probe.perform(target.url)?.status == 200)
    #expect(target.connectionCount == 2 && target.bytesOfRequests.count == 1)
  }

  @Test("a body that ends before its length is damaged")
  func short() throws {
    final class Short: BodySource {
      let size = 500_000
      func next(atMost count: Int) throws(BodyFault) -> [UInt8] { [] }
      func rewind() {}
    }
    let target = ScriptedTarget.answering(Self.ok)
    defer { target.stop() }
    let result = try TransportProbe().perform(
      TransportRequest(
        id: 1, url: target.url, method: "POST", source: Short(), timeout: forever, captureLimit: 9))
    #expect(result?.outcome == .localFault && result?.failure?.code == "bodyDamaged")
  }

  @Test("a body that does not arrive in the attempt's time is a fault on this side", arguments: [0, 500_000])
  func late(haltAt: Int) throws {
    let target = ScriptedTarget.answering(Self.ok)
    defer { target.stop() }
    var sources: [ScriptedSource] = []
    defer { for source in sources { source.release() } }
    // It ends although nothing releases the source before the end of this test.
    let (result, timeout) = try patiently(from: .milliseconds(200), until: { $0.outcome == .localFault }) { timeout in
      let source = ScriptedSource(1_000_000, haltAt: haltAt)
      sources.append(source)
      return try TransportProbe().perform(target.url, from: source, timeout: timeout)
    }
    #expect(result.outcome == .localFault && result.failure?.code == "bodyUnreadable")
    #expect(result.duration >= timeout - .milliseconds(10))
  }

  @Test("a request can be cancelled before its body is there, and in the middle of it", arguments: [0, 500_000])
  func cancelled(haltAt: Int) throws {
    let target = ScriptedTarget.answering(Self.ok)
    defer { target.stop() }
    let probe = try TransportProbe()
    let source = ScriptedSource(1_000_000, haltAt: haltAt)
    probe.transport.start([
      TransportRequest(id: 7, url: target.url, method: "POST", source: source, timeout: forever, captureLimit: 9)
    ])
    // In the other order nothing would be in flight yet; a request after it takes its time.
    _ = probe.perform(target.url)
    probe.transport.cancel([7])
    #expect(probe.wait(count: 1)[7]?.last?.outcome == .cancelled)
    // Pieces that were on their way do not get into the next request with that id.
    let next = ScriptedSource(400_000)
    probe.transport.start([
      TransportRequest(id: 7, url: target.url, method: "POST", source: next, timeout: forever, captureLimit: 9)
    ])
    source.release()
    #expect(probe.wait(count: 1)[7]?.last?.status == 200)
    #expect(target.bytesOfRequests.last.map { content($0) } == next.whole)
  }

  @Test("a redirect that keeps the body reads it again; another one does not")
  func redirects() throws {
    let target = ScriptedTarget { connection in
      while let request = connection.readRequest() {
        let path = request.prefix(40).split(separator: " ")[1]
        let status = path == "/keep" ? 307 : path == "/drop" ? 303 : 200
        let end = status == 200 ? "" : "Location: /there\r\n"
        guard connection.send("HTTP/1.1 \(status) X\r\n\(end)Content-Length: 0\r\n\r\n") else { return }
      }
    }
    defer { target.stop() }
    let probe = try TransportProbe()
    let kept = ScriptedSource(700_000)
    #expect(probe.perform(target.url + "/keep", from: kept, maxRedirects: 3)?.figures?.redirects == 1)
    let dropped = ScriptedSource(700_000)
    #expect(probe.perform(target.url + "/drop", from: dropped, maxRedirects: 3)?.status == 200)
    #expect((kept.rewinds, dropped.rewinds) == (1, 0))
    let requests = target.bytesOfRequests
    #expect(requests.count == 4)
    #expect(content(requests[0]) == kept.whole && content(requests[1]) == kept.whole)
    #expect(content(requests[2]) == dropped.whole && content(requests[3]).isEmpty)
    #expect(String(decoding: requests[3].prefix(4), as: UTF8.self) == "GET ")
  }

  @Test("if an idle connection fails, the body is not sent a second time")
  func dyingConnection() throws {
    let target = ScriptedTarget { connection in
      guard connection.readRequest() != nil else { return }
      connection.send(Self.ok)
      _ = connection.readRequest()
      connection.reset()
    }
    defer { target.stop() }
    let probe = try TransportProbe()
    #expect(probe.perform(target.url)?.status == 200)
    let source = ScriptedSource(150_000)
    let result = probe.perform(target.url, from: source)
    #expect(result?.outcome == .maybeSent && result?.failure?.code == "connectionClosed")
    #expect(target.bytesOfRequests.count == 2)
  }

  @Test("over HTTP/2 it arrives byte for byte, also when a piece is awaited in the middle", .withNginx)
  func http2() throws {
    let servers = try SecureServers.shared.get()
    let target = ScriptedTarget.answering(Self.ok)
    defer { target.stop() }
    let probe = try TransportProbe { $0.tls.trustedIssuers = servers.path("ca.pem") }
    let url = servers.url("good") + "/through/\(target.port)"
    for halt in [nil, 0, 900_000] {
      let source = ScriptedSource(2_000_000, haltAt: halt)
      probe.transport.start([
        TransportRequest(id: 7, url: url, method: "PUT", source: source, timeout: forever, captureLimit: 99)
      ])
      // Another stream of the same connection continues meanwhile.
      #expect(probe.perform(servers.url("good"))?.status == 200)
      source.release()
      let result = probe.wait(count: 1)[7]?.last
      #expect(result?.status == 200, "\(String(describing: result))")
      #expect(result?.figures?.version == .http2)
      #expect(target.bytesOfRequests.last.map { content($0) } == source.whole)
    }
    let gone = probe.perform(url, method: "PUT", from: ScriptedSource(2_000_000, faultAt: 900_000))
    #expect(gone?.outcome == .localFault && gone?.failure?.code == "bodyGone")
    #expect(probe.perform(servers.url("good"))?.status == 200)
  }
}
