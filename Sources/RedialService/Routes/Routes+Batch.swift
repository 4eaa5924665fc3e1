internal import HTTPServer
internal import RedialEngine
internal import RedialModel

/// Many calls submitted at once. Each is accepted or refused on its own.
extension Routes {
  /// Accepts a JSON array of descriptors, or one per line (NDJSON) if it is not processed as a stream.
  func submitBatch(
    _ request: borrowing HTTPRequest, _ responder: HTTPResponder, _ caller: Caller
  ) throws(Problem) {
    try noParameters(request.query)
    let form = try batchForm(request.header("content-type"))
    let body = request.body.bindMemory(to: UInt8.self)
    let items = form == .lines ? Self.lines(of: body) : try Self.elements(of: body)
    guard !items.isEmpty, items.count <= maxBatch else {
      throw Problem(
        status: items.isEmpty ? 422 : 413, code: "invalidBatch", title: "The batch cannot be accepted",
        detail: "It has \(items.count) calls; 1 to \(maxBatch) are accepted at once.")
    }
    let (keyText, limits) = (try keyText(of: request), try limits(for: caller, request))
    let answer = BatchAnswer(count: items.count, form: form) { [runtime] in runtime.respond(responder, $0) }
    var events: [EngineEvent] = []
    events.reserveCapacity(items.count)
    for (index, item) in items.enumerated() {
      do throws(Problem) {
        let text = UnsafeBufferPointer(rebasing: body[item])
        var descriptor = try CallDescriptor.read(text, limits: limits)
        if let keyText { descriptor.key = try Self.key(keyText, item: index, of: UnsafeRawBufferPointer(text), caller) }
        events.append(.submit(descriptor, runtime.expect(responder, for: .batch(answer, index: index))))
      } catch {
        runtime.metrics.count { $0.refused += 1 }
        answer.answer(index, error)
      }
    }
    runtime.post(events)
  }

  private func batchForm(_ type: String?) throws(Problem) -> BatchAnswer.Form {
    if Self.isLines(type) { return .lines }
    try checkContentType(type)
    return .json
  }

  /// Each item has its own key, so that a repeated batch is recognized call by call.
  static func key(
    _ text: String, item: Int, of bytes: UnsafeRawBufferPointer, _ caller: Caller
  ) throws(Problem) -> IdempotencyKey {
    let own = "\(text)/\(item)"
    guard own.utf8.count <= IdempotencyKey.longest else {
      throw Problem(
        status: 400, code: "invalidIdempotencyKey", title: "The Idempotency-Key is not valid",
        detail: "Followed by the number of the item, it is longer than \(IdempotencyKey.longest) characters.")
    }
    return IdempotencyKey(text: caller.qualified(own), fingerprint: SHA256Digest.of(bytes))
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
      throw Problem(
        status: 400, code: "invalidJSON", title: "The request body is not a JSON array of call descriptors",
        detail: "At byte \(error.offset): \(error.reason).",
        errors: [.init(pointer: "", detail: "at byte \(error.offset): \(error.reason)")])
    }
    return items
  }
}
