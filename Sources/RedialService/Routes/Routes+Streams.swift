internal import HTTPServer
internal import RedialModel

/// Bodies and answers that are neither collected nor limited as a whole.
extension Routes {
  /// Processes a batch of lines as it arrives. A compressed one, and a JSON array, are collected first, within the
  /// limit of a request.
  func receiver(
    for request: borrowing HTTPRequest, _ responder: HTTPResponder
  ) -> (any HTTPBodyReceiver)? {
    // Short enough that other requests pay only for a comparison.
    guard request.path == "/v1/calls/batch", Self.isLines(request.header("content-type")),
      request.header("content-encoding") == nil, request.method == .post
    else { return nil }
    guard let (responder, caller) = admit(request, responder, to: .submitBatch) else { return nil }
    do throws(Problem) {
      try noParameters(request.query)
      let options = BatchStream.Options(
        caller: caller, key: try keyText(of: request), isMinimal: Preferences(of: request).isMinimal,
        mayGoOn: { [keys] in keys.refusal(of: caller) }, charge: charge(for: caller))
      return BatchStream(
        runtime, responder, try limits(for: caller, request), BatchStream.Limits(lines: maxBatch, bytes: maxLineBytes),
        options)
    } catch {
      runtime.metrics.count { $0.refused += 1 }
      runtime.respond(responder, Answer.problem(error))
      return nil
    }
  }

  /// Counts one more request against the quota of a caller's key: a stream costs as many as the same calls would
  /// without one.
  func charge(for caller: Caller) -> @Sendable () -> (problem: Problem, fields: [HTTPHeader])? {
    { [keys, runtime] in caller.keyID.flatMap { keys.charge(ofKey: $0, at: runtime.clock.now) } }
  }

  /// Whether a media type is one JSON value per line.
  static func isLines(_ type: String?) -> Bool {
    let essence = type?.prefix { $0 != ";" }.lowercased().filter { $0 != " " } ?? ""
    return ["application/x-ndjson", "application/ndjson", "application/jsonl"].contains(essence)
  }

  /// Whether a client prefers a list as lines.
  static func wantsLines(_ accept: String?) -> Bool {
    guard let accept else { return false }
    return accept.split(separator: ",").contains { isLines(String($0)) }
  }

  /// Nothing was submitted.
  static let emptyBatch = Problem(
    status: 422, code: "invalidBatch", title: "The batch cannot be accepted",
    detail: "It has no calls; at least one is needed.")
}
