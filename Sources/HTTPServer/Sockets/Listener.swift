import Glibc

/// Opens listening sockets.
enum Listener {
  /// The sockets of a server.
  struct Sockets {
    /// The descriptors that each loop watches; each is closed once.
    var descriptors: [[Int32]] = []
    /// The port of the first socket that has one; else 0.
    var port = 0
    /// The address of each.
    var urls: [String] = []
    /// The file that is removed when the server ends.
    var file: SocketFile?

    func close() {
      for descriptor in descriptors.joined() { Glibc.close(descriptor) }
      file?.remove()
    }
  }

  /// Opens all sockets, or none.
  ///
  /// For a TCP address each loop has its own listener, and the kernel spreads connections among them. All loops share a
  /// Unix domain socket or an inherited socket.
  static func open(_ configuration: HTTPServerConfiguration) throws(HTTPServerError) -> Sockets {
    let loops = max(1, configuration.loops)
    var sockets = Sockets()
    do throws(HTTPServerError) {
      switch configuration.address {
      case .tcp(let host, let port):
        try openPort(SocketAddress(host: host, port: port), configuration, loops, &sockets)
      case .unix(let path):
        let (descriptor, file) = try SocketFile.listen(
          at: path, permissions: configuration.socketPermissions, backlog: configuration.backlog)
        (sockets.descriptors, sockets.file) = ([[descriptor]], file)
        let made = InheritedSocket(descriptor: descriptor)
        for _ in 1..<loops { sockets.descriptors.append([try made.duplicate()]) }
      case .inherited(let inherited):
        guard !inherited.isEmpty else { throw .nothingInherited }
        for loop in 0..<loops {
          sockets.descriptors.append([])
          for socket in inherited { sockets.descriptors[loop].append(try socket.duplicate()) }
        }
      }
    } catch {
      sockets.close()
      throw error
    }
    let addresses = sockets.descriptors[0].compactMap(SocketAddress.local)
    sockets.urls = addresses.map(\.url)
    sockets.port = addresses.first { $0.family != AF_UNIX }?.port ?? 0
    return sockets
  }

  private static func openPort(
    _ address: SocketAddress, _ configuration: HTTPServerConfiguration, _ loops: Int, _ sockets: inout Sockets
  ) throws(HTTPServerError) {
    var address = address
    let name = configuration.address.description
    // Sockets with SO_REUSEPORT join any others of the same user: two servers would share a port unnoticed. A socket
    // without it is refused, so it is tried first.
    if loops > 1, address.port != 0 {
      close(try bind(address, name, sharesPort: false, backlog: 1))
    }
    for _ in 0..<loops {
      let descriptor = try bind(address, name, sharesPort: loops > 1, backlog: configuration.backlog)
      sockets.descriptors.append([descriptor])
      if let bound = SocketAddress.local(descriptor), let port = UInt16(exactly: bound.port) {
        address.setPort(port)
      }
    }
  }

  private static func bind(
    _ address: SocketAddress, _ name: String, sharesPort: Bool, backlog: Int
  ) throws(HTTPServerError) -> Int32 {
    let descriptor = try socket(address.family, name)
    set(descriptor, SOL_SOCKET, SO_REUSEADDR)
    if sharesPort { set(descriptor, SOL_SOCKET, SO_REUSEPORT) }
    // Set here and not left to net.ipv6.bindv6only: `::` accepts IPv4 as well.
    if address.family == AF_INET6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 0) }
    setForAccepted(descriptor)
    guard address.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
      throw failure("bind", descriptor, name)
    }
    guard listen(descriptor, Int32(clamping: max(1, backlog))) == 0 else { throw failure("listen", descriptor, name) }
    return descriptor
  }

  /// A stream socket that does not block and that children do not inherit.
  static func socket(_ family: Int32, _ name: String) throws(HTTPServerError) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = Glibc.socket(family, type, 0)
    guard descriptor >= 0 else { throw .system(call: "socket", address: name, errno: errno) }
    return descriptor
  }

  /// Sets options that accepted sockets inherit, which saves system calls per connection.
  static func setForAccepted(_ descriptor: Int32) {
    set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
    // Detects a peer that vanished: after two minutes without unsent data, and after half a minute, instead of some
    // fifteen, with it.
    set(descriptor, SOL_SOCKET, SO_KEEPALIVE)
    set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, to: 60)
    set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, to: 10)
    set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, to: 6)
    set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, to: 30_000)
  }

  static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, to value: Int32 = 1) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// The error of the system call that has just failed; closes the descriptor.
  static func failure(_ call: String, _ descriptor: Int32, _ name: String) -> HTTPServerError {
    let code = errno
    close(descriptor)
    return .system(call: call, address: name, errno: code)
  }
}
