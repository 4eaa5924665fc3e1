internal import HTTPServer
internal import RedialModel

/// Checks that many routes make.
extension HTTPRequest {
  /// Refuses a query.
  func checkNoParameters() throws(Problem) {
    guard let query else { return }
    try QueryParameters(query).finish()
  }

  /// Refuses a body that is not JSON: a browser sends a form or plain text to any address without asking, but not JSON.
  ///
  /// - Parameter other: A sentence about what else can be sent.
  func checkJSON(orElse other: String = "") throws(Problem) {
    // The spelling of nearly every client.
    if header("content-type", is: "application/json") { return }
    let essence = header("content-type")?.prefix { $0 != ";" }.lowercased().filter { $0 != " " } ?? ""
    guard essence == "application/json" || essence.hasSuffix("+json") else {
      throw Problem(
        .unsupportedMediaType,
        detail:
          "\(header("content-type").map { "The body is declared as \(PlainText.escaped($0))" } ?? "The body is not declared"). "
          + "Send JSON, with Content-Type: application/json (curl --json does).\(other)",
        errors: [
          .init(
            header: "Content-Type",
            detail: "must be application/json\(other.isEmpty ? "" : " or application/x-ndjson")")
        ])
    }
  }

  /// The body, as bytes.
  var content: UnsafeBufferPointer<UInt8> { body.bindMemory(to: UInt8.self) }

  /// The text of the Idempotency-Key; nil without one.
  func idempotencyKey() throws(Problem) -> String? {
    guard let field = header("idempotency-key") else { return nil }
    guard let text = IdempotencyKey.parse(field) else {
      throw Problem(
        .invalidIdempotencyKey, at: .init(.header, "Idempotency-Key"),
        "must be a string of 1 to \(IdempotencyKey.longest) visible ASCII characters, quoted or not")
    }
    return text
  }

  /// Whether the client asks only for a dry run.
  func isDryRun() throws(Problem) -> Bool {
    guard let query else { return false }
    var parameters = try QueryParameters(query)
    let isDryRun = try parameters.takeFlag("dryRun")
    try parameters.finish()
    return isDryRun
  }

  /// Whether the client prefers SVG to JSON.
  var wantsPicture: Bool { AcceptedTypes(list("accept")).prefers(["image/svg+xml"]) }

  /// The person and the reason of a command: from the body, or the name from the field `Redial-Actor`.
  func attribution() throws(Problem) -> Attribution {
    var attribution = Attribution()
    if !body.isEmpty {
      try checkJSON()
      attribution = try Attribution.read(content)
    }
    guard let actor = header("redial-actor"), !actor.isEmpty else { return attribution }
    // The limit is checked even if the body's name is used: a client that sends the field expects it to have an
    // effect.
    guard actor.utf8.count <= Attribution.longestName else {
      throw Problem(
        .invalidAttribution, at: .init(.header, "Redial-Actor"), "has more than \(Attribution.longestName) bytes")
    }
    guard !PlainText.hasControls(actor) else {
      throw Problem(.invalidAttribution, at: .init(.header, "Redial-Actor"), "must have no control characters")
    }
    if attribution.by == nil { attribution.by = actor }
    return attribution
  }
}

/// The media type of one JSON value per line (NDJSON).
enum JSONLines {
  private static let types = ["application/x-ndjson", "application/ndjson", "application/jsonl"]

  /// Whether a media type is that.
  static func isType(_ type: String?) -> Bool {
    let essence = type?.prefix { $0 != ";" }.lowercased().filter { $0 != " " } ?? ""
    return types.contains(essence)
  }

  /// Whether a client prefers a list as lines.
  static func isWanted(_ accept: String?) -> Bool { AcceptedTypes(accept).prefers(types, winsTies: true) }
}
