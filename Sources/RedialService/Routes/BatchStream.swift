internal import HTTPServer
internal import RedialEngine
internal import RedialModel
internal import Synchronization
internal import RedialJSON

/// Calls that are submitted one per line, in any number, and answered one per line, in order, as they become durable.
///
/// Neither the lines nor their answers are collected: only a limited number of lines is processed at a time, and the
/// rest waits with the client, whose connection is not read meanwhile. Nor is it read while the client does not read
/// its answers. Calls that were answered with 202 are on disk, whatever happens to the stream.
final class BatchStream: HTTPBodyReceiver, BatchAnswering {
  struct Limits: Sendable {
    /// Maximum lines in process.
    var lines: Int
    /// Bytes of those lines, and of their answers, at which no more lines are read; and the maximum bytes of each line.
    var bytes: Int
  }

  /// The properties of a batch.
  struct Options: Sendable {
    /// The client, with its namespace.
    var caller: Caller
    /// The prefix of the lines' keys; nil without one.
    var key: String?
    /// Whether the answer to a line is only the id of its call.
    var isMinimal = false
    /// Whether the client still has permission.
    var mayGoOn: @Sendable () -> Problem? = { nil }
    /// Counts one more request against the client's quota: called before each block of as many lines as a batch of one
    /// request may have, except the first. If the quota is used up, its result ends the batch.
    var charge: @Sendable () -> (problem: Problem, fields: [HTTPHeader])? = { nil }
  }

  private struct Intake {
    var splitter: LineSplitter
    var items = 0
    /// The rest of a piece that arrived while too many lines were in process.
    var kept: [UInt8] = []
    /// No more bytes arrive.
    var isComplete = false
    /// The last line was read.
    var isFinished = false
  }

  private enum End {
    case complete
    /// The reason, and the fields that a separate answer would have had.
    case broken(Problem, [HTTPHeader] = [])
  }

  private struct Output {
    var answers = OrderedAnswers()
    var stream: HTTPResponseStream?
    /// The answer has begun.
    var hasBegun = false
    /// How the input ended, once it has.
    var end: End?
    /// No line is read until the stream is writable. The thread that ends the pause reads the kept lines, and requests
    /// more.
    var isPaused = false
    /// The client accepts more bytes.
    var isWritable = true
    /// The stream became writable while a thread was writing.
    var becameWritable = false
    /// A thread writes; others leave their answers to it.
    var isWriting = false
    /// Nothing is written any more.
    var isOver = false
  }

  let replays = ReplayQueue()
  private let submission: Submission
  let responder: HTTPResponder
  private let descriptorLimits: CallDescriptor.Limits
  private let limits: Limits
  private let options: Options
  /// Used only by the reader of lines: the event loop, or the thread that ended a pause.
  private let intake: Mutex<Intake>
  private let output = Mutex(Output())

  /// Bytes that are written at a time.
  private static let pieceBytes = 32 * 1024

  init(
    _ submission: Submission, _ responder: HTTPResponder, _ descriptorLimits: CallDescriptor.Limits, _ limits: Limits,
    _ options: Options
  ) {
    self.submission = submission
    self.responder = responder
    self.descriptorLimits = descriptorLimits
    self.limits = limits
    self.options = options
    intake = Mutex(Intake(splitter: LineSplitter(longest: limits.bytes)))
  }

  // MARK: What comes

  /// A separate line gives the reason.
  var endsBegunAnswer: Bool { true }

  func receive(_ piece: UnsafeRawBufferPointer) -> HTTPBodyDemand {
    // A stream that has ended reads no more; the connection ends with the answer.
    guard output.withLock({ $0.end == nil && !$0.isOver }) else { return .pause }
    if let problem = options.mayGoOn() {
      fail(problem)
      return .pause
    }
    return advance(piece.bindMemory(to: UInt8.self)) ? .more : .pause
  }

  func end(_ end: HTTPBodyEnd) {
    switch end {
    case .complete:
      intake.withLock { $0.isComplete = true }
      _ = takeLines(of: UnsafeBufferPointer(start: nil, count: 0))
    case .refused(let status, let reason):
      fail(Answer.problem(ofRefusal: status, reason))
    case .gone: close()
    }
  }

  /// Reads lines until enough are in process, or all that arrived are read; true if more is wanted at once.
  private func advance(_ piece: UnsafeBufferPointer<UInt8>) -> Bool {
    var hasKept = takeLines(of: piece)
    while true {
      let isMoreWanted = output.withLock { output -> Bool? in
        output.isPaused = output.end != nil || output.isOver || isFull(output)
        return output.isPaused ? false : hasKept ? nil : true
      }
      if let isMoreWanted { return isMoreWanted }
      hasKept = takeLines(of: UnsafeBufferPointer(start: nil, count: 0))
    }
  }

  /// Reads the kept lines, and then those of a piece, while the stream is writable; keeps the rest.
  ///
  /// - Returns: Whether any bytes are kept.
  private func takeLines(of piece: UnsafeBufferPointer<UInt8>) -> Bool {
    let (count, isFinished, hasKept) = intake.withLock { intake in
      var (events, items) = ([EngineEvent](), intake.items)
      func take(_ number: Int, _ line: LineSplitter.Line) -> Bool { accept(line, number, item: &items, &events) }
      if !intake.kept.isEmpty {
        let kept = intake.kept
        let taken = kept.withUnsafeBufferPointer { intake.splitter.take($0, take) }
        intake.kept = Array(kept[taken...])
      }
      let taken = intake.kept.isEmpty ? intake.splitter.take(piece, take) : 0
      intake.kept += piece[taken...]
      var isFinished = false
      if intake.isComplete, intake.kept.isEmpty, !intake.isFinished {
        intake.splitter.finish(take)
        intake.isFinished = true
        isFinished = true
      }
      intake.items = items
      // Under the lock, so that the engine gets them in the order of the lines.
      if !events.isEmpty { submission.engine.post(events) }
      return (items, isFinished, !intake.kept.isEmpty)
    }
    if count > 0 { begin() }
    if isFinished {
      let isEmpty = output.withLock { output in
        if count > 0 { output.end = output.end ?? .complete }
        return count == 0 && output.end == nil
      }
      if isEmpty { submission.queries.respond(responder, Answer.problem(Self.emptyBatch)) }
    }
    write()
    return hasKept
  }

  /// Reads a line as a call: adds an event for the engine, or answers the line.
  ///
  /// - Returns: Whether another line may be read.
  private func accept(
    _ line: LineSplitter.Line, _ number: Int, item: inout Int, _ events: inout [EngineEvent]
  ) -> Bool {
    let place = item
    if place > 0, place % limits.lines == 0, let (problem, fields) = options.charge() {
      output.withLock { $0.end = $0.end ?? .broken(problem, fields) }
      return false
    }
    let size = if case .whole(let text) = line { text.count } else { 0 }
    // After its end a stream reads no lines, so that no answer follows the line with the reason.
    let expected = output.withLock { output -> (index: Int, isWritable: Bool)? in
      guard output.end == nil, !output.isOver else { return nil }
      let index = output.answers.expect(line: number, size: size)
      return (index, !isFull(output))
    }
    guard let (index, isWritable) = expected else { return false }
    item += 1
    switch line {
    case .tooLong:
      refuse(
        index,
        Problem(
          .bodyTooLarge,
          detail:
            "The line \(number) is too long: a line may have at most \(limits.bytes) bytes. Send less, or raise maxBodyBytes."
        ))
    case .whole(let text):
      var key: IdempotencyKey?
      do throws(Problem) {
        if let prefix = options.key {
          key = try Self.key(prefix, item: place, of: UnsafeRawBufferPointer(text), options.caller)
        }
        var descriptor = try CallDescriptor.read(text, limits: descriptorLimits)
        descriptor.key = key
        events.append(submission.intake.event(descriptor, of: .item(self, index: index)))
      } catch {
        if let key {
          submission.intake.refuse(error, unlessRepeatedUnder: key, .item(self, index: index))
        } else {
          refuse(index, error)
        }
      }
    }
    return isWritable
  }

  private func refuse(_ index: Int, _ problem: Problem) {
    submission.metrics.count { $0.refused += 1 }
    put(at: index) { Self.write(problem, to: &$0) }
  }

  /// Whether reading is paused.
  private func isFull(_ output: borrowing Output) -> Bool {
    output.answers.count >= limits.lines || output.answers.bytes >= limits.bytes
  }

  /// Whether enough was sent to justify a call to the event loop for more.
  private func hasDrained(_ output: borrowing Output) -> Bool {
    output.answers.count <= limits.lines / 2 && output.answers.bytes <= limits.bytes / 2
  }

  // MARK: What goes

  func answer(
    _ index: Int, id: CallID, status: Int, repetition: IdempotencyStatus?, call: (inout JSONWriter) -> Void
  ) {
    put(at: index) { writer in
      writer.field("status", status)
      if let repetition { writer.field("idempotencyStatus", repetition.rawValue) }
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
    let begins = output.withLock { output in
      guard !output.hasBegun, !output.isOver else { return false }
      output.hasBegun = true
      return true
    }
    guard begins else { return }
    submission.metrics.count { $0.requests[2] += 1 }
    var headers = [HTTPHeader("content-type", "application/x-ndjson"), HTTPHeader("x-accel-buffering", "no")]
    if options.isMinimal { headers.append(HTTPHeader("preference-applied", "return=minimal")) }
    let stream = responder.stream(HTTPResponse(status: 200, headers: headers, body: [])) { [self] event in
      self.stream(did: event)
    }
    // The two retain each other until the stream ends.
    output.withLock { output in if !output.isOver { output.stream = stream } }
  }

  private func stream(did event: HTTPStreamEvent) {
    switch event {
    case .writable:
      output.withLock { output in
        output.isWritable = true
        output.becameWritable = true
      }
      write()
    case .draining:
      fail(
        Problem(
          .draining,
          detail: "No more lines are read while the service stops; send the rest again.", retryAfter: 5))
    // A client that has sent everything may still read.
    case .clientEnded: break
    case .closed: close()
    }
  }

  /// Reads no more, and gives the reason after the answers to the lines that were read.
  private func fail(_ problem: Problem) {
    let hasBegun = output.withLock { output in
      output.end = output.end ?? .broken(problem)
      if !output.hasBegun { output.isOver = true }
      return output.hasBegun
    }
    if hasBegun { write() } else { submission.queries.respond(responder, Answer.problem(problem)) }
  }

  private func close() {
    output.withLock { output in
      output.isOver = true
      output.stream = nil
      output.answers = OrderedAnswers()
    }
  }

  /// Writes the available answers while the stream is writable; by one thread at a time, and never under the lock,
  /// because the stream may call back.
  private func write() {
    while let (stream, piece, isLast) = next() {
      let result = piece.isEmpty ? HTTPStreamWriteResult.free : stream.write(piece)
      if isLast { return stream.end() }
      let (goesOn, resumes) = output.withLock { output in
        output.isWriting = false
        if result == .full { output.isWritable = output.becameWritable }
        if result == .closed {
          output.isOver = true
          output.stream = nil
        }
        let resumes = output.isPaused && output.end == nil && !output.isOver && hasDrained(output)
        if resumes { output.isPaused = false }
        return (output.isWritable && !output.isOver, resumes)
      }
      if resumes, advance(UnsafeBufferPointer(start: nil, count: 0)) { responder.resumeReceiving() }
      if !goesOn { return }
    }
  }

  /// The next bytes to write, if there are any and no other thread writes.
  private func next() -> (HTTPResponseStream, [UInt8], isLast: Bool)? {
    output.withLock { output in
      guard !output.isWriting, !output.isOver, output.isWritable, let stream = output.stream else { return nil }
      var piece = output.answers.take(atLeast: Self.pieceBytes)
      var isLast = false
      if let end = output.end, output.answers.count == 0, piece.count < Self.pieceBytes {
        isLast = true
        output.isOver = true
        output.stream = nil
        if case .broken(let problem, let fields) = end { piece += Self.lastLine(problem, fields) }
      }
      guard isLast || !piece.isEmpty else { return nil }
      output.isWriting = true
      output.becameWritable = false
      return (stream, piece, isLast)
    }
  }

  /// Gives the reason why the stream ends early; it belongs to no line.
  private static func lastLine(_ problem: Problem, _ fields: [HTTPHeader]) -> [UInt8] {
    var writer = JSONWriter(capacity: 256)
    writer.beginObject()
    writer.key("line")
    writer.null()
    write(problem, to: &writer)
    if !fields.isEmpty {
      writer.key("headers")
      writer.beginObject()
      if let seconds = problem.retryAfter { writer.field("retry-after", "\(seconds)") }
      for field in fields {
        writer.key(field.name)
        writer.string(field.value)
      }
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}

extension BatchStream {
  /// A key of its own for each item, so that a repetition of the batch is recognized call by call.
  static func key(
    _ text: String, item: Int, of bytes: UnsafeRawBufferPointer, _ caller: Caller
  ) throws(Problem) -> IdempotencyKey {
    let own = "\(text)/\(item)"
    guard own.utf8.count <= IdempotencyKey.longest else {
      throw Problem(
        .invalidIdempotencyKey, at: .init(.header, "Idempotency-Key"),
        "is too long: followed by the number of the item (/\(item)), it may have \(IdempotencyKey.longest) characters")
    }
    return IdempotencyKey(
      caller.idempotencyName(own), json: bytes.assumingMemoryBound(to: UInt8.self), former: bytes)
  }

  /// Nothing was submitted.
  private static let emptyBatch = Problem(
    .invalidBatch, detail: "The batch has no calls; at least one is needed.")
}
