internal import CCurl
internal import Glibc
internal import RedialModel

/// The step between a name's address and a connection to it: the egress policy checks the address that would be
/// dialled, whatever its name was.
struct Dialling {
  /// The policy; nil for a client that may go anywhere.
  let policy: EgressPolicy?
  /// Whether all connections go to a proxy, which the operator has configured, and to which the policy does not apply.
  let isProxied: Bool
  /// Why the last refused address was refused.
  private(set) var refusal: EgressPolicy.Refusal?
  /// How many addresses were allowed.
  private(set) var allowed = 0
  /// Why this side had no socket for the last allowed address; 0 if it had one.
  private(set) var localError: Int32 = 0
  /// The addresses that were dialled, and when.
  private var dialled: [(address: IPAddress, at: ContinuousClock.Instant)] = []
  /// The sockets that were opened.
  private(set) var sockets: [Int32] = []
  /// The URL that is called.
  private(set) var url = ""
  /// Whether the target is called with TLS.
  private(set) var isSecure = false

  init(policy: EgressPolicy?, isProxied: Bool = false) {
    self.policy = policy
    self.isProxied = isProxied
  }

  /// Checks another URL that is about to be called.
  ///
  /// - Returns: Whether it is allowed, as far as known before its name is resolved.
  mutating func begin(_ url: String) -> Bool {
    self.url = url
    isSecure = url.utf8.count > 5 && url.utf8[url.utf8.index(url.startIndex, offsetBy: 4)] | 0x20 == UInt8(ascii: "s")
    refusal = nil
    allowed = 0
    localError = 0
    if !sockets.isEmpty { (sockets, dialled) = ([], []) }
    // A proxy resolves the name itself, so it cannot be checked here.
    guard isProxied, let policy, let origin = try? TargetURL(url).origin else { return true }
    refusal = policy.refusal(ofOrigin: origin)
    return refusal == nil
  }

  /// Opens a socket for an address, or refuses to.
  mutating func open(_ destination: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    let endpoint = isProxied ? nil : Self.endpoint(destination)
    if let policy, !isProxied {
      guard let (address, port) = endpoint else {
        // Neither IPv4 nor IPv6: no URL leads to such an address.
        refusal = EgressPolicy.Refusal(rule: "unknownFamily", clause: "addresses that are neither IPv4 nor IPv6")
        return CURL_SOCKET_BAD
      }
      let found = policy.refusal(host: name, address: address, port: port) {
        LocalAddress.isOfThisMachine(destination)
      }
      if let found {
        refusal = found
        return CURL_SOCKET_BAD
      }
    }
    let kind = destination.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    let opened = socket(destination.pointee.family, kind, destination.pointee.protocol)
    // libcurl does not report why there was none.
    localError = opened < 0 ? errno : 0
    if opened >= 0 {
      allowed += 1
      sockets.append(opened)
      if let endpoint { dialled.append((endpoint.0, .now)) }
    }
    return opened
  }

  /// The addresses that had time to answer, if none has: an older libcurl dials the next one in the last moment.
  func silent(at now: ContinuousClock.Instant = .now) -> [IPAddress] {
    guard let first = dialled.first else { return [] }
    return dialled.filter { now - $0.at >= (now - first.at) / 2 }.map(\.address)
  }

  /// The name in the URL; nil if the URL has an address.
  private var name: String? {
    guard let origin = try? TargetURL(url).origin, let start = origin.firstIndex(of: "/") else { return nil }
    let authority = origin[start...].dropFirst(2)
    guard !authority.hasPrefix("[") else { return nil }
    let host = String(authority.prefix { $0 != ":" })
    return IPAddress(host: host) == nil ? host : nil
  }

  private static func endpoint(_ destination: UnsafeMutablePointer<curl_sockaddr>) -> (IPAddress, Int)? {
    let bytes = destination.address
    let port = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
    switch destination.pointee.family {
    case AF_INET:
      return (IPAddress(v4: UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))), port)
    case AF_INET6:
      let high = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      let low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
      return (IPAddress(high: high, low: low), port)
    default: return nil
    }
  }
}

extension UnsafeMutablePointer<curl_sockaddr> {
  /// The socket address, `addrlen` bytes in its family's form: libcurl reserves memory for any family behind the
  /// general type.
  fileprivate var address: UnsafeRawPointer {
    UnsafeRawPointer(self) + (MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 16)
  }
}

/// Whether an address belongs to this machine.
enum LocalAddress {
  /// Asks the kernel for the source address of a connection to it: from a machine to itself, that is the same address.
  /// Nothing is sent. If the kernel does not say, the answer is yes.
  static func isOfThisMachine(_ destination: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
    let (family, size) = (destination.pointee.family, destination.pointee.addrlen)
    let probe = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard probe >= 0 else { return true }
    defer { close(probe) }
    // An address without a route does not belong to this machine.
    guard connect(probe, destination.address.assumingMemoryBound(to: sockaddr.self), size) == 0 else { return false }
    var own = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &own) { own in
      guard let base = own.baseAddress,
        getsockname(probe, base.assumingMemoryBound(to: sockaddr.self), &length) == 0
      else { return true }
      // Only the address: bytes 4...7 of IPv4's form, 8...23 of IPv6's.
      let range = family == AF_INET ? 4..<8 : 8..<24
      return own[range].elementsEqual(UnsafeRawBufferPointer(start: destination.address, count: Int(size))[range])
    }
  }
}
