internal import Foundation
internal import RedialText

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One request to the service.
struct ServiceRequest: Sendable {
  var method: String
  /// The parts of the path, before percent-encoding.
  var path: [String]
  var query: [(name: String, value: String)] = []
  var body: Data?
  var idempotencyKey: String?
  /// The client's preferences, as in `Prefer` (RFC 7240).
  var preference: String?
  /// Whether it keeps a connection while the service waits. It has its own connection then: a session opens few to one
  /// host, and other requests would queue behind it.
  var isHeld = false
  /// Whether it may be repeated even if the service may have executed it.
  var isRepeatable: Bool

  init(_ method: String, _ path: [String], body: Data? = nil) {
    self.method = method
    self.path = path
    self.body = body
    isRepeatable = method == "GET"
  }

  /// A description for people and logs.
  var name: String { "\(method) /\(path.joined(separator: "/"))" }

  /// The request in Foundation's form.
  func urlRequest(to client: RedialClient) throws -> URLRequest {
    var text = client.baseURL.absoluteString
    while text.hasSuffix("/") { text.removeLast() }
    for part in path { text += "/" + PercentCoding.encode(part) }
    for (index, pair) in query.enumerated() {
      text += (index == 0 ? "?" : "&") + pair.name + "=" + PercentCoding.encode(pair.value)
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
    if let preference { request.setValue(preference, forHTTPHeaderField: "Prefer") }
    if let idempotencyKey { request.setValue(idempotencyKey, forHTTPHeaderField: "Idempotency-Key") }
    return request
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
