internal import Foundation

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
    for part in path { text += "/" + Self.encoded(part) }
    for (index, pair) in query.enumerated() {
      text += (index == 0 ? "?" : "&") + pair.name + "=" + Self.encoded(pair.value)
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

  /// A text in which everything except unreserved characters is percent-encoded (RFC 3986 §2.3).
  private static func encoded(_ text: String) -> String {
    var encoded: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: encoded.append(byte)
      default: encoded += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
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
