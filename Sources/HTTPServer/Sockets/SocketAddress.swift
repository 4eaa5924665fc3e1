import Glibc

/// An IPv4 or IPv6 address and port, or the path of a Unix domain socket, as the socket calls need it.
struct SocketAddress {
  private var storage = sockaddr_storage()
  private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

  var family: Int32 { Int32(storage.ss_family) }

  /// Parses a literal; no name is ever looked up.
  init(host: String, port: Int) throws(HTTPServerError) {
    guard let number = UInt16(exactly: port) else { throw .invalidPort(port) }
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    // An embedded NUL would cut the text short, and 127.1 or 010.0.0.1 are old forms with a surprising meaning.
    guard !host.utf8.contains(0), host == "localhost" || host.utf8.contains(ASCII.colon) || Self.isDottedQuad(host),
      getaddrinfo(host == "localhost" ? "127.0.0.1" : host, nil, &hints, &list) == 0, let first = list
    else { throw .invalidHost(host) }
    defer { freeaddrinfo(first) }
    length = first.pointee.ai_addrlen
    withUnsafeMutableBytes(of: &storage) { target in
      target.copyMemory(from: UnsafeRawBufferPointer(start: first.pointee.ai_addr, count: Int(length)))
    }
    setPort(number)
  }

  /// The bytes of `sun_path` besides the NUL at its end (unix(7)).
  static let maximumPathBytes = 107

  /// The address of a Unix domain socket in the file system.
  init(path: String) throws(HTTPServerError) {
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, !bytes.contains(0) else { throw .invalidSocketPath(path) }
    guard bytes.count <= Self.maximumPathBytes else { throw .socketPathTooLong(path) }
    storage.ss_family = sa_family_t(AF_UNIX)
    length = socklen_t(Self.pathOffset + bytes.count + 1)
    withUnsafeMutableBytes(of: &storage) { target in
      // The storage is larger than sockaddr_un and all zero, so the path ends in a NUL.
      UnsafeMutableRawBufferPointer(rebasing: target[Self.pathOffset...]).copyBytes(from: bytes)
    }
  }

  /// Where `sun_path` begins.
  private static let pathOffset = 2

  private init() {}

  private static func isDottedQuad(_ host: String) -> Bool {
    var address = in_addr()
    return inet_pton(AF_INET, host, &address) == 1
  }

  /// The actual address of a listener.
  static func local(_ descriptor: Int32) -> SocketAddress? {
    var address = SocketAddress()
    let result = address.withMutablePointer { getsockname(descriptor, $0, $1) }
    return result == 0 ? address : nil
  }

  /// The text of a connection's remote address; empty if it has gone.
  static func peerText(_ descriptor: Int32) -> String {
    var address = SocketAddress()
    guard address.withMutablePointer({ getpeername(descriptor, $0, $1) }) == 0 else { return "" }
    return address.text
  }

  /// Whether a connection uses a Unix domain socket. Unlike the peer's address, this is known while the descriptor is
  /// open.
  static func isUnix(_ descriptor: Int32) -> Bool {
    var domain: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX
  }

  var port: Int {
    withUnsafeBytes(of: storage) { bytes in
      Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
    }
  }

  /// The address for clients: `http://127.0.0.1:8080`, `http://[::1]:8080`, `unix:/run/redial.sock`.
  var url: String {
    if family == AF_UNIX { return ListenAddress.unixPrefix + path }
    let host = text
    // In a URL, the percent sign before a zone is encoded (RFC 6874 section 2).
    return "http://" + (host.contains(":") ? "[\(host)\(zone.isEmpty ? "" : "%25" + zone)]" : host) + ":\(port)"
  }

  /// The path of a Unix domain socket; an abstract name with an `@` before it, empty without any.
  private var path: String {
    withUnsafeBytes(of: storage) { bytes in
      let name = bytes[Self.pathOffset..<max(Self.pathOffset, min(Int(length), bytes.count))]
      if name.first == 0 { return "@" + String(decoding: name.dropFirst(), as: UTF8.self) }
      return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// The name of the interface that a link-local IPv6 address belongs to; else empty.
  private var zone: String {
    guard family == AF_INET6 else { return "" }
    // sin6_scope_id lies at byte 24.
    let index = withUnsafeBytes(of: storage) { $0.loadUnaligned(fromByteOffset: 24, as: UInt32.self) }
    var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
    guard index != 0 else { return "" }
    guard if_indextoname(index, &name) != nil else { return "\(index)" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The address without its port; an IPv4 address on an IPv6 socket as IPv4; empty for a Unix domain socket.
  var text: String {
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard family == AF_INET || family == AF_INET6 else { return "" }
    let isFound = withUnsafeBytes(of: storage) { bytes -> Bool in
      // The address lies at byte 4 of sockaddr_in and at byte 8 of sockaddr_in6.
      guard let start = bytes.baseAddress else { return false }
      let address = start + (family == AF_INET ? 4 : 8)
      return inet_ntop(family, address, &buffer, socklen_t(buffer.count)) != nil
    }
    guard isFound else { return "" }
    let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.hasPrefix("::ffff:") && text.contains(".") ? String(text.dropFirst(7)) : text
  }

  /// `sin_port` and `sin6_port` both lie at byte 2, in network order.
  mutating func setPort(_ port: UInt16) {
    withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self) }
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    // Sound: sockaddr_storage can be read as any sockaddr.
    withUnsafePointer(to: storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }

  private mutating func withMutablePointer<Result>(
    _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Result
  ) -> Result {
    var count = length
    defer { length = count }
    return withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &count) }
    }
  }
}
