import Glibc
import HTTPServer
import RedialCore
import RedialModel
import RedialTransport

/// Talks to a running service.
struct APIClient: Sendable {
  /// Where the service is, as people say it.
  let base: String
  /// What the paths of the API follow.
  private let origin: String
  private let unixSocket: String?

  /// Where a service is that was started without settings.
  static let defaultURL = "http://127.0.0.1:8080"
  private static let timeout = Duration.seconds(30)
  private static let maximumAnswer = 256 << 20

  /// Options that every command has which talks to the service.
  static let options = [
    Command.Option(
      name: "--url", form: "URL", summary: "Where the service is; unix:PATH too [REDIAL_URL, or \(defaultURL)].")
  ]

  init(_ arguments: Arguments) {
    let url = arguments.value("--url") ?? Environment.value("REDIAL_URL") ?? Self.defaultURL
    self.init(base: url)
  }

  init(base: String) {
    if case .unix(let path) = ListenAddress(base) {
      (self.base, origin, unixSocket) = (base, "http://localhost", path)
    } else {
      let origin = base.hasSuffix("/") ? String(base.dropLast()) : base
      (self.base, self.origin, unixSocket) = (origin, origin, nil)
    }
  }

  /// Of the service that listens there, on this machine.
  init(listening address: ListenAddress) {
    switch address {
    case .tcp("0.0.0.0", let port): self.init(base: "http://127.0.0.1:\(port)")
    case .tcp("::", let port): self.init(base: "http://[::1]:\(port)")
    case .tcp: self.init(base: "http://\(address)")
    case .unix, .inherited: self.init(base: address.description)
    }
  }

  /// An answer, as it came.
  struct Answer: Sendable {
    var status: Int
    var body: [UInt8]

    /// The body as JSON; null when it is none.
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
  }

  /// Asks the service.
  ///
  /// - Throws: When it cannot be reached, or answers with a problem.
  func request(_ method: String, _ path: String, json: [UInt8]? = nil) throws(CommandError) -> Answer {
    let answer = try exchange(method, path, json: json)
    guard answer.status < 400 else {
      let problem = answer.json
      var message = problem["detail"].text ?? "the service answered with status \(answer.status)"
      for fault in problem["errors"].elements {
        message += "\n  \(fault["pointer"].text ?? ""): \(fault["detail"].text ?? "")"
      }
      throw CommandError(code: .refused, message: message)
    }
    return answer
  }

  /// Asks the service, whatever it answers.
  func exchange(_ method: String, _ path: String, json: [UInt8]? = nil) throws(CommandError) -> Answer {
    let headers = json == nil ? [] : [HeaderField("content-type", "application/json")]
    let result = BlockingHTTPClient.perform(
      TransportRequest(
        id: 0, url: origin + path, method: method, headers: headers, body: json ?? [], timeout: Self.timeout,
        captureLimit: Self.maximumAnswer), unixSocket: unixSocket)
    guard let status = result.status, result.outcome == .answered else {
      let why = result.error?.message ?? "no answer"
      throw CommandError(
        code: .unreachable,
        message: "cannot reach the service at \(base): \(why)\nIs it running? `redial serve` starts it.")
    }
    return Answer(status: status, body: result.body)
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
