internal import Foundation

extension RedialClient {
  /// Whether ``apiKey`` goes over a network as anybody on the way can read it: by `http` to another machine than this.
  ///
  /// It is sent all the same, since the service itself speaks plain HTTP and what lies before it (a proxy that speaks
  /// TLS, a private network, a tunnel) is its operator's business; each request leaves a line in ``log``.
  public var sendsKeyInTheClear: Bool {
    guard let apiKey, !apiKey.isEmpty, baseURL.scheme?.lowercased() == "http" else { return false }
    let host = (baseURL.host ?? "").lowercased()
    return !(host == "localhost" || host == "::1" || host == "[::1]" || host.hasPrefix("127."))
  }
}
