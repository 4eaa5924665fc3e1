internal import HTTPServer
internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// Calls that come one a line, in any number, and are answered one a line, in order, as they become durable.
///
/// Neither the lines nor their answers are gathered: so many lines are under way at a time, and the rest waits with the
/// client, whose connection is not read meanwhile. A client that does not read its answers is not read from either.
/// What was answered with 202 is on disk, whatever becomes of the stream.
final class BatchStream: HTTPBodyReceiver, BatchAnswering {
  /// Its bounds.
  struct Limits: Sendable {
    /// Lines under way at a time; what one piece of the body brings may come on top.
    var lines: Int
    /// Bytes of those lines, and of each.
    var bytes: Int
  }

  /// What a batch is about.
  struct Options: Sendable {
    /// Who sends it, and where he acts.
    var caller: Caller
    /// What the keys of its lines begin with; nil without.
    var key: String?
    /// Whether a line is answered with no more than the id of its call.
    var isMinimal = false
    /// Whether whoever sends it still may.
    var mayGoOn: @Sendable () -> Problem? = { nil }
  }

  private struct Intake {
    var splitter: LineSplitter
    var items = 0
  }

  private enum End {
    case complete
    case broken(Problem)
  }

  private struct Output {
    var answers = OrderedAnswers()
    var stream: HTTPResponseStream?
    /// How the input ended, once it has.
    var end: End?
    /// The body is not read until there is room.
    var isPaused = false
    /// The client takes more.
    var hasRoom = true
    /// It said so while a thread was writing.
    var gainedRoom = false
    /// A thread writes; others leave their answers to it.
    var isWriting = false
    /// Nothing is written any more.
    var isOver = false
  }

  let replays = ReplayQueue()
  private let runtime: Runtime
  private let responder: HTTPResponder
  private let descriptorLimits: CallDescriptor.Limits
  private let limits: Limits
  private let options: Options
  /// Touched on the event loop only, so that nobody waits for the lock.
  private let intake: Mutex<Intake>
  private let output = Mutex(Output())

  /// Bytes that are written at a time.
  private static let pieceBytes = 32 * 1024

  init(
    _ runtime: Runtime, _ responder: HTTPResponder, _ descriptorLimits: CallDescriptor.Limits, _ limits: Limits,
    _ options: Options
  ) {
    self.runtime = runtime
    self.responder = responder
    self.descriptorLimits = descriptorLimits
    self.limits = limits
    self.options = options
    intake = Mutex(Intake(splitter: LineSplitter(longest: limits.bytes)))
  }

  // MARK: What comes

  /// It says why in a line of its own.
  var endsBegunAnswer: Bool { true }

  func receive(_ piece: UnsafeRawBufferPointer) -> HTTPBodyDemand {
    if let problem = options.mayGoOn() {
      fail(problem)
      return .pause
    }
    let events = intake.withLock { intake in
      var events: [EngineEvent] = []
      intake.splitter.take(piece.bindMemory(to: UInt8.self)) { number, line in
        if let event = accept(line, number, item: &intake.items) { events.append(event) }
      }
      return events
    }
    handOver(events)
    return output.withLock { output in
      // What has ended wants nothing more; the connection ends with the answer.
      output.isPaused = output.end != nil || output.isOver || isFull(output)
      return output.isPaused ? .pause : .more
    }
  }

  func end(_ end: HTTPBodyEnd) {
    switch end {
    case .complete:
      let (events, count) = intake.withLock { intake in
        var events: [EngineEvent] = []
        intake.splitter.finish { number, line in
          if let event = accept(line, number, item: &intake.items) { events.append(event) }
        }
        return (events, intake.items)
      }
      guard count > 0 else { return runtime.respond(responder, Answer.problem(Routes.emptyBatch)) }
      handOver(events)
      output.withLock { $0.end = $0.end ?? .complete }
      write()
    case .refused(let status, let reason):
      fail(Problem(status: status, code: "badRequest", title: "The request cannot be served", detail: reason))
    case .gone: close()
    }
  }

  /// Takes a line for a call.
  ///
  /// - Returns: What to tell the engine; nil for a line that was answered already.
  private func accept(_ line: LineSplitter.Line, _ number: Int, item: inout Int) -> EngineEvent? {
    let place = item
    item += 1
    switch line {
    case .tooLong:
      refuse(
        output.withLock { $0.answers.expect(line: number, size: 0) },
        Problem(
          status: 413, code: "bodyTooLarge", title: "The line is too long",
          detail: "A line may have \(limits.bytes) bytes."))
      return nil
    case .whole(let text):
      let index = output.withLock { $0.answers.expect(line: number, size: text.count) }
      do throws(Problem) {
        var descriptor = try CallDescriptor.read(text, limits: descriptorLimits)
        if let key = options.key {
          descriptor.key = try Routes.key(key, item: place, of: UnsafeRawBufferPointer(text), options.caller)
        }
        return .submit(descriptor, runtime.expect(responder, for: .batch(self, index: index)))
      } catch {
        refuse(index, error)
        return nil
      }
    }
  }

  private func refuse(_ index: Int, _ problem: Problem) {
    runtime.metrics.count { $0.refused += 1 }
    put(at: index) { Self.write(problem, to: &$0) }
  }

  private func handOver(_ events: [EngineEvent]) {
    if intake.withLock({ $0.items }) > 0 { begin() }
    runtime.post(events)
    write()
  }

  /// Whether no more is taken for now.
  private func isFull(_ output: borrowing Output) -> Bool {
    output.answers.count >= limits.lines || output.answers.bytes >= limits.bytes
  }

  /// Whether so much has gone that more is worth a call to the event loop.
  private func hasDrained(_ output: borrowing Output) -> Bool {
    output.answers.count <= limits.lines / 2 && output.answers.bytes <= limits.bytes / 2
  }

  // MARK: What goes

  func answer(_ index: Int, id: CallID, status: Int, replayed: Bool, call: (inout JSONWriter) -> Void) {
    put(at: index) { writer in
      writer.field("status", status)
      if replayed { writer.field("replayed", true) }
      if options.isMinimal {
        writer.field("id", id.description)
      } else {
        writer.key("call")
        call(&writer)
      }
    }
    write()
  }

  func answer(_ index: Int, _ problem: Problem) {
    put(at: index) { Self.write(problem, to: &$0) }
    write()
  }

  private static func write(_ problem: Problem, to writer: inout JSONWriter) {
    writer.field("status", problem.status)
    writer.key("problem")
    writer.raw(problem.json)
  }

  private func put(at index: Int, _ members: (inout JSONWriter) -> Void) {
    guard let line = output.withLock({ $0.answers.line(of: index) }) else { return }
    var writer = JSONWriter(capacity: options.isMinimal ? 64 : 768)
    writer.beginObject()
    writer.field("line", line)
    members(&writer)
    writer.endObject()
    let bytes = writer.bytes
    output.withLock { $0.answers.put(bytes, at: index) }
  }

  /// Begins the answer, with the first line: until then the request can still be refused as a whole.
  private func begin() {
    guard output.withLock({ $0.stream == nil && !$0.isOver }) else { return }
    runtime.metrics.count { $0.requests[2] += 1 }
    var headers = [HTTPHeader("content-type", "application/x-ndjson"), HTTPHeader("x-accel-buffering", "no")]
    if options.isMinimal { headers.append(HTTPHeader("preference-applied", "return=minimal")) }
    let stream = responder.stream(HTTPResponse(status: 200, headers: headers, body: [])) { [self] event in
      self.stream(did: event)
    }
    // The two hold each other until the stream is over.
    output.withLock { output in if !output.isOver { output.stream = stream } }
  }

  private func stream(did event: HTTPStreamEvent) {
    switch event {
    case .writable:
      output.withLock { output in
        output.hasRoom = true
        output.gainedRoom = true
      }
      write()
    case .draining:
      fail(
        Problem(
          status: 503, code: "draining", title: "Redial is stopping",
          detail: "No more lines are read while the service stops; send the rest again.", retryAfter: 5))
    // One that has sent everything may still read.
    case .clientEnded: break
    case .closed: close()
    }
  }

  /// Reads no more, and says why behind the answers to what was read.
  private func fail(_ problem: Problem) {
    let hasBegun = output.withLock { output in
      output.end = output.end ?? .broken(problem)
      return output.stream != nil
    }
    if hasBegun { write() } else { runtime.respond(responder, Answer.problem(problem)) }
  }

  private func close() {
    output.withLock { output in
      output.isOver = true
      output.stream = nil
      output.answers = OrderedAnswers()
    }
  }

  /// Writes what is there, as far as there is room; by one thread at a time, and never under the lock, for the stream may
  /// call back.
  private func write() {
    while let (stream, piece, isLast) = next() {
      let room = piece.isEmpty ? HTTPStreamRoom.free : stream.write(piece)
      if isLast { return stream.end() }
      let (goesOn, resumes) = output.withLock { output in
        output.isWriting = false
        if room == .full { output.hasRoom = output.gainedRoom }
        if room == .closed {
          output.isOver = true
          output.stream = nil
        }
        let resumes = output.isPaused && output.end == nil && !output.isOver && hasDrained(output)
        if resumes { output.isPaused = false }
        return (output.hasRoom && !output.isOver, resumes)
      }
      if resumes { responder.resumeReceiving() }
      if !goesOn { return }
    }
  }

  /// What is to be written next, if anything is and this thread is the one.
  private func next() -> (HTTPResponseStream, [UInt8], isLast: Bool)? {
    output.withLock { output in
      guard !output.isWriting, !output.isOver, output.hasRoom, let stream = output.stream else { return nil }
      var piece = output.answers.take(atLeast: Self.pieceBytes)
      var isLast = false
      if let end = output.end, output.answers.count == 0, piece.count < Self.pieceBytes {
        isLast = true
        output.isOver = true
        output.stream = nil
        if case .broken(let problem) = end { piece += Self.lastLine(problem) }
      }
      guard isLast || !piece.isEmpty else { return nil }
      output.isWriting = true
      output.gainedRoom = false
      return (stream, piece, isLast)
    }
  }

  /// Says why the stream ends early: it belongs to no line.
  private static func lastLine(_ problem: Problem) -> [UInt8] {
    var writer = JSONWriter(capacity: 256)
    writer.beginObject()
    writer.key("line")
    writer.null()
    write(problem, to: &writer)
    writer.endObject()
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}
