internal import HTTPServer
internal import RedialModel

/// The peers whose `X-Forwarded-Prefix`, `-Proto` and `-Host` are believed.
///
/// A reverse proxy says in these fields how its client addressed it. Any other client can send them, too, and could so have
/// links lead to another place. So they are read from these peers alone, and ignored from all others.
public struct TrustedProxies: Sendable, Hashable {
  /// Addresses, as blocks.
  private let blocks: [AddressBlock]
  /// Whether every peer is trusted that comes by a Unix domain socket, which has no address.
  private let trustsUnix: Bool
  /// The entries as they were written.
  public let entries: [String]

  /// The entry for peers that come by a Unix domain socket.
  private static let unix = "unix"

  /// No peer.
  public init() { (blocks, trustsUnix, entries) = ([], false, []) }

  /// Reads `127.0.0.1,10.0.0.0/8,fd00::/8,unix`.
  ///
  /// - Returns: Nil when an entry is no address, no block, and not the word `unix`. A block with bits set beyond its prefix
  ///   is none.
  public init?(_ text: String) {
    let entries = text.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
    let addresses = entries.filter { $0 != Self.unix }
    let blocks = addresses.compactMap { AddressBlock($0) }
    guard blocks.count == addresses.count else { return nil }
    self.entries = entries
    self.blocks = blocks
    trustsUnix = entries.contains(Self.unix)
  }

  /// Whether no peer is trusted.
  var isEmpty: Bool { entries.isEmpty }

  /// Whether the peer at this address is trusted.
  ///
  /// - Parameter peer: The address; nil for a peer that came by a Unix domain socket.
  func trusts(_ peer: String?) -> Bool {
    guard let peer else { return trustsUnix }
    guard let address = IPAddress(canonical: peer) else { return false }
    return blocks.contains { $0.contains(address) }
  }

  /// How the client of a trusted proxy addressed it; nil for a request without such fields, or from anybody else.
  func address(of request: borrowing HTTPRequest) -> ForwardedAddress? {
    guard !isEmpty else { return nil }
    var fields: [(name: String, value: String)] = []
    request.forEachHeader { name, value in
      // Of nearly every field, without any text being made.
      guard ForwardedAddress.lengths.contains(name.count) else { return }
      let name = String(decoding: name, as: UTF8.self).lowercased()
      if ForwardedAddress.names.contains(name) { fields.append((name, String(decoding: value, as: UTF8.self))) }
    }
    guard !fields.isEmpty, trusts(request.cameByUnixSocket ? nil : request.peer) else { return nil }
    return ForwardedAddress(fields)
  }
}
