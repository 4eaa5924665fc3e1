import Glibc
import RedialModel

extension APIClient {
  /// A warning if the key would be sent over a network unencrypted; nil if not.
  ///
  /// - Parameter base: The service's URL.
  static func warning(ofKeySentTo base: String) -> String? {
    var rest = base.lowercased()[...]
    guard !rest.hasPrefix("https://"), !rest.hasPrefix("unix:") else { return nil }
    if rest.hasPrefix("http://") { rest = rest.dropFirst(7) }
    let authority = rest.prefix { !"/?#".contains($0) }
    // The text before the last @ is a name and a password, and is not repeated.
    let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    guard !isOnThisMachine(place) else { return nil }
    return "warning: the API key goes unencrypted to \(PlainText.escaped(String(place))); "
      + "put TLS before the service, or go through a tunnel\n"
  }

  /// Whether a host, with or without a port, is certainly this machine: a name that must be looked up may be any
  /// machine, even one that begins like an address.
  private static func isOnThisMachine(_ place: Substring) -> Bool {
    if place.hasPrefix("[") {
      var address = in6_addr()
      guard inet_pton(AF_INET6, String(place.dropFirst().prefix { $0 != "]" }), &address) == 1 else { return false }
      return withUnsafeBytes(of: &address) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }
    let host = String(place.prefix { $0 != ":" })
    var address = in_addr()
    if host == "localhost" { return true }
    return inet_pton(AF_INET, host, &address) == 1 && UInt32(bigEndian: address.s_addr) >> 24 == 127
  }
}
