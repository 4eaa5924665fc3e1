import Glibc
import Synchronization
import Testing

@testable import HTTPServer

@Suite("A body that is received in pieces")
struct StreamedBodyTests {
  /// Records its calls, and pauses on request.
  final class Recorder: HTTPBodyReceiver {
    let pieces = Inbox<[UInt8]>()
    let ends = Inbox<HTTPBodyEnd>()
    let responder: HTTPResponder
    private let pauses: Bool
    private let onEnd: @Sendable (HTTPResponder, Int) -> Void
    private let total = Mutex(0)

    init(
      _ responder: HTTPResponder, pauses: Bool = false,
      onEnd: @escaping @Sendable (HTTPResponder, Int) -> Void = { responder, total in
        responder.respond(HTTPResponse(status: 200, text: "\(total)"))
      }
    ) {
      self.responder = responder
      self.pauses = pauses
      self.onEnd = onEnd
    }

    var count: Int { total.withLock { $0 } }

    func receive(_ piece: UnsafeRawBufferPointer) -> HTTPBodyDemand {
      total.withLock { $0 += piece.count }
      pieces.put(Array(piece))
      return pauses ? .pause : .more
    }

    func end(_ end: HTTPBodyEnd) {
      if end == .complete { onEnd(responder, count) }
      ends.put(end)
    }
  }

  /// Receives bodies under `/stream` in pieces, and passes the receivers to the test.
  struct Handler: HTTPHandler {
    let recorders = Inbox<Recorder>()
    var make: @Sendable (HTTPResponder) -> Recorder? = { Recorder($0) }

    func handle(_ request: borrowing HTTPRequest, _ responder: HTTPResponder) {
      responder.respond(TestServer.echo(request))
    }

    func receiver(for request: borrowing HTTPRequest, _ responder: HTTPResponder) -> (any HTTPBodyReceiver)? {
      guard request.path == "/stream", let recorder = make(responder) else { return nil }
      recorders.put(recorder)
      return recorder
    }
  }

  /// A server that stops with the test.
  final class Running {
    let server: HTTPServer

    init(_ handler: Handler, _ configure: (inout HTTPServerConfiguration) -> Void = { _ in }) throws {
      var configuration = HTTPServerConfiguration()
      configure(&configuration)
      server = HTTPServer(configuration: configuration, handler: handler)
      try server.start()
    }

    deinit { server.stop() }
  }

  private static let chunkedHead = "POST /stream HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

  private static func head(_ length: Int, fields: String = "") -> String {
    "POST /stream HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\(fields)\r\n"
  }

  @Test("arrives as it is sent, before its end, and may be larger than a collected one", arguments: [true, false])
  func comesInPieces(isChunked: Bool) throws {
    let handler = Handler()
    let server = try Running(handler) { $0.maxBodyBytes = 10 }
    let client = try RawConnection(port: server.server.port)
    for _ in 0..<2 {
      try client.send((isChunked ? Self.chunkedHead : Self.head(15)) + (isChunked ? "6\r\nfirst \r\n" : "first "))
      let recorder = try handler.recorders.take()
      #expect(try recorder.pieces.take() == Array("first ".utf8))
      #expect(recorder.ends.count == 0)
      try client.send(isChunked ? "9\r\nthen more\r\n0\r\n\r\n" : "then more")
      #expect(try recorder.pieces.take() == Array("then more".utf8))
      #expect(try client.response().text == "15")
      #expect(try recorder.ends.take() == .complete)
    }
    // A body without a receiver is collected.
    try client.send("POST /whole HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nwhole")
    #expect(try client.response().text == "POST /whole whole")
  }

  @Test("is followed by pipelined requests, which wait for its answer")
  func isFollowed() throws {
    let handler = Handler()
    let server = try Running(handler)
    let client = try RawConnection(port: server.server.port)
    try client.send(Self.head(3) + "one" + Self.chunkedHead + "3\r\ntwo\r\n0\r\n\r\n")
    try client.send("GET /last HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try client.response().text == "3")
    #expect(try client.response().text == "3")
    #expect(try client.response().text == "GET /last ")
    // Otherwise they would keep the server alive, whose handler retains them.
    for _ in 0..<2 { _ = try handler.recorders.take() }
  }

  @Test("waits with its client while its receiver pauses, at the cost of one read, and continues when it resumes")
  func pushesBack() throws {
    var handler = Handler()
    handler.make = { Recorder($0, pauses: true) }
    let server = try Running(handler) { $0.bodyPieceTimeout = .milliseconds(50) }
    let client = try RawConnection(port: server.server.port)
    let size = 200_000_000
    try client.send(Self.head(size) + "x")
    let recorder = try handler.recorders.take()
    _ = try recorder.pieces.take()
    let other = try RawConnection(port: server.server.port)
    let stalls = try client.stalls(sending: String(repeating: "x", count: 65_536), before: size - 1) {
      try other.get("/iteration")
      _ = try other.response()
    }
    #expect(stalls)
    #expect(recorder.count <= RequestInput.scratchBytes)
    let before = recorder.count
    recorder.responder.resumeReceiving()
    _ = try recorder.pieces.take()
    #expect(recorder.count > before && recorder.count <= before + 2 * RequestInput.scratchBytes)
    client.reset()
    #expect(try recorder.ends.take() == .gone)
  }

  @Test("may be refused after its head, before it is sent")
  func isRefusedEarly() throws {
    var handler = Handler()
    handler.make = { responder in
      responder.respond(HTTPResponse(status: 403, text: "no"))
      return nil
    }
    let server = try Running(handler)
    let client = try RawConnection(port: server.server.port)
    try client.send(Self.head(1_000_000, fields: "Expect: 100-continue\r\n"))
    let response = try client.response()
    #expect(response.status == 403 && response["connection"] == "close")
    #expect(try client.endsHere())
  }

  @Test("is requested with 100 Continue once it has a receiver")
  func asksForIt() throws {
    let handler = Handler()
    let server = try Running(handler)
    let client = try RawConnection(port: server.server.port)
    try client.send(Self.head(4, fields: "Expect: 100-continue\r\n"))
    #expect(try client.response().status == 100)
    try client.send("body")
    #expect(try client.response().text == "4")
    _ = try handler.recorders.take()
  }

  @Test("is dropped with the connection if the answer comes before its end, and its receiver gets no more calls")
  func isAnsweredEarly() throws {
    let handler = Handler()
    let server = try Running(handler)
    let client = try RawConnection(port: server.server.port)
    try client.send(Self.head(1_000_000) + "some")
    let recorder = try handler.recorders.take()
    _ = try recorder.pieces.take()
    recorder.responder.respond(HTTPResponse(status: 413, text: "enough"))
    let response = try client.response()
    #expect(response.status == 413 && response["connection"] == "close")
    try client.send("more that nobody reads")
    #expect(try client.endsHere())
    #expect(recorder.ends.count == 0 && recorder.pieces.count == 0)
  }

  @Test("ends with the reason if it is incomplete, damaged, too large or too slow")
  func endsBadly() throws {
    let handler = Handler()
    let server = try Running(handler) { $0.maxStreamedBodyBytes = 10 }
    let impatient = try Running(handler) { $0.bodyPieceTimeout = .milliseconds(50) }
    for goes in [{ (client: RawConnection) in client.endSending() }, { (client: RawConnection) in client.reset() }] {
      let client = try RawConnection(port: server.server.port)
      try client.send(Self.head(8) + "part")
      let recorder = try handler.recorders.take()
      _ = try recorder.pieces.take()
      goes(client)
      #expect(try recorder.ends.take() == .gone)
    }
    let cases = [
      (server, Self.chunkedHead + "zz", 400), (server, Self.head(11), 413), (server, Self.chunkedHead + "b\r\n", 413),
      (impatient, Self.head(8) + "part", 408),
    ]
    for (server, text, status) in cases {
      let client = try RawConnection(port: server.server.port)
      try client.send(text)
      let end = try handler.recorders.take().ends.take()
      guard case .refused(status, _) = end else {
        Issue.record("\(text.debugDescription) ended with \(end)")
        continue
      }
      #expect(try client.response().status == status)
    }
    // The server ends.
    let client = try RawConnection(port: server.server.port)
    try client.send(Self.chunkedHead)
    let recorder = try handler.recorders.take()
    server.server.stop()
    #expect(try recorder.ends.take() == .gone)
  }

  @Test("may be answered in pieces while it arrives")
  func goesBothWays() throws {
    let streams = Inbox<HTTPResponseStream>()
    var handler = Handler()
    handler.make = { responder in
      streams.put(responder.stream(HTTPResponse(status: 200)) { _ in })
      return Recorder(responder, onEnd: { _, _ in })
    }
    let server = try Running(handler)
    let client = try RawConnection(port: server.server.port)
    try client.send(Self.chunkedHead)
    let (recorder, stream) = (try handler.recorders.take(), try streams.take())
    #expect(try client.head()["transfer-encoding"] == "chunked")
    for line in ["one\n", "two\n", "three\n"] {
      try client.send("\(String(line.utf8.count, radix: 16))\r\n\(line)\r\n")
      let piece = try recorder.pieces.take()
      stream.write(piece)
      #expect(try client.chunk() == line)
    }
    try client.send("0\r\n\r\n")
    #expect(try recorder.ends.take() == .complete)
    stream.end()
    #expect(try client.chunk() == "")
    try client.get("/again")
    #expect(try client.response().text == "GET /again ")
  }

  @Test(
    "is dropped, and the connection closed, if the answer is complete with its head",
    arguments: [("HEAD", 200), ("POST", 204), ("POST", 205)])
  func outlivesItsAnswer(method: String, status: Int) throws {
    for isLate in [false, true] {
      let handler = Handler { responder in
        if !isLate { _ = responder.stream(HTTPResponse(status: status)) { _ in } }
        return Recorder(responder)
      }
      let running = try Running(handler)
      let client = try RawConnection(port: running.server.port)
      try client.send("\(method) /stream HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n1234")
      if isLate {
        let recorder = try handler.recorders.take()
        _ = try recorder.pieces.take()
        _ = recorder.responder.stream(HTTPResponse(status: status)) { _ in }
      }
      let response = try client.response(toHead: method == "HEAD")
      #expect(response.status == status && response["connection"] == "close")
      try client.send(String(repeating: "x", count: 50))
      client.endSending()
      #expect(try client.endsHere())
    }
  }

  @Test("ends at once if the rest cannot arrive any more, also after another request")
  func isGone() throws {
    let handler = Handler()
    let running = try Running(handler)
    let client = try RawConnection(port: running.server.port)
    try client.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n" + Self.head(8) + "1234")
    client.endSending()
    #expect(try client.response().status == 200)
    #expect(try handler.recorders.take().ends.take() == .gone)
  }
}
