import Glibc

/// A listening socket that another process has opened and passes on by its descriptor.
///
/// While one process replaces another, connections wait in the socket's backlog: none is refused.
public struct InheritedSocket: Hashable, Sendable, CustomStringConvertible {
  /// The open descriptor. A server that has started owns it, and closes it at its end; until then it is its giver's.
  public let descriptor: Int32
  /// What the giver calls it; empty without a name.
  public let name: String

  /// The socket behind a descriptor; whether it listens shows when the server starts.
  public init(descriptor: Int32, name: String = "") {
    self.descriptor = descriptor
    self.name = name
  }

  /// The descriptor, and the name if there is one.
  public var description: String { "descriptor \(descriptor)" + (name.isEmpty ? "" : " (\(name))") }
}

extension InheritedSocket {
  private static let firstDescriptor: Int32 = 3
  private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"]
  /// More than any program passes on; a larger number is a mistake.
  private static let maximumCount = 1024

  /// Takes the sockets that the service manager hands to this process, by the protocol of sd_listen_fds(3), and unsets
  /// its variables so that children do not believe that the sockets are theirs.
  ///
  /// Call it before there are other threads: environments are not safe to change beside them.
  ///
  /// - Returns: The sockets in their order; none if there are none, or if they are meant for another process.
  /// - Throws: ``HTTPServerError/invalidEnvironment(name:value:)``.
  public static func takeFromEnvironment() throws(HTTPServerError) -> [InheritedSocket] {
    var environment: [String: String] = [:]
    for name in variables {
      if let value = getenv(name) { environment[name] = String(cString: value) }
      unsetenv(name)
    }
    let sockets = try list(environment, process: getpid())
    for socket in sockets { closeOnExec(socket.descriptor) }
    return sockets
  }

  /// What those variables say to a process.
  static func list(_ environment: [String: String], process: Int32) throws(HTTPServerError) -> [InheritedSocket] {
    guard let processText = environment["LISTEN_PID"], let countText = environment["LISTEN_FDS"] else { return [] }
    guard let meant = Int32(processText), meant > 0 else {
      throw .invalidEnvironment(name: "LISTEN_PID", value: processText)
    }
    guard meant == process else { return [] }
    guard let count = Int(countText), (0...maximumCount).contains(count) else {
      throw .invalidEnvironment(name: "LISTEN_FDS", value: countText)
    }
    let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
    return (0..<count).map { index in
      InheritedSocket(
        descriptor: firstDescriptor + Int32(index), name: index < names.count ? String(names[index]) : "")
    }
  }

  private static func closeOnExec(_ descriptor: Int32) {
    let flags = fcntl(descriptor, F_GETFD)
    if flags >= 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
  }

  /// A descriptor of one's own for the socket, made ready for an event loop.
  ///
  /// - Throws: ``HTTPServerError/notListening(_:)``, if it is not a stream socket that listens.
  func duplicate() throws(HTTPServerError) -> Int32 {
    guard option(SO_ACCEPTCONN) == 1, option(SO_TYPE) == Int32(SOCK_STREAM.rawValue),
      let family = option(SO_DOMAIN), [AF_INET, AF_INET6, AF_UNIX].contains(family)
    else { throw .notListening(self) }
    // An accept that blocks would stop a loop. The flag is the socket's, not the descriptor's: its giver sees it too.
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else {
      throw .system(call: "fcntl", address: description, errno: errno)
    }
    if family != AF_UNIX { Listener.setForAccepted(descriptor) }
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw .system(call: "fcntl", address: description, errno: errno) }
    return copy
  }

  private func option(_ name: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
  }
}
