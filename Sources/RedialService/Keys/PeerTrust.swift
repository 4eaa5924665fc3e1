internal import HTTPServer
internal import RedialCore
internal import RedialModel

/// Signs requests between the instances on one store, and checks them. The secret is the store's, so whoever may use the
/// store may speak for the clients of its instances.
struct PeerTrust: Sendable {
  /// How old or how far ahead a signature may be: the clocks of instances may differ.
  static let tolerance = Duration.seconds(300)

  /// The field that marks a request of another instance. Such a request is not forwarded again.
  static let markField: StaticString = "redial-forwarded"
  private static let callerField: StaticString = "redial-forwarded-caller"
  private static let addressField: StaticString = "redial-forwarded-address"
  private static let signatureField: StaticString = "redial-forwarded-signature"
  /// The beginning of the names of all these fields. A client's own are not passed on.
  static let prefix = "redial-forwarded"

  let secret: WebhookSecret

  /// The fields that let another instance serve a request for a client which this one has admitted.
  func fields(
    _ method: HTTPMethod, _ target: String, _ body: [UInt8], for caller: Caller, at now: Timestamp
  ) -> [HeaderField] {
    let (text, seconds) = (Self.text(of: caller), now.microseconds / 1_000_000)
    let signature = secret.signature(
      id: Self.subject(method, target, text), timestamp: seconds, payload: body)
    var fields = [
      HeaderField("\(Self.markField)", "1"), HeaderField("\(Self.callerField)", text),
      HeaderField("\(Self.signatureField)", "t=\(seconds),\(signature)"),
    ]
    if let address = caller.address {
      let proof = proof(of: address, seconds, signature)
      fields.append(HeaderField("\(Self.addressField)", "\(address) \(proof)"))
    }
    return fields
  }

  /// A signature of the client's address, apart from the other one: an earlier version knows nothing of it.
  private func proof(of address: String, _ seconds: Int64, _ signature: String) -> String {
    secret.signature(id: "address \(address)", timestamp: seconds, payload: Array(signature.utf8))
  }

  /// Whether a request says that it is of another instance.
  static func isForwarded(_ request: borrowing HTTPRequest) -> Bool { request.header(markField) != nil }

  /// The client for which another instance sends a request; nil if the request was not signed with the store's secret.
  func caller(of request: borrowing HTTPRequest, at now: Timestamp) -> Caller? {
    guard let text = request.header(Self.callerField), let field = request.header(Self.signatureField),
      let caller = Self.caller(text), let comma = field.firstIndex(of: ","), field.hasPrefix("t="),
      let seconds = Int64(field[field.index(field.startIndex, offsetBy: 2)..<comma]),
      abs(now.microseconds / 1_000_000 &- seconds) <= Self.tolerance.components.seconds
    else { return nil }
    let expected = secret.signature(
      id: Self.subject(request.method, Self.target(of: request), text), timestamp: seconds,
      payload: Array(request.content))
    let given = field[field.index(after: comma)...]
    guard APIKey.areEqual(Array(given.utf8), Array(expected.utf8)) else { return nil }
    guard let proven = request.header(Self.addressField) else { return caller }
    let parts = proven.split(separator: " ", maxSplits: 1)
    guard parts.count == 2,
      APIKey.areEqual(Array(parts[1].utf8), Array(proof(of: String(parts[0]), seconds, expected).utf8))
    else { return nil }
    var located = caller
    located.address = String(parts[0])
    return located
  }

  /// The path and query of a request.
  static func target(of request: borrowing HTTPRequest) -> String {
    request.query.map { "\(request.path)?\($0)" } ?? request.path
  }

  // MARK: The signed text

  private static func subject(_ method: HTTPMethod, _ target: String, _ caller: String) -> String {
    "\(method.text) \(target) \(caller)"
  }

  /// A caller as text: its namespace, why it is admitted, and what it may do.
  private static func text(of caller: Caller) -> String {
    let admission =
      switch caller.admission {
      case .nobody: "nobody"
      case .adminKey: "admin"
      case .key(let id): "key:\(id)"
      case .person(let name, let scopes):
        "person:\(scopes.map(\.rawValue).sorted().joined(separator: ",")):\(Base64.encode(Array(name.utf8)))"
      }
    return "\(caller.namespace.name) \(admission) \(caller.isOperator ? 1 : 0) \(caller.mayOperate ? 1 : 0)"
  }

  private static func caller(_ text: String) -> Caller? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 4, let namespace = Namespace(String(parts[0])) else { return nil }
    let admission: Caller.Admission
    switch parts[1] {
    case "nobody": admission = .nobody
    case "admin": admission = .adminKey
    case let part where part.hasPrefix("person:"):
      let person = part.split(separator: ":", maxSplits: 2)
      guard person.count == 3, let name = Base64.decode(String(person[2])) else { return nil }
      let scopes = person[1].split(separator: ",").compactMap { APIScope(rawValue: String($0)) }
      admission = .person(String(decoding: name, as: UTF8.self), Set(scopes))
    default:
      guard parts[1].hasPrefix("key:") else { return nil }
      admission = .key(String(parts[1].dropFirst(4)))
    }
    return Caller(
      admission: admission, namespace: namespace, isOperator: parts[2] == "1", mayOperate: parts[3] == "1")
  }
}
