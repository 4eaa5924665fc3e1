/// Where a server listens.
public enum ListenAddress: Hashable, Sendable {
  /// A TCP port of an address: an IPv4 or IPv6 literal (a link-local one with its zone, `fe80::1%eth0`), or
  /// `localhost`, which means 127.0.0.1. Port 0 takes a free one.
  ///
  /// `0.0.0.0` is every IPv4 address of the machine. `::` is every address, IPv6 and IPv4, whatever the system's
  /// `net.ipv6.bindv6only` is; clients that use IPv4 are shown with their IPv4 address.
  case tcp(host: String, port: Int)
  /// A Unix domain socket: a file at that path, at most 107 bytes long, which the server creates and removes.
  case unix(path: String)
  /// Sockets that another process opened and passed on; nothing is bound.
  case inherited([InheritedSocket])
}

extension ListenAddress {
  /// Whether another process has bound it, and keeps it open when this one ends.
  public var isInherited: Bool {
    if case .inherited = self { true } else { false }
  }

  /// Reads `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/redial.sock`; nil for anything else. The server checks at its
  /// start whether it can listen there.
  public init?(_ text: String) {
    if text.hasPrefix(Self.unixPrefix) {
      guard text.utf8.count > Self.unixPrefix.utf8.count else { return nil }
      self = .unix(path: String(text.dropFirst(Self.unixPrefix.count)))
      return
    }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = text[..<colon]
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    if isBracketed { host = host.dropFirst().dropLast() }
    // Without brackets it would be unclear where an IPv6 address ends and the port begins.
    guard !host.isEmpty, host.contains(":") == isBracketed else { return nil }
    self = .tcp(host: String(host), port: Int(port))
  }

  static let unixPrefix = "unix:"
}

extension ListenAddress: CustomStringConvertible {
  /// The address as ``init(_:)`` reads it; for inherited sockets, their descriptors.
  public var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): Self.unixPrefix + path
    case .inherited(let sockets): sockets.map(\.description).joined(separator: ", ")
    }
  }
}
