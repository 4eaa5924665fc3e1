import RedialText

internal import CDocuments
internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialJSON

/// The service's answers, as HTTP responses.
enum Answer {
  // MARK: Calls

  /// 202: the call is on disk.
  static func accepted(_ record: CallRecord, wait: CallView.Wait?, _ redaction: Redaction) -> HTTPResponse {
    var writer = JSONWriter(capacity: 768)
    CallView.write(record, attempts: [], wait: wait, redaction: redaction, withWarnings: true, to: &writer)
    return HTTPResponse(
      status: 202,
      headers: [
        HTTPHeader("content-type", "application/json"),
        HTTPHeader("location", record.id.description(after: "/v1/calls/")),
      ],
      body: writer.bytes)
  }

  /// 202: a command is done, and the call cannot be read now. It is shown as the engine knows it.
  static func unread(
    _ record: CallRecord, wait: CallView.Wait?, _ redaction: Redaction, repetition: IdempotencyStatus? = nil
  ) -> HTTPResponse {
    var writer = JSONWriter(capacity: 768)
    CallView.write(record, attempts: [], wait: wait, redaction: redaction, to: &writer)
    return json(202, writer, [HTTPHeader("location", "/v1/calls/\(record.id)")] + fields(of: repetition))
  }

  /// 202: the call was accepted before, under the same key.
  static func repeated(
    _ stored: StoredCall, _ repetition: IdempotencyStatus, wait: CallView.Wait?, _ redaction: Redaction
  ) -> HTTPResponse {
    var writer = JSONWriter(capacity: 2048)
    CallView.write(stored.record, attempts: stored.attempts, wait: wait, redaction: redaction, to: &writer)
    return json(202, writer, [HTTPHeader("location", "/v1/calls/\(stored.record.id)")] + fields(of: repetition))
  }

  private static func fields(of repetition: IdempotencyStatus?) -> [HTTPHeader] {
    repetition.map { [HTTPHeader("idempotency-status", $0.rawValue)] } ?? []
  }

  /// 200: a call.
  ///
  /// - Parameters:
  ///   - applied: The client's preference to wait, which was fulfilled (RFC 7240 §3).
  ///   - repetition: What the submission has done, if the call was accepted before under its key.
  ///   - request: The call's request, if the client wants it.
  static func call(
    _ stored: StoredCall, wait: CallView.Wait?, _ redaction: Redaction, applied: Duration? = nil,
    repetition: IdempotencyStatus? = nil, request: RequestView? = nil
  ) -> HTTPResponse {
    var writer = JSONWriter(capacity: 2048)
    CallView.write(
      stored.record, attempts: stored.attempts, wait: wait, redaction: redaction, withPolicy: true, request: request,
      to: &writer)
    guard let applied else { return json(200, writer, [HTTPHeader("etag", tag(of: writer.bytes))]) }
    return json(
      200, writer,
      [
        HTTPHeader("preference-applied", "wait=\(applied.wholeMicroseconds / 1_000_000)"),
        HTTPHeader("content-location", "/v1/calls/\(stored.record.id)"),
      ] + fields(of: repetition))
  }

  /// A validator of the shown data, from every byte of it: it changes exactly when the shown data changes.
  ///
  /// It is weak, because the same data may be sent compressed (RFC 9110 §8.8.1).
  private static func tag(of bytes: [UInt8]) -> String {
    let digest = bytes.withUnsafeBytes { SHA256Digest.of($0) }
    return "W/\"\(Base64.encode(Array(digest.prefix(12))))\""
  }

  /// 200: all attempts of a call, with the stored parts of their responses, with or without the bodies.
  static func attempts(
    _ attempts: [AttemptRecord], _ page: ListPage, of call: CallRecord, withBodies: Bool
  ) throws(Problem) -> HTTPResponse {
    let all = Array(zip(attempts, WaitTimes.before(attempts, of: call)))
    return try list(all, page, .byNumber, by: { "\($0.0.number)" }) { attempt, writer in
      CallView.write(
        attempt.0, after: attempt.1, withResponse: true, withBody: withBodies, redact: call.spec.redact, to: &writer)
    }
  }

  /// 200: a page of calls, and the start of the next.
  static func calls(
    _ page: [StoredCall], next: CallID?, _ redaction: Redaction, wait: (StoredCall) -> CallView.Wait?
  ) -> HTTPResponse {
    list(page, next: next?.description) { stored, writer in
      CallView.write(
        stored.record, attempts: [], wait: wait(stored), detail: .summary, redaction: redaction, last: stored.last,
        damage: stored.damage, to: &writer)
    }
  }

  // MARK: Targets

  /// 200: every target that the service has in memory, by key.
  static func targets(_ targets: [TargetSnapshot], next: String?) -> HTTPResponse {
    list(targets, next: next) { $0.write(to: &$1) }
  }

  /// 200: one target.
  static func target(_ target: TargetSnapshot) -> HTTPResponse {
    var writer = JSONWriter()
    target.write(to: &writer)
    return json(200, writer)
  }

  // MARK: Others

  /// Plain text.
  static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [HTTPHeader("content-type", "text/plain; charset=utf-8")], body: Array(text.utf8))
  }

  /// 200 or 503: whether calls are accepted; a 503 without a body for clients without a key if one is required.
  ///
  /// - Parameter reason: Why they are not accepted, as a sentence; nil while they are.
  static func readiness(_ reason: String?, isBare: Bool) -> HTTPResponse {
    guard let reason else { return text(200, "ready\n") }
    var response = problem(Problem(.notReady, detail: reason, retryAfter: 2))
    if isBare {
      response.headers.removeAll { $0.name == "content-type" }
      response.body = []
    }
    return response
  }

  /// 200: one JSON value.
  static func json(capacity: Int, _ write: (inout JSONWriter) -> Void) -> HTTPResponse {
    var writer = JSONWriter(capacity: capacity)
    write(&writer)
    return json(200, writer)
  }

  /// 200: a picture.
  static func picture(_ svg: String) -> HTTPResponse {
    HTTPResponse(status: 200, headers: [HTTPHeader("content-type", "image/svg+xml")], body: Array(svg.utf8))
  }

  static func metrics(_ families: [MetricFamily], _ format: MetricFormat) -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: [HTTPHeader("content-type", format.contentType)], body: format.encode(families))
  }

  /// 200: the contract.
  ///
  /// - Parameter base: The address that the client used, from a trusted proxy; nil or empty if unknown.
  static func contract(below base: String?) -> HTTPResponse {
    var response = HTTPResponse(
      status: 200, headers: [HTTPHeader("content-type", "application/yaml")], body: contractText)
    if let base, !base.isEmpty, let server = contractServer { response.body.replaceSubrange(server, with: base.utf8) }
    return response
  }

  private static let contractText = Document.bytes(of: redial_openapi())

  /// The position of the server's URL in the contract.
  private static let contractServer: Range<Int>? = {
    let (text, url) = (String(decoding: contractText, as: UTF8.self), "http://127.0.0.1:8080")
    guard let found = text.firstRange(of: "servers:\n  - url: " + url) else { return nil }
    let end = text.utf8.distance(from: text.startIndex, to: found.upperBound)
    return end - url.utf8.count..<end
  }()

  /// 200: the list of pages for assistants. Its links lead from there, so they hold below the path of a proxy, too.
  static let pageList = HTTPResponse(
    status: 200, headers: [HTTPHeader("content-type", "text/plain; charset=utf-8")],
    body: Document.bytes(of: redial_page_list()))

  static func problem(_ problem: Problem, _ more: [HTTPHeader] = []) -> HTTPResponse {
    var headers = [HTTPHeader("content-type", "application/problem+json")] + more
    if problem.status == 401 { headers.append(KeyRing.challenge(of: problem)) }
    if let seconds = problem.retryAfter { headers.append(HTTPHeader("retry-after", "\(seconds)")) }
    return HTTPResponse(status: problem.status, headers: headers, body: problem.json)
  }

  /// A refusal by the server itself, as a problem.
  static func refusal(_ status: Int, _ reason: String) -> HTTPResponse {
    problem(problem(ofRefusal: status, reason))
  }

  /// The problem that a refusal by the server itself is.
  static func problem(ofRefusal status: Int, _ reason: String) -> Problem {
    let code: ProblemCode =
      switch status {
      case 412: .preconditionFailed
      // The only content field that the server itself checks is the content coding.
      case 415: .unsupportedContentCoding
      default: .badRequest
      }
    // The server does not know the name of its limit.
    let detail = reason.replacing("accepts. Send less.", with: "accepts. Send less, or raise maxBodyBytes.")
    return Problem(code, status: status, detail: detail)
  }

  /// One JSON value.
  static func json(_ status: Int, _ writer: borrowing JSONWriter, _ more: [HTTPHeader] = []) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [HTTPHeader("content-type", "application/json")] + more, body: writer.bytes)
  }

  // MARK: Problems

  static let leaderSilent = Problem(
    .leaderUnreachable,
    detail: "Changes of what belongs to no target are made by one of the instances, which did not answer. "
      + "It may have made the change. Look whether it has, or try again.", retryAfter: 1)

  /// Why a change was not made, or may not have been.
  static func notStored(_ kind: StoreError.Kind?) -> Problem {
    switch kind {
    case .full:
      Problem(
        .storageFull,
        detail:
          "\(Refusal.storeFull.trouble) The change could not be written, and was not made. Free space, then try again.",
        retryAfter: 5)
    case .outcomeUnknown:
      .outcomeUnknown(
        "The connection to the store broke during the change, and the store cannot be reached. The change may have "
          + "been made. Look whether it was, or try again. A new API key or webhook endpoint is removed again, because "
          + "nobody has its secret.")
    default:
      Problem(
        .storageUnavailable,
        detail: "\(Refusal.storeFailed.trouble) The change was not made; the log says why. Try again.", retryAfter: 2)
    }
  }

  static let storeUnreadable = Problem(
    .storageUnavailable, detail: "The store cannot be read. The query failed; the log says why. Try again.",
    retryAfter: 2)
}
