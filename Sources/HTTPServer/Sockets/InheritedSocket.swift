import Glibc

/// A listening socket that another process has opened and passed on by its descriptor.
///
/// While one process replaces another, connections wait in the socket's backlog: none is refused.
public struct InheritedSocket: Hashable, Sendable, CustomStringConvertible {
  /// The open descriptor. A server that has started owns it and closes it at its end; until then its creator does.
  public let descriptor: Int32
  /// The name that the other process gave it; empty without a name.
  public let name: String

  /// The socket of a descriptor; the server checks at its start whether it listens.
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

  /// Returns the sockets that the service manager passes to this process, by the protocol of sd_listen_fds(3), and
  /// unsets its variables so that child processes do not use the sockets.
  ///
  /// Call it before there are other threads: changing the environment beside them is not safe.
  ///
  /// - Returns: The sockets in their order; none if there are none, or if they are for another process.
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

  /// The meaning of those variables for a process.
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

  /// A new descriptor for the socket, prepared for an event loop.
  ///
  /// - Throws: ``HTTPServerError/notListening(_:)`` if it is not a stream socket that listens.
  func duplicate() throws(HTTPServerError) -> Int32 {
    guard option(SO_ACCEPTCONN) == 1, option(SO_TYPE) == Int32(SOCK_STREAM.rawValue),
      let family = option(SO_DOMAIN), [AF_INET, AF_INET6, AF_UNIX].contains(family)
    else { throw .notListening(self) }
    // A blocking accept would stop a loop. The flag belongs to the socket, not the descriptor, so the other process
    // sees it too.
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
