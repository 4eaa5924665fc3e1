internal import HTTPServer

/// The origins whose pages may use the API with an API key, by cross-origin requests (CORS; Fetch standard, "HTTP CORS
/// protocol").
///
/// Each is named exactly. A page sends its key in `Authorization`, so that neither cookies nor
/// `Access-Control-Allow-Credentials` are needed, and a browser adds nothing that a page does not have itself.
package struct CORSOrigins: Sendable, Hashable {
  /// The origins as browsers write them, such as `https://app.example.com`.
  package let names: [String]

  /// No origin.
  package init() { names = [] }

  /// Reads `https://app.example.com,http://localhost:3000`.
  ///
  /// - Returns: Nil if one is not the origin of a web page as browsers write it: `http` or `https`, a host, and a port
  ///   unless it is the scheme's default; no path, no slash at the end, and no `*`.
  package init?(_ text: String) {
    let names = text.split(separator: ",").map { $0.filter { !$0.isWhitespace }.lowercased() }
    guard names.allSatisfy(Self.isOrigin) else { return nil }
    self.names = names
  }

  /// Whether pages of this origin may use the API.
  func allows(_ origin: String?) -> Bool {
    guard let origin, !names.isEmpty else { return false }
    return names.contains(origin)
  }

  private static func isOrigin(_ text: String) -> Bool {
    for (scheme, port) in [("http", ":80"), ("https", ":443")] where text.hasPrefix(scheme + "://") {
      let host = String(text.dropFirst(scheme.count + 3))
      // A browser leaves out the scheme's default port, so such an origin would never match.
      return ForwardedAddress.isHost(host) && !host.hasSuffix(port)
    }
    return false
  }

  // MARK: Answers

  /// Fields of an answer that a page may read, besides those that are always allowed.
  private static let exposed =
    "Allow, Content-Location, ETag, Idempotency-Status, Location, Preference-Applied, RateLimit, RateLimit-Policy, "
    + "Retry-After, WWW-Authenticate"
  /// Fields of requests that the API reads, except those that a page may always send.
  private static let understood =
    "Authorization, Content-Encoding, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Prefer, "
    + "Redial-Actor, Redial-Namespace, Traceparent, Tracestate"
  /// How long a browser need not ask again, in seconds.
  private static let lifetime = 600
  /// The longest list of fields that is repeated to a browser, in bytes.
  private static let longestList = 4096

  /// The fields of every answer to a request.
  func fields(of request: borrowing HTTPRequest) -> [HTTPHeader] {
    guard !names.isEmpty else { return [] }
    // A cached answer for one origin is not valid for another.
    let varies = HTTPHeader("vary", "Origin")
    guard let origin = request.header("origin"), allows(origin) else { return [varies] }
    return [
      varies, HTTPHeader("access-control-allow-origin", origin),
      HTTPHeader("access-control-expose-headers", Self.exposed),
    ]
  }

  /// 204: the permissions of a page of this origin; nil for a request that is not a browser's CORS preflight, and for a
  /// page of another origin.
  func preflight(_ request: borrowing HTTPRequest, allowing methods: Methods) -> HTTPResponse? {
    guard !names.isEmpty, request.method == .options, let origin = request.header("origin"), allows(origin),
      let method = request.header("access-control-request-method")
    else { return nil }
    return Self.preflight(from: origin, method, request.header("access-control-request-headers"), allowing: methods)
  }

  /// The methods of a path.
  enum Methods: Sendable {
    /// Those of the API.
    case usual
    /// These, as a list.
    case these(String)
    /// Every method, with every field: the request is for a target, and what that takes is not known here.
    case every
  }

  /// - Parameters:
  ///   - method: The method that the page wants to use.
  ///   - list: The names of the fields that it wants to send.
  static func preflight(from origin: String, _ method: String, _ list: String?, allowing: Methods) -> HTTPResponse {
    var (methods, fields) = ("GET, HEAD, POST, PUT, PATCH, DELETE", understood)
    switch allowing {
    case .usual: break
    case .these(let allowed): methods = allowed
    case .every:
      if isList(method) { methods = method }
      if let list, isList(list) { fields = list }
    }
    return HTTPResponse(
      status: 204,
      headers: [
        HTTPHeader("access-control-allow-origin", origin), HTTPHeader("access-control-allow-methods", methods),
        HTTPHeader("access-control-allow-headers", fields), HTTPHeader("access-control-max-age", "\(lifetime)"),
        HTTPHeader("vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"),
      ])
  }

  /// Whether a text is a list of tokens, or one (RFC 9110 section 5.6).
  private static func isList(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longestList
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "!#$%&'*+-.^_`|~, ".utf8.contains(byte)
      }
  }
}
