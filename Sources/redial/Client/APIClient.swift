import Glibc
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
  private static let timeout = Duration.seconds(30)
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
        + "[REDIAL_NAMESPACE; the key's own]."),
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

    /// The body as JSON; null if it is not JSON.
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }

    /// - Throws: The text of a problem.
    func requireSuccess() throws(CommandError) {
      guard status >= 400 else { return }
      let problem = json
      var message = problem["detail"].escapedText ?? "the service answered with status \(status)"
      for fault in problem["errors"].elements {
        message += "\n  \(fault["pointer"].escapedText ?? ""): \(fault["detail"].escapedText ?? "")"
      }
      throw CommandError(code: .refused, message: message, isPassing: status == 503)
    }
  }

  /// Sends a request to the service.
  ///
  /// - Throws: If the service cannot be reached, or answers with a problem.
  func request(
    _ method: String, _ path: String, json: [UInt8]? = nil, headers: [HeaderField] = []
  ) throws(CommandError) -> Answer {
    let answer = try exchange(method, path, json: json, headers: headers)
    try answer.requireSuccess()
    return answer
  }

  /// Requests content that arrives in pieces, until it ends.
  ///
  /// - Parameter onPiece: Receives a piece, and returns whether to continue.
  /// - Returns: Whether the service ended it normally; false if `onPiece` did, or the connection broke.
  /// - Throws: If the service cannot be reached, or answers with a problem.
  func stream(
    _ path: String, headers: [HeaderField], _ onPiece: @escaping (UnsafeRawBufferPointer) -> Bool
  ) throws(CommandError) -> Bool {
    var hasBegun = false
    let result = BlockingHTTPClient.perform(
      TransportRequest(
        id: 0, url: origin + path, method: "GET", headers: headers + credentials, timeout: .seconds(1_000_000),
        captureLimit: Self.maximumAnswer), unixSocket: unixSocket
    ) { piece in
      hasBegun = true
      return onPiece(piece)
    }
    if hasBegun { return result.outcome == .answered }
    try Answer(status: try status(of: result), body: result.response?.body ?? []).requireSuccess()
    return true
  }

  private func status(of result: AttemptResult) throws(CommandError) -> Int {
    if let status = result.status, result.outcome == .answered { return status }
    let why = PlainText.escaped(result.failure?.message ?? "no answer")
    throw CommandError(
      code: .unreachable,
      message: "cannot reach the service at \(base): \(why)\nIs it running? `redial serve` starts it.")
  }

  /// Sends a request to the service, whatever its answer is.
  ///
  /// - Parameter headers: Further fields; a content type among them replaces JSON's.
  func exchange(
    _ method: String, _ path: String, json: [UInt8]? = nil, headers: [HeaderField] = []
  ) throws(CommandError) -> Answer {
    var headers = headers + credentials
    if json != nil, !headers.contains(where: { $0.name == "content-type" }) {
      headers.append(HeaderField("content-type", "application/json"))
    }
    let result = BlockingHTTPClient.perform(
      TransportRequest(
        id: 0, url: origin + path, method: method, headers: headers, body: json ?? [], timeout: Self.timeout,
        captureLimit: Self.maximumAnswer), unixSocket: unixSocket)
    return Answer(status: try status(of: result), body: result.response?.body ?? [])
  }
}

/// The process's environment.
enum Environment {
  static func value(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  static var all: [String: String] {
    var variables: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
      entry += 1
    }
    return variables
  }
}
