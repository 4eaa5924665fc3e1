import Glibc
import RedialModel

extension APIClient {
  /// What to tell somebody whose key would go over a network as anybody on the way can read it; nil when it does not.
  ///
  /// - Parameter base: Where the service is.
  static func warning(ofKeySentTo base: String) -> String? {
    var rest = base.lowercased()[...]
    guard !rest.hasPrefix("https://"), !rest.hasPrefix("unix:") else { return nil }
    if rest.hasPrefix("http://") { rest = rest.dropFirst(7) }
    let authority = rest.prefix { !"/?#".contains($0) }
    // What stands before the last @ is a name and a password, whatever it looks like, and is not repeated.
    let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    guard !isOnThisMachine(place) else { return nil }
    return "warning: the API key goes unencrypted to \(PlainText.escaped(String(place))); "
      + "put TLS before the service, or go through a tunnel\n"
  }

  /// Whether a host, with or without a port, is this machine by its name alone: a name that has to be looked up may be
  /// anybody's, even one that begins like an address.
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
