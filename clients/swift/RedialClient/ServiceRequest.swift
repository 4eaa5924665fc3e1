internal import Foundation
internal import RedialText

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

struct ServiceRequest: Sendable {
  var method: String
  /// The path, percent-encoded; it begins with a slash, so that what follows the host is certainly the path.
  var path: String
  var query: [(name: String, value: String)] = []
  var body: Data?
  var idempotencyKey: String?
  /// Other header fields; those without a value are not sent.
  var fields: [String: String?] = [:]
  /// The client's preferences, as in `Prefer` (RFC 7240).
  var preference: String?
  /// Whether it keeps a connection while the service waits. It has its own connection then: a session opens few to one
  /// host, and other requests would queue behind it.
  var isHeld = false
  /// Whether it may be repeated even if the service may have executed it.
  var isRepeatable: Bool

  /// A request for a path in parts, which are encoded here.
  init(_ method: String, _ parts: [String], body: Data? = nil) {
    self.init(method, path: parts.map { "/" + PercentCoding.encode($0) }.joined(), body: body)
  }

  /// A request for a path that is encoded already, and may have a query.
  init(_ method: String, path: String, body: Data? = nil) {
    self.method = method
    self.path = path.hasPrefix("/") ? path : "/" + path
    self.body = body
    isRepeatable = method == "GET" || method == "HEAD"
  }

  /// Adds the parameters that have a value.
  mutating func add(_ parameters: [(name: String, value: String?)]) {
    query += parameters.compactMap { parameter in parameter.value.map { (parameter.name, $0) } }
  }

  /// A parameter with several words; nil for none.
  static func words(_ words: [some RedialWord]) -> String? {
    words.isEmpty ? nil : words.map(\.rawValue).joined(separator: ",")
  }

  /// A value as a body: JSON. The same value gives the same bytes.
  static func encoded(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }

  /// The body of a `POST` that needs none. One is sent all the same, because a body that was never begun proves that the
  /// request was not sent.
  static let nothing = Data("{}".utf8)

  /// A description for people and logs.
  var name: String { "\(method) \(path)" }

  /// The request in Foundation's form.
  func urlRequest(to client: RedialClient) throws -> URLRequest {
    var text = client.baseURL.absoluteString
    while text.hasSuffix("/") { text.removeLast() }
    text += path
    for pair in query {
      text +=
        (text.contains("?") ? "&" : "?") + PercentCoding.encode(pair.name) + "=" + PercentCoding.encode(pair.value)
    }
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.cachePolicy = .reloadIgnoringLocalCacheData
    // A second limit besides the attempt's own timeout, which Foundation keeps in whole seconds.
    request.timeoutInterval = min(86_400, max(1, client.policy.attemptTimeout.inSeconds.rounded(.up) + 1))
    request.setValue("application/json, application/problem+json", forHTTPHeaderField: "Accept")
    if let body {
      request.httpBody = body
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    if let key = client.apiKey?.trimmingCharacters(in: .whitespacesAndNewlines) {
      request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
    }
    if let namespace = client.namespace { request.setValue(namespace, forHTTPHeaderField: "Redial-Namespace") }
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    if let preference { request.setValue(preference, forHTTPHeaderField: "Prefer") }
    if let idempotencyKey { request.setValue(Self.field(idempotencyKey), forHTTPHeaderField: "Idempotency-Key") }
    return request
  }

  /// A key as a header field's value: as it is, or as a quoted string (RFC 8941) if it has a space, a comma or a quote.
  private static func field(_ key: String) -> String {
    guard key.utf8.contains(where: { $0 == 0x20 || $0 == 0x22 || $0 == 0x2C }) else { return key }
    return "\"" + key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}

/// The service's answer.
struct ServiceAnswer: Sendable {
  var request: String
  var status: Int
  var body: Data
  var retryAfter: Duration?

  /// The content of the body.
  ///
  /// - Throws: ``UnexpectedAnswer``.
  func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
    do {
      return try JSONDecoder().decode(type, from: body)
    } catch {
      throw UnexpectedAnswer(request: request, status: status, underlying: error)
    }
  }
}
