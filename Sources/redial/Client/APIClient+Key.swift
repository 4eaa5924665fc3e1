extension APIClient {
  /// What to tell somebody whose key would go over a network as anybody on the way can read it; nil when it does not.
  ///
  /// - Parameter base: Where the service is.
  static func warning(ofKeySentTo base: String) -> String? {
    let lowered = base.lowercased()
    guard lowered.hasPrefix("http://") else { return nil }
    let host = lowered.dropFirst(7).prefix { $0 != "/" }
    let isLocal =
      host.hasPrefix("[::1]") || host.hasPrefix("127.") || host == "localhost" || host.hasPrefix("localhost:")
    return isLocal
      ? nil
      : "warning: the API key goes unencrypted to \(host); put TLS before the service, or go through a tunnel\n"
  }
}
