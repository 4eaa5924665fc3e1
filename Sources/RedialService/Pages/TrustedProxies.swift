internal import HTTPServer
internal import RedialModel

/// The peers whose `X-Forwarded-Prefix`, `-Proto` and `-Host` are used.
///
/// A reverse proxy says in these fields how its client addressed it. Any other client can send them too, and could so
/// make links lead to another place. So they are read only from these peers, and ignored from all others.
package struct TrustedProxies: Sendable, Hashable {
  /// Addresses, as blocks.
  private let blocks: [AddressBlock]
  /// Whether all peers on a Unix domain socket, which have no address, are trusted.
  private let trustsUnix: Bool
  /// The entries as they were written.
  package let entries: [String]

  /// The entry for peers on a Unix domain socket.
  private static let unix = "unix"

  /// No peer.
  package init() { (blocks, trustsUnix, entries) = ([], false, []) }

  /// Reads `127.0.0.1,10.0.0.0/8,fd00::/8,unix`.
  ///
  /// - Returns: Nil if an entry is neither an address, a block, nor the word `unix`. A block with bits set beyond its
  ///   prefix is invalid.
  package init?(_ text: String) {
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
  /// - Parameter peer: The address; nil for a peer on a Unix domain socket.
  func trusts(_ peer: String?) -> Bool {
    guard let peer else { return trustsUnix }
    guard let address = IPAddress(canonical: peer) else { return false }
    return blocks.contains { $0.contains(address) }
  }

  /// The address of a request's client: the peer's; of a trusted proxy, the last one in its `X-Forwarded-For` that is not of
  /// a trusted proxy itself. Nil over a Unix domain socket that nobody has forwarded.
  func client(of request: borrowing HTTPRequest) -> String? {
    let peer = request.cameByUnixSocket ? nil : request.peer
    guard !isEmpty, trusts(peer), let list = request.list("x-forwarded-for") else { return peer }
    return client(among: list, behind: peer)
  }

  /// - Parameter list: What proxies have written, the nearest last. A word that is no address ends the way back.
  func client(among list: String, behind peer: String?) -> String? {
    var client = peer
    for part in list.split(separator: ",").reversed() {
      let text = String(part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" })
      guard IPAddress(canonical: text) != nil else { break }
      client = text
      if !trusts(text) { break }
    }
    return client
  }

  /// The address that the client of a trusted proxy used; nil for a request without such fields, or from another peer.
  func address(of request: borrowing HTTPRequest) -> ForwardedAddress? {
    guard !isEmpty else { return nil }
    var fields: [(name: String, value: String)] = []
    request.forEachHeader { name, value in
      // Nearly every field ends here, without allocating text.
      guard ForwardedAddress.lengths.contains(name.count) else { return }
      let name = String(decoding: name, as: UTF8.self).lowercased()
      if ForwardedAddress.names.contains(name) { fields.append((name, String(decoding: value, as: UTF8.self))) }
    }
    guard !fields.isEmpty, trusts(request.cameByUnixSocket ? nil : request.peer) else { return nil }
    return ForwardedAddress(fields)
  }
}
