internal import RedialModel

/// The hosts by which clients may address a service without API keys.
///
/// A web page can make any name that it owns resolve to 127.0.0.1 (DNS rebinding); to the browser it then has the
/// service's own origin. The name stays in the Host field. Loopback names and addresses cannot be rebound, so they are
/// always allowed.
package struct AllowedHosts: Sendable, Hashable {
  /// Further names: in lower case, with `*.` before a name for all names under it, or `*` for every host.
  package let names: [String]

  /// No further name.
  package init() { names = [] }

  /// Reads `redial,*.internal.example.com`.
  ///
  /// - Returns: Nil if one of them is not a host name. A port or a scheme is not part of a host name.
  package init?(_ text: String) {
    var names: [String] = []
    for part in text.split(separator: ",") {
      let name = part.filter { !$0.isWhitespace }.lowercased()
      let labels = name.hasPrefix("*.") ? name.dropFirst(2) : name[...]
      guard name == "*" || Self.isName(labels) else { return nil }
      names.append(name.hasSuffix(".") ? String(name.dropLast()) : name)
    }
    self.names = names
  }

  /// Whether requests for every host are answered.
  package var allowsAll: Bool { names.contains("*") }

  /// Whether a request for this host is answered.
  ///
  /// - Parameter authority: The host, with a port if the request has one; empty for none, which no browser sends.
  package func allows(_ authority: String) -> Bool {
    // Nearly every request; no further check is needed.
    if authority.isEmpty || authority.hasPrefix("127.0.0.1:") || authority.hasPrefix("localhost:") { return true }
    var host = Self.host(of: authority)
    // Only an address is in brackets, and only addresses in brackets contain colons.
    if host.hasPrefix("[") { return true }
    host = host.hasSuffix(".") ? host.dropLast() : host
    let name = host.lowercased()
    if name == "localhost" || name.hasSuffix(".localhost") { return true }
    if IPAddress(canonical: name) != nil { return true }
    return names.contains { $0 == "*" || $0 == name || ($0.hasPrefix("*.") && name.hasSuffix($0.dropFirst())) }
  }

  /// The host of a host and a port.
  private static func host(of authority: String) -> Substring {
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") { return authority[...end] }
    return authority.prefix { $0 != ":" }
  }

  private static func isName(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.count <= 254 && text.utf8.first != UInt8(ascii: ".")
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
          || $0 == UInt8(ascii: ".")
      }
  }
}
