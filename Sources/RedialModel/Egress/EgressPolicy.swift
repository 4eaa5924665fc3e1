/// The destinations to which calls may go.
///
/// It is applied twice: to the URL when a call is submitted, which covers literal addresses and listed names; and to
/// the address that is about to be dialled, whatever its name. Only the second check cannot be deceived.
///
/// In this order: addresses that are always refused; the deny list; the allow list; the reach. The service's own
/// addresses, link-local addresses, metadata services, multicast and unspecified addresses cannot be allowed.
public struct EgressPolicy: Sendable, Hashable {
  /// The destinations that are allowed without being on a list.
  public enum Reach: String, Sendable, Hashable, CaseIterable {
    /// Public and private networks: Redial runs beside the services that it calls. Also loopback, as long as no other
    /// machine can reach Redial; see ``EgressPolicy/reachesLoopback``.
    case `private`
    /// Only public addresses. Loopback is refused wherever Redial listens: in the usual installation, behind a proxy on
    /// the same machine, it listens on loopback but is reached from everywhere.
    case `public`
    /// None.
    case listed
  }

  /// An address at which the service itself listens.
  public struct Endpoint: Sendable, Hashable {
    /// The address; nil for every address of this machine.
    public var address: IPAddress?
    public var port: Int

    /// Creates an endpoint.
    public init(address: IPAddress?, port: Int) {
      self.address = address
      self.port = port
    }
  }

  /// Why a destination is refused.
  public struct Refusal: Error, Sendable, Hashable {
    /// The rule's stable word in camelCase, such as `loopback`.
    public var rule: String
    /// What the rule refuses, as a clause that continues "the egress policy refuses". It reveals no address.
    public var clause: String

    /// Creates a refusal.
    public init(rule: String, clause: String) {
      self.rule = rule
      self.clause = clause
    }
  }

  /// The destinations that are allowed without being on a list.
  public var reach: Reach
  /// The allow list, for destinations that are neither denied nor always refused.
  public var allow: [EgressRule]
  /// The deny list.
  public var deny: [EgressRule]
  /// Whether the reach `private` includes loopback addresses: only if no other machine can connect to the service.
  public var reachesLoopback: Bool
  /// Where the service itself listens.
  public var own: [Endpoint]

  /// Creates a policy.
  public init(
    reach: Reach = .private, allow: [EgressRule] = [], deny: [EgressRule] = [], reachesLoopback: Bool = false,
    own: [Endpoint] = []
  ) {
    self.reach = reach
    self.allow = allow
    self.deny = deny
    self.reachesLoopback = reachesLoopback
    self.own = own
  }

  /// Why a URL is refused; nil if it is not, or if only its name's address can show it.
  ///
  /// - Parameter origin: A URL's origin, as ``TargetURL/origin`` gives it.
  public func refusal(ofOrigin origin: String) -> Refusal? {
    guard let (host, port) = Self.hostAndPort(origin) else { return nil }
    if let address = IPAddress(host: host) {
      return refusal(host: nil, address: address, port: port, isLocal: { address.addressClass == .loopback })
    }
    // No list contains the name.
    if deny.isEmpty, reach != .listed { return nil }
    let name = Self.folded(host)
    if let rule = deny.first(where: { $0.covers(host: name, address: nil, port: port, to: .deny) }) {
      return .denied(rule)
    }
    // A block on the allow list may still contain its address.
    let mayBeAllowed = allow.contains { rule in
      if case .block = rule.hosts { return rule.ports?.contains(port) ?? true }
      return rule.covers(host: name, address: nil, port: port, to: .allow)
    }
    return reach == .listed && !mayBeAllowed ? .notListed : nil
  }

  /// Why an address may not be dialled; nil if it may.
  ///
  /// - Parameters:
  ///   - host: The name that was resolved; nil if the URL has an address.
  ///   - address: The address.
  ///   - port: The port.
  ///   - isLocal: Whether the address belongs to this machine; called only if the port is one of the service's own.
  public func refusal(host: String?, address: IPAddress, port: Int, isLocal: () -> Bool) -> Refusal? {
    let found = address.addressClass
    switch found {
    case .linkLocal, .metadata, .multicast, .unspecified: return Refusal(of: found)
    case .loopback, .private, .reserved, .public: break
    }
    if isOwn(address, port, isLocal) { return .ownAddress }
    let name = host.map(Self.folded)
    if let rule = deny.first(where: { $0.covers(host: name, address: address, port: port, to: .deny) }) {
      return .denied(rule)
    }
    let isAllowed = allow.contains { rule in
      (found != .loopback || rule.isExact) && rule.covers(host: name, address: address, port: port, to: .allow)
    }
    if isAllowed { return nil }
    if reach == .listed { return .notListed }
    switch found {
    case .loopback: return reach == .private && reachesLoopback ? nil : Refusal(of: found)
    case .private, .reserved: return reach == .public ? Refusal(of: found) : nil
    default: return nil
    }
  }

  /// Whether a URL's origin has an address, and not a name that must be resolved.
  func namesAddress(_ origin: String) -> Bool {
    Self.hostAndPort(origin).flatMap { IPAddress(host: $0.host) } != nil
  }

  private func isOwn(_ address: IPAddress, _ port: Int, _ isLocal: () -> Bool) -> Bool {
    own.contains { endpoint in
      guard endpoint.port == port else { return false }
      guard let own = endpoint.address else { return address.addressClass == .loopback || isLocal() }
      // A name of this machine often has several loopback addresses, but Redial listens on only one of them.
      if own == address || (own.addressClass == .loopback && address.addressClass == .loopback) { return true }
      return address.v4 == nil && address.embedded.contains { IPAddress(v4: $0) == own }
    }
  }

  /// A name in the form for comparisons.
  private static func folded(_ host: String) -> String {
    let name = host.lowercased()
    return name.hasSuffix(".") ? String(name.dropLast()) : name
  }

  private static func hostAndPort(_ origin: String) -> (host: String, port: Int)? {
    ASCIIText.withBytes(of: origin) { bytes in
      guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")), slash + 2 <= bytes.count else { return nil }
      let authority = bytes[(slash + 2)...]
      let afterHost =
        authority.first == UInt8(ascii: "[") ? authority.drop { $0 != UInt8(ascii: "]") } : authority
      guard let colon = afterHost.firstIndex(of: UInt8(ascii: ":")) else {
        return (text(authority), slash == 6 ? 443 : 80)
      }
      let digits = authority[(colon + 1)...]
      guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return (text(authority[..<colon]), digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
    }
  }

  private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
  }
}

extension EgressPolicy.Refusal {
  static let ownAddress = Self(rule: "ownAddress", clause: "calls to Redial itself")
  static let notListed = Self(rule: "notListed", clause: "destinations that egressAllow does not name")

  static func denied(_ rule: EgressRule) -> Self {
    Self(rule: "denied", clause: "destinations in egressDeny (\(rule.text))")
  }

  init(of found: AddressClass) {
    switch found {
    case .public: self.init(rule: "public", clause: "public addresses")
    case .private: self.init(rule: "private", clause: "addresses of private networks")
    case .reserved: self.init(rule: "reserved", clause: "reserved addresses")
    case .loopback: self.init(rule: "loopback", clause: "loopback addresses")
    case .unspecified: self.init(rule: "unspecified", clause: "unspecified addresses")
    case .multicast: self.init(rule: "multicast", clause: "multicast and broadcast addresses")
    case .linkLocal: self.init(rule: "linkLocal", clause: "link-local addresses")
    case .metadata: self.init(rule: "metadata", clause: "metadata services")
    }
  }
}
