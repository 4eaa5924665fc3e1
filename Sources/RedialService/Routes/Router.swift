internal import HTTPServer
internal import RedialEngine
internal import RedialModel

/// Finds the route of a request.
enum Route: Sendable {
  case submit
  case submitBatch
  case forward(String)
  case list
  case call(CallID)
  case attempts(CallID)
  case replay(CallID)
  case command(CallCommand.Kind, CallID)
  case targets
  case target(String)
  case policies
  case policy(String)
  case putPolicy(String)
  case removePolicy(String)
  case statistics
  case operations
  case beginOperation
  case operation(BulkOperationID)
  case cancelOperation(BulkOperationID)
  case events
  case webhooks(WebhookRoute)
  case webhookSecret
  case keys(KeyRoute)
  case preview
  case simulate
  case configure(String)
  case control(TargetCommand.Kind, String)
  case health
  case readiness
  case metrics
  case contract
  case dashboard
  /// The path exists for these methods.
  case wrongMethod(allowed: String)
  case notFound(String)

  private static let forwardPrefix = "/v1/forward/"

  /// The route of a request.
  ///
  /// - Parameter query: The part after the `?`. It belongs to the URL of a forwarded request; other routes ignore it
  ///   here.
  init(_ method: HTTPMethod, _ path: String, query: String? = nil) {
    // Nearly every request, recognized before anything is allocated.
    if path == "/v1/calls", method == .post {
      self = .submit
      return
    }
    if path.hasPrefix(Self.forwardPrefix) {
      self = .forward(Self.forwarded(path.dropFirst(Self.forwardPrefix.count)) + (query.map { "?" + $0 } ?? ""))
      return
    }
    if path == "/v1/calls" {
      self = Self.choose(method, [(.post, .submit), (.get, .list)])
      return
    }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    switch Array(parts) {
    case [""]: self = Self.choose(method, [(.get, .dashboard)])
    case ["healthz"]: self = Self.choose(method, [(.get, .health)])
    case ["readyz"]: self = Self.choose(method, [(.get, .readiness)])
    case ["metrics"]: self = Self.choose(method, [(.get, .metrics)])
    case ["openapi.yaml"]: self = Self.choose(method, [(.get, .contract)])
    case ["v1", "calls", "batch"]: self = Self.choose(method, [(.post, .submitBatch)])
    case ["v1", "keys"]: self = Self.choose(method, [(.get, .keys(.list)), (.post, .keys(.create))])
    case let path where path.count == 3 && path[0] == "v1" && path[1] == "keys":
      self = Self.choose(method, [(.delete, .keys(.revoke(String(path[2]))))])
    case ["v1", "webhook-secret"]: self = Self.choose(method, [(.get, .webhookSecret)])
    case ["v1", "statistics"]: self = Self.choose(method, [(.get, .statistics)])
    case ["v1", "events"]: self = Self.choose(method, [(.get, .events)])
    case ["v1", "policies", "preview"]: self = Self.choose(method, [(.post, .preview)])
    case ["v1", "operations"]: self = Self.choose(method, [(.get, .operations), (.post, .beginOperation)])
    case let path where path.count >= 3 && path[0] == "v1" && path[1] == "operations":
      self = Self.ofOperation(method, path)
    case ["v1", "policies"]: self = Self.choose(method, [(.get, .policies)])
    case let path where path.count == 3 && path[0] == "v1" && path[1] == "policies":
      self = Self.ofPolicy(method, path[2])
    case ["v1", "simulations"]: self = Self.choose(method, [(.post, .simulate)])
    case ["v1", "targets"]: self = Self.choose(method, [(.get, .targets)])
    case let path where path.count >= 2 && path[0] == "v1" && path[1] == "webhook-endpoints":
      self =
        WebhookRoute.routes(path[2...]).map { Self.choose(method, $0.map { ($0.0, .webhooks($0.1)) }) }
        ?? .notFound("There is nothing at this path; /openapi.yaml lists all paths.")
    case let path where path.count >= 3 && path[0] == "v1" && path[1] == "targets": self = Self.ofTarget(method, path)
    case let path where path.count >= 3 && path[0] == "v1" && path[1] == "calls": self = Self.ofCall(method, path)
    default: self = .notFound("There is nothing at this path; /openapi.yaml lists all paths.")
    }
  }

  /// The URL after the prefix. Clients generated from the contract encode it completely, as a parameter of a path.
  private static func forwarded(_ text: Substring) -> String {
    let start = text.prefix(11).lowercased()
    guard start.hasPrefix("http%3a%2f%") || start.hasPrefix("https%3a%2f"), let decoded = PercentEncoding.decode(text)
    else { return String(text) }
    return decoded
  }

  private static func ofTarget(_ method: HTTPMethod, _ path: [Substring]) -> Route {
    guard let key = PercentEncoding.decode(path[2]), !key.isEmpty else {
      return .notFound("A target's key is percent-encoded, such as /v1/targets/https%3A%2F%2Fexample.com.")
    }
    switch path.dropFirst(3) {
    case []: return choose(method, [(.get, .target(key)), (.put, .configure(key))])
    case ["pause"]: return choose(method, [(.post, .control(.pause, key))])
    case ["resume"]: return choose(method, [(.post, .control(.resume, key))])
    case ["trip"]: return choose(method, [(.post, .control(.trip, key))])
    case ["reset"]: return choose(method, [(.post, .control(.reset, key))])
    case ["release"]: return choose(method, [(.post, .control(.release, key))])
    default: return .notFound("There is nothing at this path; /openapi.yaml lists all paths.")
    }
  }

  private static func ofOperation(_ method: HTTPMethod, _ path: [Substring]) -> Route {
    guard let id = BulkOperationID(path[2]) else {
      return .notFound("\"\(path[2])\" is not the id of an operation; ids look like op_0CW4Z3NDEKTSV.")
    }
    switch path.dropFirst(3) {
    case []: return choose(method, [(.get, .operation(id))])
    case ["cancel"]: return choose(method, [(.post, .cancelOperation(id))])
    default: return .notFound("There is nothing at this path; /openapi.yaml lists all paths.")
    }
  }

  private static func ofPolicy(_ method: HTTPMethod, _ text: Substring) -> Route {
    guard let name = PercentEncoding.decode(text), StoredPolicy.isName(name) else {
      return .notFound(
        "A policy's name has 1 to \(StoredPolicy.longestName) letters, digits, dots, underscores and hyphens.")
    }
    return choose(method, [(.get, .policy(name)), (.put, .putPolicy(name)), (.delete, .removePolicy(name))])
  }

  private static func ofCall(_ method: HTTPMethod, _ path: [Substring]) -> Route {
    guard let id = CallID(path[2]) else {
      return .notFound("\"\(path[2])\" is not the id of a call; ids look like call_01ARZ3NDEKTSV.")
    }
    switch path.dropFirst(3) {
    case []: return choose(method, [(.get, .call(id))])
    case ["attempts"]: return choose(method, [(.get, .attempts(id))])
    case ["cancel"]: return choose(method, [(.post, .command(.cancel, id))])
    case ["retry"]: return choose(method, [(.post, .command(.retry, id))])
    case ["replay"]: return choose(method, [(.post, .replay(id))])
    case ["content"]: return choose(method, [(.delete, .command(.erase, id))])
    default: return .notFound("There is nothing at this path; /openapi.yaml lists all paths.")
    }
  }

  /// The route for a method; HEAD uses the route of GET.
  private static func choose(_ method: HTTPMethod, _ routes: [(HTTPMethod, Route)]) -> Route {
    let wanted = method == .head ? HTTPMethod.get : method
    if let route = routes.first(where: { $0.0 == wanted }) { return route.1 }
    let allowed = routes.flatMap { $0.0 == .get ? ["GET", "HEAD"] : ["\($0.0)"] }
    return .wrongMethod(allowed: allowed.joined(separator: ", "))
  }
}

/// Percent-encoding (RFC 3986 §2.1).
enum PercentEncoding {
  /// The text that was encoded; nil for a `%` without two hex digits, or bytes that are not UTF-8.
  static func decode(_ text: Substring) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case 0x30...0x39: character - 0x30
    case 0x41...0x46, 0x61...0x66: (character | 0x20) - 0x57
    default: nil
    }
  }
}
