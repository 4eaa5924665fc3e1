internal import HTTPServer
internal import RedialEngine
internal import RedialModel
internal import RedialJSON

/// The ways to submit calls that describe each call in JSON: one, or many at once.
struct SubmissionRoutes: RouteGroup {
  let submission: Submission
  let keys: KeyRing
  /// Maximum calls of a batch, and lines of a stream in process.
  let maxBatch: Int
  let maxLineBytes: Int

  var routes: [Route] {
    [
      Route(.post, "/v1/calls", .scope(.submit), isSubmission: true, serve: submit),
      Route(
        .post, "/v1/calls/batch", .scope(.submit), isSubmission: true,
        receiving: Route.Receiving(takes: isStream, receive: receiveBatch), serve: submitBatch),
    ]
  }

  private func submit(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let isDryRun = try request.isDryRun()
    try request.checkJSON()
    let keyText = try request.idempotencyKey()
    let limits = try submission.limits(for: exchange.caller, request)
    if isDryRun {
      let descriptor = try CallDescriptor.read(request.content, limits: limits)
      return submission.showPlan(of: descriptor, exchange.responder, exchange.caller)
    }
    let key = keyText.map {
      IdempotencyKey(exchange.caller.idempotencyName($0), json: request.content, former: request.body)
    }
    let wait = submission.preferredWait(request, of: exchange.caller)
    do throws(Problem) {
      var descriptor = try CallDescriptor.read(request.content, limits: limits)
      descriptor.key = key
      submission.submit(descriptor, waiting: wait, exchange.responder, atEndOfIteration: true)
    } catch {
      try submission.refuse(error, unlessRepeatedUnder: key, waiting: wait, exchange.responder)
    }
  }

  // MARK: Many calls. Each is accepted or refused on its own.

  /// Accepts a JSON array of descriptors, or one descriptor per line (NDJSON) in a body that was collected.
  private func submitBatch(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let form = try batchForm(request)
    let body = request.content
    let items = form == .lines ? Self.lines(of: body) : try Self.elements(of: body)
    guard !items.isEmpty, items.count <= maxBatch else {
      throw Problem(
        .invalidBatch, status: items.isEmpty ? 422 : 413,
        detail:
          items.isEmpty
          ? "The batch has no calls. Send at least one."
          : "The batch has \(items.count) calls; 1 to \(maxBatch) are accepted at once. More of them can be sent "
            + "in lines, with Content-Type: application/x-ndjson.")
    }
    let caller = exchange.caller
    let (keyText, limits) = (try request.idempotencyKey(), try submission.limits(for: caller, request))
    let answer = BatchAnswer(count: items.count, form: form, to: exchange.responder) {
      submission.queries.respond(exchange.responder, $0)
    }
    var events: [EngineEvent] = []
    events.reserveCapacity(items.count)
    for (index, item) in items.enumerated() {
      let text = UnsafeBufferPointer(rebasing: body[item])
      var key: IdempotencyKey?
      do throws(Problem) {
        if let keyText {
          key = try BatchStream.key(keyText, item: index, of: UnsafeRawBufferPointer(text), caller)
        }
        var descriptor = try CallDescriptor.read(text, limits: limits)
        descriptor.key = key
        events.append(submission.intake.event(descriptor, of: .item(answer, index: index)))
      } catch {
        if let key {
          submission.intake.refuse(error, unlessRepeatedUnder: key, .item(answer, index: index))
        } else {
          submission.metrics.count { $0.refused += 1 }
          answer.answer(index, error)
        }
      }
    }
    submission.engine.post(events)
  }

  private func batchForm(_ request: borrowing HTTPRequest) throws(Problem) -> BatchAnswer.Form {
    if JSONLines.isType(request.header("content-type")) { return .lines }
    try request.checkJSON(orElse: " Or send a descriptor per line, with Content-Type: application/x-ndjson.")
    return .json
  }

  private static func lines(of body: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
    body.indices.split(omittingEmptySubsequences: true) { body[$0] == UInt8(ascii: "\n") }
      .map { $0.startIndex..<$0.endIndex }
      .filter { line in line.contains { body[$0] != 0x20 && body[$0] != 0x09 && body[$0] != 0x0D } }
  }

  private static func elements(of body: UnsafeBufferPointer<UInt8>) throws(Problem) -> [Range<Int>] {
    var reader = JSONReader(body)
    var items: [Range<Int>] = []
    do throws(JSONError) {
      try reader.beginArray()
      while try reader.nextElement() { items.append(try reader.skipValue()) }
      try reader.finish()
    } catch {
      throw Problem.invalidJSON(error, expected: "a JSON array of call descriptors")
    }
    return items
  }

  // MARK: A batch of lines that is neither collected nor bounded as a whole

  /// A compressed batch, and a JSON array, are collected first, within the limit of a request.
  private func isStream(_ request: borrowing HTTPRequest) -> Bool {
    JSONLines.isType(request.header("content-type")) && request.header("content-encoding") == nil
  }

  private func receiveBatch(
    _ request: borrowing HTTPRequest, _ exchange: Exchange
  ) throws(Problem) -> any HTTPBodyReceiver {
    try request.checkNoParameters()
    let caller = exchange.caller
    let options = BatchStream.Options(
      caller: caller, key: try request.idempotencyKey(), isMinimal: Preferences(of: request).isMinimal,
      mayGoOn: { keys.refusal(of: caller) }, charge: { keys.charge(caller, at: submission.clock.now) })
    return BatchStream(
      submission, exchange.responder, try submission.limits(for: caller, request),
      BatchStream.Limits(lines: maxBatch, bytes: maxLineBytes), options)
  }
}
