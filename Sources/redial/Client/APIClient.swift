import HTTPServer
import RedialCore
import RedialModel
import RedialTransport

/// A client of a running service.
struct APIClient: Sendable {
  /// The service's URL for people, without credentials.
  let base: String
  /// The prefix of the API's paths.
  private let origin: String
  private let unixSocket: String?
  /// The API key and the namespace, if there are any, as header fields.
  private var credentials: [HeaderField] = []

  /// The URL of a service that was started without settings.
  static let defaultURL = "http://127.0.0.1:8080"
  /// The longest wait for an answer.
  static let timeout = Duration.seconds(30)
  private static let maximumAnswer = 256 << 20

  /// Options of every command that uses the service.
  static let options = [
    Command.Option(
      name: "--server", form: "URL",
      summary: "URL of the Redial service, or unix:PATH of its socket [REDIAL_SERVER; \(defaultURL)].",
      oldName: "--url"),
    Command.Option(
      name: "--api-key", form: "KEY",
      summary: "API key. Other users of this machine can see it; REDIAL_API_KEY is safer [REDIAL_API_KEY].",
      oldName: "--key"),
    Command.Option(
      name: "--namespace", form: "NAME",
      summary: "Namespace to act in; only the adminKey may choose one, or anybody where no key is needed "
        + "[REDIAL_NAMESPACE; the key's own].", values: .namespace),
  ]

  /// The service's URL from the environment.
  static var serverOfEnvironment: String? {
    Environment.value("REDIAL_SERVER").flatMap { $0.isEmpty ? nil : $0 }
  }

  /// - Parameter actsInNamespace: Whether the option selects the namespace of the request, and not its subject.
  init(_ arguments: Arguments, actsInNamespace: Bool = true) {
    let url = arguments.value("--server") ?? Self.serverOfEnvironment ?? Self.defaultURL
    let key = arguments.value("--api-key") ?? Environment.value("REDIAL_API_KEY")
    self.init(
      base: url, key: key,
      namespace: actsInNamespace ? arguments.value("--namespace") ?? Environment.value("REDIAL_NAMESPACE") : nil)
    if key?.isEmpty == false, let warning = Self.warning(ofKeySentTo: url) { Terminal.error(warning) }
  }

  init(base: String, key: String? = nil, namespace: String? = nil) {
    if let key, !key.isEmpty { credentials = [HeaderField("authorization", "Bearer " + key)] }
    if let namespace, !namespace.isEmpty { credentials.append(HeaderField("redial-namespace", namespace)) }
    if case .unix(let path) = ListenAddress(base) {
      (self.base, origin, unixSocket) = (base, "http://localhost", path)
    } else {
      let origin = base.hasSuffix("/") ? String(base.dropLast()) : base
      (self.base, self.origin, unixSocket) = (Redaction.place(origin), origin, nil)
    }
  }

  /// The URL of a service that listens there, on this machine.
  init(listening address: ListenAddress) {
    switch address {
    case .tcp("0.0.0.0", let port): self.init(base: "http://127.0.0.1:\(port)")
    case .tcp("::", let port): self.init(base: "http://[::1]:\(port)")
    case .tcp: self.init(base: "http://\(address)")
    case .unix, .inherited: self.init(base: address.description)
    }
  }

  /// An answer of the service.
  struct Answer: Sendable {
    var status: Int
    var body: [UInt8]
    /// Where a redirect leads.
    var location: String?
    /// Whether the submission is a repetition: `repeated`, or `rerun`; nil for a new one.
    var repetition: String?
    /// The time of the service, to the second.
    var date: Timestamp?

    /// The body as JSON; null if it is not JSON.
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }

    /// - Throws: The text of a problem; or that something else than a service answered.
    func requireSuccess(from base: String) throws(CommandError) {
      guard status >= 400 else { return try requireService(at: base) }
      let message = json.problemText ?? "the service answered with status \(status)"
      // A proxy answers with 502 and 504 while the service restarts.
      throw CommandError(code: .refused, message: message, isPassing: [502, 503, 504].contains(status))
    }

    /// The service answers with an object of JSON, several of them in lines, or nothing, and never with a redirect.
    private func requireService(at base: String) throws(CommandError) {
      let first = body.first { !" \t\r\n".utf8.contains($0) }
      guard !(200...299).contains(status) || first ?? UInt8(ascii: "{") != UInt8(ascii: "{") else { return }
      var message = "\(base) does not answer like Redial: status \(status)"
      if let location { message += ", a redirect to \(PlainText.escaped(Redaction.place(location)))" }
      throw CommandError(
        code: .unreachable, message: message + "\nIs the URL right? A proxy or another program may have answered.")
    }
  }

  /// Sends a request to the service.
  ///
  /// - Throws: If the service cannot be reached, or answers with a problem.
  func request(
    _ method: String, _ path: String, json: [UInt8]? = nil, headers: [HeaderField] = [], within limit: Duration? = nil
  ) throws(CommandError) -> Answer {
    let answer = try exchange(method, path, json: json, headers: headers, within: limit)
    try answer.requireSuccess(from: base)
    return answer
  }

  /// Requests content that arrives in pieces, until it ends.
  ///
  /// - Parameters:
  ///   - silence: After that long without a byte the connection counts as broken, in whole seconds.
  ///   - onPiece: Receives a piece, and returns whether to continue.
  /// - Returns: Whether the service ended it normally; false if `onPiece` did, or the connection broke.
  /// - Throws: If the service cannot be reached, or answers with a problem.
  func stream(
    _ path: String, headers: [HeaderField], silence: Duration, _ onPiece: @escaping (UnsafeRawBufferPointer) -> Bool
  ) throws(CommandError) -> Bool {
    var hasBegun = false
    let result = BlockingHTTPClient.perform(
      TransportRequest(
        id: 0, url: origin + path, method: "GET", headers: headers + credentials, timeout: .seconds(1_000_000),
        captureLimit: Self.maximumAnswer), unixSocket: unixSocket, silence: silence
    ) { piece in
      hasBegun = true
      return onPiece(piece)
    }
    if hasBegun { return result.outcome == .answered }
    try answer(of: result, to: "GET").requireSuccess(from: base)
    return true
  }

  private func answer(of result: AttemptResult, to method: String) throws(CommandError) -> Answer {
    if let status = result.status, result.outcome == .answered {
      let head = result.response?.head
      return Answer(
        status: status, body: result.response?.body ?? [],
        location: head?.first("location").map { String(decoding: $0, as: UTF8.self) },
        repetition: head?.first("idempotency-status").map { String(decoding: $0, as: UTF8.self) },
        date: head?.first("date").flatMap { HTTPDate.parse($0, at: WallClock.now) })
    }
    let why = PlainText.escaped(result.failure?.message ?? "no answer")
    guard result.outcome == .maybeSent, method != "GET" else {
      throw CommandError(
        code: .unreachable,
        message: "cannot reach the service at \(base): \(why)\nIs it running? `redial serve` starts it.")
    }
    throw CommandError(
      code: .unreachable, message: "no answer from the service at \(base): \(why)\nIt may have accepted the request.")
  }

  /// Sends a request to the service, whatever its answer is.
  ///
  /// - Parameters:
  ///   - headers: Further fields; a content type among them replaces JSON's.
  ///   - limit: The longest time to wait for the answer, if shorter than usual.
  func exchange(
    _ method: String, _ path: String, json: [UInt8]? = nil, headers: [HeaderField] = [], within limit: Duration? = nil
  ) throws(CommandError) -> Answer {
    var headers = headers + credentials
    if json != nil, !headers.contains(where: { $0.name == "content-type" }) {
      headers.append(HeaderField("content-type", "application/json"))
    }
    let result = BlockingHTTPClient.perform(
      TransportRequest(
        id: 0, url: origin + path, method: method, headers: headers, body: json ?? [],
        timeout: min(Self.timeout, limit ?? Self.timeout), captureLimit: Self.maximumAnswer), unixSocket: unixSocket)
    return try answer(of: result, to: method)
  }
}
