public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension HTTPCallError: CustomStringConvertible {
  /// The same as ``logDescription``, so that printing an error reveals no secrets.
  public var description: String { logDescription }

  /// The error for a log: what has failed, where and how often, without the query, the user information or the fragment
  /// of any URL, without values of header fields, and without content.
  public var logDescription: String {
    switch self {
    case .inaccessible(let last, let retries):
      let made = "\(retries.attempts) attempt\(retries.attempts == 1 ? "" : "s") in \(retries.elapsed)"
      let cause = last.map { ": \($0.logDescription)" } ?? ""
      return "inaccessible (\(retries.reason.rawValue), \(made))\(cause)"
    case .cancelled: return "cancelled"
    case .urlError(let error):
      let place = error.failingURL.map { ", \($0.logText)" } ?? ""
      return "URL error \(error.code.rawValue) (\(error.code.word))\(place)"
    // Its own text may quote anything, including the request.
    case .other(let error):
      return "error \(String(reflecting: type(of: error))) (\((error as NSError).domain) \((error as NSError).code))"
    case .notHTTP(let response): return "the answer is not HTTP, \(response.url?.logText ?? "no URL")"
    case .noData: return "the answer has no content"
    case .endpoint(let response, let body):
      return "HTTP status \(response.statusCode) with \(body.count) bytes, \(response.url?.logText ?? "no URL")"
    }
  }
}

extension HTTPCallError: LocalizedError {
  /// The error for people.
  public var errorDescription: String? {
    switch self {
    case .inaccessible(let last, let retries):
      let cause = last?.errorDescription.map { " \($0)" } ?? ""
      return "The service could not be reached (\(Self.words(for: retries))). Try again later.\(cause)"
    case .cancelled: return "The request was cancelled."
    case .urlError(let error): return "The connection has failed: \(error.localizedDescription)"
    case .other(let error): return "The request has failed: \(error.localizedDescription)"
    case .notHTTP: return "The answer is not one of a web service."
    case .noData: return "The service has answered without content."
    case .endpoint(let response, _):
      let reason = HTTPURLResponse.localizedString(forStatusCode: response.statusCode)
      return "The service has answered with status \(response.statusCode) (\(reason))."
    }
  }

  private static func words(for retries: RetryError) -> String {
    let tries = "after \(retries.attempts) \(retries.attempts == 1 ? "attempt" : "attempts")"
    return switch retries.reason {
    case .attemptsExhausted, .notRetryable, .cancelled: tries
    case .deadlineExceeded: "the time is up, \(tries)"
    case .tripped, .recovering: "too many requests to it have failed lately"
    case .budgetExhausted: "too many requests are being repeated, \(tries)"
    }
  }
}

extension URL {
  /// The URL without parts that may be secret: user information, query, fragment, and everything except the scheme of a
  /// URL that is not of a web service.
  package var logText: String {
    guard let parts = URLComponents(url: self, resolvingAgainstBaseURL: true), let scheme = parts.scheme,
      scheme == "http" || scheme == "https"
    else { return "\(self.scheme ?? "no scheme"):…" }
    let port = parts.port.map { ":\($0)" } ?? ""
    return
      "\(scheme)://\(parts.percentEncodedHost ?? "")\(port)\(parts.percentEncodedPath.prefix(Self.longestLoggedPath))"
  }

  /// A path longer than this is cut in logs.
  private static var longestLoggedPath: Int { 200 }
}

extension URLError.Code {
  fileprivate var word: String {
    switch self {
    case .timedOut: "timed out"
    case .cannotFindHost: "cannot find host"
    case .cannotConnectToHost: "cannot connect to host"
    case .networkConnectionLost: "connection lost"
    case .dnsLookupFailed: "DNS lookup failed"
    case .notConnectedToInternet: "not connected"
    case .badServerResponse: "bad server response"
    case .badURL: "bad URL"
    case .unsupportedURL: "unsupported URL"
    case .httpTooManyRedirects: "too many redirects"
    case .dataLengthExceedsMaximum: "too much data"
    case .fileDoesNotExist: "file does not exist"
    case .secureConnectionFailed: "secure connection failed"
    case .serverCertificateUntrusted: "certificate untrusted"
    case .unknown: "unknown"
    default: "see URLError.Code"
    }
  }
}
