internal import RedialModel

/// The URL of a proxy, such as `http://user:password@proxy.example.com:3128`.
enum ProxyURL {
  /// The schemes that libcurl supports for a proxy.
  static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

  /// Whether it is valid: a known scheme, a host, an optional port, and an optional name and password. Libcurl
  /// interprets any other scheme, or none, in its own way, and reports it only when a call is made.
  static func isValid(_ text: String) -> Bool {
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"),
      schemes.contains(text[..<colon].lowercased())
    else { return false }
    var place = text[colon...].dropFirst(3)
    // A reserved character within a name or a password must be encoded: it would end the authority.
    if let at = place.firstIndex(of: "@") {
      guard !place[..<at].contains(where: { "/?#".contains($0) }), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
      else {
        return false
      }
      place = place[place.index(after: at)...]
    }
    if place.hasSuffix("/") { place = place.dropLast() }
    return !place.contains { "/?#@".contains($0) } && (try? TargetURL("http://\(place)")) != nil
  }
}
