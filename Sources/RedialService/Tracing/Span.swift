internal import RedialCore
internal import RedialModel
internal import RedialText

/// A span of OpenTelemetry: a piece of work with a start and an end, within a trace.
struct Span: Sendable {
  /// The kind of work. The numbers are the protocol's.
  enum Kind: Int, Sendable {
    /// Work within the service.
    case `internal` = 1
    /// A request to another service.
    case client = 3
  }

  /// The value of an attribute.
  enum Value: Sendable, Hashable {
    case text(String)
    case number(Int)
  }

  /// An attribute, by OpenTelemetry's semantic conventions or Redial's own under `redial.`.
  struct Attribute: Sendable, Hashable {
    var name: String
    var value: Value

    init(_ name: String, _ text: String) { (self.name, value) = (name, .text(text)) }
    init(_ name: String, _ number: Int) { (self.name, value) = (name, .number(number)) }
  }

  var trace: TraceID
  var id: UInt64
  /// The parent span; nil for the first of its trace.
  var parent: UInt64?
  /// Whether the parent span belongs to another process.
  var hasRemoteParent = false
  var name: String
  var kind: Kind
  var start: Timestamp
  var end: Timestamp
  var attributes: [Attribute] = []
  /// What went wrong; nil if nothing did.
  var error: String?
}

// MARK: Of calls

extension Span {
  /// The span of a call's round: from its acceptance, or from a manual retry, to its end.
  init(of call: CallID, _ spec: CallOutline, _ progress: CallProgress, createdAt: Timestamp, _ context: TraceContext) {
    trace = context.trace
    id = TraceContext.span(of: call, roundAfter: progress.attemptsBefore)
    parent = context.parent
    hasRemoteParent = parent != nil
    name = "redial call"
    kind = .internal
    start = progress.attemptsBefore == 0 ? createdAt : progress.roundStartedAt
    end = progress.finishedAt ?? start
    attributes = [
      Attribute("redial.call.id", call.description), Attribute("redial.call.state", progress.state.visible.rawValue),
      Attribute("redial.call.attempts", progress.attempts - progress.attemptsBefore),
    ]
    addTarget(spec.target)
    if let name = spec.policyName { attributes.append(Attribute("redial.policy", name)) }
    if let key = spec.orderingKey { attributes.append(Attribute("redial.ordering_key", key)) }
    for label in spec.labels { attributes.append(Attribute("redial.label." + label.name, label.value)) }
    if progress.state == .failed {
      let reason = progress.failure.map { "\($0.name)" } ?? "damaged"
      attributes.append(Attribute("error.type", reason))
      error = reason
    }
  }

  /// The target, and its namespace unless that is the default one.
  private mutating func addTarget(_ key: TargetKey) {
    attributes.append(Attribute("redial.target", key.bare))
    let namespace = key.namespace
    if !namespace.isDefault { attributes.append(Attribute("redial.namespace", namespace.name)) }
  }

  /// The span of an attempt, whose id the request sent to the target.
  ///
  /// Attributes are those of the semantic conventions for HTTP client spans, version 1.27 and later, where they are stable.
  ///
  /// - Parameter progress: The call's as of the attempt's end.
  init(
    of attempt: AttemptRecord, _ call: CallID, _ spec: CallOutline, _ progress: CallProgress, _ context: TraceContext,
    _ redaction: Redaction
  ) {
    trace = context.trace
    id = TraceContext.span(of: call, attempt: attempt.number)
    parent = TraceContext.span(of: call, roundAfter: progress.attemptsBefore)
    let method = HTTPSpanMethod(spec.method)
    name = method.name
    kind = .client
    start = attempt.startedAt
    end = attempt.startedAt + attempt.duration
    let server = ServerAddress(url: spec.url)
    attributes = [
      Attribute("http.request.method", method.attribute), Attribute("url.full", redaction.url(spec.url)),
      Attribute("server.address", server.host), Attribute("server.port", server.port),
      Attribute("redial.call.id", call.description), Attribute("redial.attempt.number", attempt.number),
      Attribute("redial.attempt.outcome", "\(attempt.outcome.name)"),
    ]
    addTarget(spec.target)
    if let original = method.original { attributes.append(Attribute("http.request.method_original", original)) }
    if attempt.number > 1 { attributes.append(Attribute("http.request.resend_count", attempt.number - 1)) }
    if let status = attempt.status { attributes.append(Attribute("http.response.status_code", status)) }
    add(attempt.figures)
    add(attempt.decision)
    // For a client's span, statuses from 400 on are errors; redirects are answers.
    if let status = attempt.status, status >= 400 {
      attributes.append(Attribute("error.type", "\(status)"))
      error = ""
    } else if attempt.outcome != .answered {
      attributes.append(Attribute("error.type", attempt.failure?.code ?? "\(attempt.outcome.name)"))
      error = attempt.failure?.message ?? ""
    }
  }

  private mutating func add(_ figures: ExchangeFigures?) {
    guard let figures else { return }
    if let address = figures.remoteAddress {
      attributes.append(Attribute("network.peer.address", address.description))
      attributes.append(Attribute("network.peer.port", figures.remotePort))
    }
    if let version = figures.version { attributes.append(Attribute("network.protocol.version", "\(version.name)")) }
    if figures.redirects > 0 { attributes.append(Attribute("redial.attempt.redirects", figures.redirects)) }
  }

  /// The decision and its reason, as people see it.
  private mutating func add(_ decision: AttemptDecision?) {
    guard let decision else { return }
    if let held = decision.held, held.isExact {
      for part in held.times().parts {
        attributes.append(Attribute("redial.attempt.held_back.\(part.word)", DurationText.format(part.time)))
      }
    }
    attributes.append(Attribute("redial.decision.action", "\(decision.word)"))
    if case .retry(let wait) = decision.action {
      attributes.append(Attribute("redial.decision.after", DurationText.format(wait)))
    }
    if !decision.because.isEmpty { attributes.append(Attribute("redial.decision.because", decision.because)) }
  }
}

/// A method as spans name it: those of RFC 9110 and PATCH by name, and all others as one.
private struct HTTPSpanMethod {
  private static let known: Set<String> = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
  ]

  let name: String
  let attribute: String
  let original: String?

  init(_ method: String) {
    let isKnown = Self.known.contains(method)
    name = isKnown ? method : "HTTP"
    attribute = isKnown ? method : "_OTHER"
    original = isKnown ? nil : method
  }
}

/// Host and port of an origin.
struct ServerAddress: Sendable, Hashable {
  var host: String
  var port: Int

  /// - Parameter url: A URL of an accepted call, so that it has an origin.
  init(url: String) {
    let origin = (try? TargetURL(url))?.origin ?? url
    let isSecure = origin.hasPrefix("https:")
    (host, port) = (String(origin.dropFirst(isSecure ? 8 : 7)), isSecure ? 443 : 80)
    let end = host.lastIndex(of: "]").map { host.index(after: $0) } ?? host.firstIndex(of: ":") ?? host.endIndex
    if end < host.endIndex, let number = Int(host[host.index(after: end)...]) { port = number }
    host = String(host[..<end])
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
  }
}
