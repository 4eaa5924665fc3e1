import RedialText

/// One entry of an allow or deny list: hosts, and optionally only certain ports of them.
public struct EgressRule: Sendable, Hashable {
  /// Which hosts.
  public enum Hosts: Sendable, Hashable {
    /// Every host.
    case any
    /// Those whose address is in a block.
    case block(AddressBlock)
    /// The host with that name, in lower case without a final dot.
    case name(String)
    /// The hosts below that name, not the name itself.
    case below(String)
  }

  /// Which hosts.
  public var hosts: Hosts
  /// Which ports; nil for every port.
  public var ports: ClosedRange<Int>?
  /// The rule in its original spelling.
  public var text: String

  /// Reads `10.0.0.0/8`, `192.0.2.7:8080`, `[fd00::]/8`, `[fd00::7]:443`, `api.example.com`, `*.example.com:443`,
  /// `*:8000-8999`.
  ///
  /// - Returns: Nil for anything else.
  public init?(_ text: String) {
    self.text = text
    var host = text[...]
    // In brackets, so that an address's colons do not begin a port.
    if text.hasPrefix("[") {
      guard let close = text.firstIndex(of: "]") else { return nil }
      let address = text[text.index(after: text.startIndex)..<close]
      var rest = text[text.index(after: close)...]
      var length: Substring = ""
      if rest.hasPrefix("/") {
        length = rest.prefix { $0 != ":" }
        rest = rest.dropFirst(length.count)
      }
      guard address.contains(":"), let block = AddressBlock(String(address + length)) else { return nil }
      hosts = .block(block)
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
      guard rest.isEmpty || Self.ports(rest.dropFirst()) != nil else { return nil }
      ports = rest.isEmpty ? nil : Self.ports(rest.dropFirst())
      return
    }
    if text.filter({ $0 == ":" }).count > 1 {
      // IPv6 without brackets, which has no port.
      guard let block = AddressBlock(text) else { return nil }
      (hosts, ports) = (.block(block), nil)
      return
    }
    if let colon = text.firstIndex(of: ":") {
      guard let range = Self.ports(text[text.index(after: colon)...]) else { return nil }
      ports = range
      host = text[..<colon]
    }
    guard let hosts = Self.hosts(host) else { return nil }
    self.hosts = hosts
  }

  private static func hosts(_ text: Substring) -> Hosts? {
    if text == "*" { return .any }
    if let block = AddressBlock(String(text)) { return .block(block) }
    var name = text.lowercased()
    let isBelow = name.hasPrefix("*.")
    if isBelow { name.removeFirst(2) }
    if name.hasSuffix(".") { name.removeLast() }
    guard !name.isEmpty, name.utf8.count <= 253, !IPAddress.looksLikeV4(name), !name.contains(".."),
      name.utf8.allSatisfy({
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F
      })
    else { return nil }
    return isBelow ? .below(name) : .name(name)
  }

  private static func ports(_ text: Substring) -> ClosedRange<Int>? {
    let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map { part in
      part.utf8.allSatisfy { (0x30...0x39).contains($0) } && part.utf8.count <= 5 ? Int(part) ?? 0 : 0
    }
    guard let first = ends.first, let last = ends.last, (1...65_535).contains(first), (first...65_535).contains(last)
    else { return nil }
    return first...last
  }

  /// The purpose of a check. An address that contains others, such as a tunnel's, is denied by a rule about any of
  /// them, and allowed only by one about all.
  enum Purpose {
    case allow, deny
  }

  /// Whether the rule applies to a destination.
  ///
  /// - Parameters:
  ///   - host: The name in the URL, in lower case, without a final dot; an address has none.
  ///   - address: The address; nil until the name is resolved.
  ///   - port: The port.
  func covers(host: String?, address: IPAddress?, port: Int, to purpose: Purpose) -> Bool {
    if let ports, !ports.contains(port) { return false }
    switch hosts {
    case .any: return true
    case .block(let block):
      guard let address else { return false }
      if block.contains(address) { return true }
      guard address.v4 == nil, !address.embedded.isEmpty else { return false }
      let isWithin = { (hidden: UInt32) in block.contains(IPAddress(v4: hidden)) }
      return purpose == .deny ? address.embedded.contains(where: isWithin) : address.embedded.allSatisfy(isWithin)
    case .name(let name): return host == name
    case .below(let name):
      guard let host, host.utf8.count > name.utf8.count + 1 else { return false }
      return host.hasSuffix(name) && host.dropLast(name.count).hasSuffix(".")
    }
  }

  /// Whether it is specific enough to allow this machine's own addresses: a wildcard is not, because whoever runs that
  /// zone's DNS can create a name below it.
  var isExact: Bool {
    switch hosts {
    case .block(let block): block.base.addressClass == .loopback
    case .name: true
    case .any, .below: false
    }
  }
}
