import Glibc

/// Opens listening sockets.
enum Listener {
  /// Binds one socket a loop to an address, or none.
  ///
  /// - Returns: The descriptors, and the port that they share.
  static func open(_ configuration: HTTPServerConfiguration) throws(HTTPServerError) -> ([Int32], port: Int) {
    var address = try SocketAddress(host: configuration.host, port: configuration.port)
    let count = max(1, configuration.loops)
    let name = "\(configuration.host):\(configuration.port)"
    // Sockets with SO_REUSEPORT join any others of the same user: two servers would share a port unnoticed. One
    // without it is refused, so it asks first.
    if count > 1, configuration.port != 0 {
      close(try bind(address, name, sharesPort: false, backlog: 1))
    }
    var descriptors: [Int32] = []
    for _ in 0..<count {
      do {
        let descriptor = try bind(address, name, sharesPort: count > 1, backlog: configuration.backlog)
        descriptors.append(descriptor)
        if let bound = SocketAddress.local(descriptor), let port = UInt16(exactly: bound.port) {
          address.setPort(port)
        }
      } catch {
        for descriptor in descriptors { close(descriptor) }
        throw error
      }
    }
    return (descriptors, address.port)
  }

  private static func bind(
    _ address: SocketAddress, _ name: String, sharesPort: Bool, backlog: Int
  ) throws(HTTPServerError) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(address.family, type, 0)
    guard descriptor >= 0 else { throw .system(call: "socket", address: name, errno: errno) }
    set(descriptor, SOL_SOCKET, SO_REUSEADDR)
    if sharesPort { set(descriptor, SOL_SOCKET, SO_REUSEPORT) }
    // Accepted sockets inherit it: one system call less a connection.
    set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
    guard address.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
      throw failure("bind", descriptor, name)
    }
    guard listen(descriptor, Int32(clamping: max(1, backlog))) == 0 else { throw failure("listen", descriptor, name) }
    return descriptor
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) {
    var one: Int32 = 1
    setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func failure(_ call: String, _ descriptor: Int32, _ name: String) -> HTTPServerError {
    let code = errno
    close(descriptor)
    return .system(call: call, address: name, errno: code)
  }
}
