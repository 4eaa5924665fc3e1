internal import RedialModel
internal import RedialText

/// The URL in a path such as `/v1/forward/https://api.example.com/charges`.
///
/// Clients that are generated from the contract encode all of it, as one parameter of a path; some encode only the colon.
/// Proxies write one slash for two.
enum ForwardedURL {
  /// The URL that is meant, or the text itself if that is none.
  static func text(_ part: Substring) -> String {
    var rest = part.utf8
    var isEncoded = false
    func take(_ byte: UInt8, _ encoded: String) -> Bool {
      if rest.first == byte {
        rest.removeFirst()
        return true
      }
      guard rest.prefix(3).map({ $0 | 0x20 }) == Array(encoded.utf8) else { return false }
      rest.removeFirst(3)
      isEncoded = true
      return true
    }
    let scheme = part.prefix { $0.isASCII && $0.isLetter }
    rest = rest.dropFirst(scheme.utf8.count)
    guard ["http", "https"].contains(scheme.lowercased()), take(UInt8(ascii: ":"), "%3a"),
      take(UInt8(ascii: "/"), "%2f")
    else { return String(part) }
    _ = take(UInt8(ascii: "/"), "%2f")
    var after = String(Substring(rest))
    if isEncoded {
      // If a slash is not encoded, nor is what follows it.
      let host = after.prefix { $0 != "/" }
      guard let decoded = PercentCoding.decode(host) else { return String(part) }
      after = decoded + after.dropFirst(host.count)
    }
    return "\(scheme)://\(after)"
  }

  /// Whether a text begins with a scheme that can be called.
  static func isAbsolute(_ url: String) -> Bool {
    let start = url.prefix(8).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://")
  }

  static let notAbsolute = Problem(
    .invalidDescriptor, at: .init(.pointer, "/url"),
    "must be the whole URL, as in /v1/forward/https://api.example.com/charges")
}
