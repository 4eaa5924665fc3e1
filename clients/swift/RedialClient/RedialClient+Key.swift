internal import Foundation

extension RedialClient {
  /// Whether ``apiKey`` is sent unencrypted over a network: by `http` to another machine.
  ///
  /// It is still sent, because the service itself speaks plain HTTP, and its operator decides about TLS (a proxy, a
  /// private network, a tunnel). Each such request writes a line to ``log``.
  public var sendsKeyInTheClear: Bool {
    guard let apiKey, !apiKey.isEmpty, baseURL.scheme?.lowercased() == "http" else { return false }
    let host = (baseURL.host ?? "").lowercased()
    return !(host == "localhost" || host == "::1" || host == "[::1]" || host.hasPrefix("127."))
  }
}
