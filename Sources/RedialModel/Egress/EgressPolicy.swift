/// Which destinations calls may go to.
///
/// Asked twice: of the URL when a call is submitted, which tells of literal addresses and of names that are listed; and
/// of the address that is about to be dialled, whatever name led there, which alone cannot be deceived.
///
/// In this order: what is always refused; what is on the deny list; what is on the allow list; what the reach allows.
/// Its own addresses, those of the link, metadata services, multicast and unspecified addresses cannot be allowed.
public struct EgressPolicy: Sendable, Hashable {
  /// What is allowed that no list speaks of.
  public enum Reach: String, Sendable, Hashable, CaseIterable {
    /// Public and private networks: Redial runs beside the services that it calls. Loopback, too, while nobody beyond this
    /// machine can reach Redial; see ``EgressPolicy/reachesLoopback``.
    case `private`
    /// Public addresses only. Loopback is refused wherever Redial listens: behind a proxy on the same machine, which is how
    /// it is usually installed, it listens on loopback and is reached from everywhere.
    case `public`
    /// Nothing.
    case listed
  }

  /// A place at which the service itself listens.
  public struct Endpoint: Sendable, Hashable {
    /// The address; nil for every address of this machine.
    public var address: IPAddress?
    /// The port.
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
    /// What the rule refuses, as a clause that goes on from "the egress policy refuses". It does not tell an address.
    public var clause: String

    /// Creates a refusal.
    public init(rule: String, clause: String) {
      self.rule = rule
      self.clause = clause
    }
  }

  /// What is allowed that no list speaks of.
  public var reach: Reach
  /// What is allowed besides, unless it is always refused or denied.
  public var allow: [EgressRule]
  /// What is refused besides.
  public var deny: [EgressRule]
  /// Whether the reach `private` includes loopback addresses, as when nothing but this machine can connect to the service.
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

  /// Why a URL is refused as it stands; nil when it is not, or when only its name's address can tell.
  ///
  /// - Parameter origin: A URL's origin, as ``TargetURL/origin`` gives it.
  public func refusal(ofOrigin origin: String) -> Refusal? {
    guard let (host, port) = Self.hostAndPort(origin) else { return nil }
    if let address = IPAddress(host: host) {
      return refusal(host: nil, address: address, port: port, isLocal: { address.addressClass == .loopback })
    }
    // Of a name nobody has spoken.
    if deny.isEmpty, reach != .listed { return nil }
    let name = Self.folded(host)
    if let rule = deny.first(where: { $0.covers(host: name, address: nil, port: port, to: .deny) }) {
      return .denied(rule)
    }
    // A block on the allow list may yet turn out to hold the address.
    let mayBeAllowed = allow.contains { rule in
      if case .block = rule.hosts { return rule.ports?.contains(port) ?? true }
      return rule.covers(host: name, address: nil, port: port, to: .allow)
    }
    return reach == .listed && !mayBeAllowed ? .notListed : nil
  }

  /// Why an address may not be dialled; nil when it may.
  ///
  /// - Parameters:
  ///   - host: The name that led to it; nil when the address itself was asked for.
  ///   - address: The address.
  ///   - port: The port.
  ///   - isLocal: Whether the address is one of this machine's; asked only where the port is one of its own.
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

  /// Whether a URL's origin names an address, and not a host that has yet to be looked up.
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

  /// A name as it is compared.
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
