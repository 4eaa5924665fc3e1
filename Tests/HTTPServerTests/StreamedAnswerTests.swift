import Polling
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import HTTPServer

@Suite("An answer that is written in pieces")
struct StreamedAnswerTests {
  private typealias Opened = (stream: HTTPResponseStream, events: Inbox<HTTPStreamEvent>)

  /// Streams the answers under `/stream`, and passes the streams to the test.
  private static func server(
    first: String = "", _ configure: (inout HTTPServerConfiguration) -> Void = { _ in }
  ) throws -> (TestServer, Inbox<Opened>) {
    let opened = Inbox<Opened>()
    let server = try TestServer(configure) { request, responder in
      guard request.path == "/stream" else { return responder.respond(TestServer.echo(request)) }
      let events = Inbox<HTTPStreamEvent>()
      let response = HTTPResponse(status: 200, text: first, contentType: "text/event-stream")
      opened.put((responder.stream(response) { events.put($0) }, events))
    }
    return (server, opened)
  }

  @Test("arrives as it is written, and another request may follow")
  func comesAsWritten() throws {
    let (server, opened) = try Self.server(first: "hello")
    let client = try server.connect()
    try client.get("/stream")
    let (stream, events) = try opened.take()
    let head = try client.head()
    #expect(head.status == 200 && head["transfer-encoding"] == "chunked" && head["content-length"] == nil)
    #expect(head["date"] != nil && head["content-type"] == "text/event-stream")
    #expect(try client.chunk() == "hello")
    for text in ["one", "two", String(repeating: "three", count: 100)] {
      #expect(stream.write(text.utf8) == .free)
      #expect(try client.chunk() == text)
    }
    stream.write([])
    stream.end()
    #expect(stream.write("late".utf8) == .closed)
    #expect(try client.chunk() == "")
    try client.get("/next")
    #expect(try client.response().text == "GET /next ")
    #expect(events.count == 0)
  }

  @Test("keeps the order of each thread's pieces")
  func keepsOrder() throws {
    let (server, opened) = try Self.server()
    let client = try server.connect()
    try client.get("/stream")
    let stream = try opened.take().stream
    _ = try client.head()
    let next = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<100 {
        next.withLock { number in
          #expect(stream.write("\(number)\n".utf8) == .free)
          number += 1
        }
      }
    }
    stream.end()
    var text = ""
    while true {
      let chunk = try client.chunk()
      if chunk.isEmpty { break }
      text += chunk
    }
    #expect(text == (0..<800).map { "\($0)\n" }.joined())
  }

  @Test("ends with the connection over HTTP/1.0")
  func endsWithConnection() throws {
    let (server, opened) = try Self.server()
    let client = try server.connect()
    try client.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    let stream = try opened.take().stream
    stream.write("one".utf8)
    stream.write("two".utf8)
    stream.end()
    let head = try client.head()
    #expect(head["transfer-encoding"] == nil && head["content-length"] == nil && head["connection"] == "close")
    #expect(try client.rest() == "onetwo")
  }

  @Test("to HEAD has only its head")
  func answersHead() throws {
    let (server, opened) = try Self.server(first: "never sent")
    let client = try server.connect()
    try client.get("/stream", method: "HEAD")
    let (stream, events) = try opened.take()
    #expect(try client.head()["transfer-encoding"] == "chunked")
    #expect(try events.take() == .closed)
    #expect(stream.write("x".utf8) == .closed)
    try client.get("/next")
    #expect(try client.response().text == "GET /next ")
  }

  @Test("accepts no more than its limit while the client does not read, and reports when it is writable again")
  func pushesBack() throws {
    let limit = 100_000
    let (server, opened) = try Self.server { $0.maxOutputBacklogBytes = limit }
    let client = try server.connect(receiveBuffer: 4096)
    try client.get("/stream")
    let (stream, events) = try opened.take()
    let piece = [UInt8](repeating: 0x78, count: 10_000)
    let other = try server.connect()
    var (written, wasFull) = (0, false)
    var result = HTTPStreamWriteResult.free
    // The kernel has buffers too: whenever the stream becomes writable, it is tried again.
    repeat {
      result = stream.write(piece)
      wasFull = wasFull || result == .full
      if result != .refused { written += piece.count }
      if result != .free, try Self.becomesWritable(events, other) { result = .free }
    } while result != .refused && written < 100_000_000
    #expect(result == .refused && wasFull)
    _ = try client.head()
    var received = 0
    while received < written { received += try client.chunk().utf8.count }
    #expect(try events.take() == .writable)
    #expect(received == written)
    #expect(stream.write(piece) == .free)
    #expect(try client.chunk().utf8.count == piece.count)
    stream.end()
    #expect(try client.chunk() == "")
  }

  /// Whether a stream becomes writable in the next iterations of its loop, which passes the bytes to the kernel.
  private static func becomesWritable(_ events: Inbox<HTTPStreamEvent>, _ other: RawConnection) throws -> Bool {
    for _ in 0..<50 where events.count == 0 {
      try other.get("/iteration")
      _ = try other.response()
    }
    return try events.count > 0 && events.take() == .writable
  }

  @Test("ends for its writer when the client leaves, in order or not")
  func noticesTheGone() throws {
    let (server, opened) = try Self.server()
    let reset = try server.connect()
    try reset.get("/stream")
    let first = try opened.take()
    reset.reset()
    #expect(try first.events.take() == .closed)
    #expect(first.stream.write("x".utf8) == .closed)

    let closed = try server.connect()
    try closed.get("/stream")
    let second = try opened.take()
    // With no unread bytes, or closing would be a reset.
    _ = try closed.head()
    closed.close()
    #expect(try second.events.take() == .clientEnded)
    // Unacknowledged data shows that it has not only ended its side.
    poll("it is not closed") { second.events.count > 0 || second.stream.write(": heartbeat\n\n".utf8) == .closed }
    #expect(try second.events.take() == .closed)
  }

  @Test("that is aborted never looks whole")
  func aborts() throws {
    let (server, opened) = try Self.server()
    let client = try server.connect()
    try client.get("/stream")
    let (stream, events) = try opened.take()
    stream.write("part".utf8)
    _ = try client.head()
    #expect(try client.chunk() == "part")
    stream.abort()
    #expect(throws: RawConnection.Failure.reset) { try client.chunk() }
    #expect(try events.take() == .closed)
  }

  @Test("reports a drain, and is cut off at the drain's limit if it does not end", arguments: [true, false])
  func drains(obeys: Bool) throws {
    let (server, opened) = try Self.server()
    let client = try server.connect()
    try client.get("/stream")
    let (stream, events) = try opened.take()
    _ = try client.head()
    let ends = Inbox<Void>()
    let bound = obeys ? Duration.seconds(3600) : .milliseconds(100)
    server.server.drain(within: bound) { ends.put(()) }
    #expect(try events.take() == .draining(within: bound))
    if obeys {
      stream.write("bye".utf8)
      stream.end()
      #expect(try client.chunk() == "bye")
      #expect(try client.chunk() == "")
      #expect(try client.endsHere())
    } else {
      #expect(try events.take() == .closed)
    }
    client.close()
    try ends.take()
    #expect(stream.write("x".utf8) == .closed)
  }

  @Test("replaces no other answer, and no other answer replaces it")
  func isTheOnlyAnswer() throws {
    let events = Inbox<HTTPStreamEvent>()
    let server = try TestServer { request, responder in
      if request.path == "/answered" {
        responder.respond(HTTPResponse(status: 200, text: "first"))
        _ = responder.stream(HTTPResponse(status: 200)) { events.put($0) }
      } else {
        let stream = responder.stream(HTTPResponse(status: 200)) { _ in }
        responder.respond(HTTPResponse(status: 500, text: "second"))
        stream.write("streamed".utf8)
        stream.end()
      }
    }
    let client = try server.connect()
    try client.get("/answered")
    #expect(try client.response().text == "first")
    #expect(try events.take() == .closed)
    try client.get("/streamed")
    #expect(try client.head().status == 200)
    #expect(try client.chunk() == "streamed")
    #expect(try client.chunk() == "")
  }

  @Test("resets a reader that reads nothing for the write timeout")
  func resetsStalledReaders() throws {
    let (server, opened) = try Self.server { $0.writeTimeout = .milliseconds(50) }
    let client = try server.connect(receiveBuffer: 4096)
    try client.get("/stream")
    let (stream, events) = try opened.take()
    let piece = [UInt8](repeating: 0x78, count: 100_000)
    poll("it is not closed") { stream.write(piece) == .closed }
    var last = try events.take()
    while last == .writable { last = try events.take() }
    #expect(last == .closed)
  }

  @Test("is cancelled before it begins when the client leaves, in order or not", arguments: [true, false])
  func cancels(inOrder: Bool) throws {
    let cancelled = Inbox<String>()
    let held = Inbox<HTTPResponder>()
    let server = try TestServer { request, responder in
      let path = request.path
      responder.onCancel { cancelled.put(path) }
      held.put(responder)
    }
    // A request answered in time is not cancelled.
    let client = try server.connect()
    try client.get("/answered")
    try held.take().respond(HTTPResponse(status: 200, text: "in time"))
    #expect(try client.response().text == "in time")
    try client.get("/gone")
    let late = try held.take()
    if inOrder { client.endSending() } else { client.reset() }
    #expect(try cancelled.take() == "/gone")
    // A client that has only ended its side still gets its answer.
    late.respond(HTTPResponse(status: 200, text: "late"))
    if inOrder {
      #expect(try client.response().text == "late")
      #expect(try client.endsHere())
    }
    // Too late for this request, so it is called at once.
    late.onCancel { cancelled.put("late") }
    #expect(try cancelled.take() == "late")
    #expect(cancelled.count == 0)
  }

  @Test("is cancelled before it begins when the client leaves after it sent more than is read ahead")
  func cancelsUnread() throws {
    let cancelled = Inbox<Void>()
    let server = try TestServer { _, responder in responder.onCancel { cancelled.put(()) } }
    let client = try server.connect()
    try client.send(String(repeating: "GET /gone HTTP/1.1\r\nHost: a\r\n\r\n", count: 1000))
    client.endSending()
    try cancelled.take()
  }

  @Test("of status 205 has a length, so that the next answer is not taken for its content")
  func resetsContent() throws {
    let server = try TestServer { request, responder in
      if request.path == "/reset" {
        _ = responder.stream(HTTPResponse(status: 205)) { _ in }
      } else {
        responder.respond(TestServer.echo(request))
      }
    }
    let client = try server.connect()
    try client.get("/reset")
    let response = try client.response()
    #expect(response.status == 205 && response["content-length"] == "0" && response.body.isEmpty)
    try client.get("/next")
    #expect(try client.response().text == "GET /next ")
  }
}
