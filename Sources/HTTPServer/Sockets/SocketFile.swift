import Glibc
import Synchronization

/// The file of a Unix domain socket that a server has created.
final class SocketFile: Sendable {
  private struct Identity: Equatable {
    var device: dev_t
    var number: ino_t

    /// The identity of a file that is a socket, and not a link to one.
    init?(path: String) {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
      (device, number) = (status.st_dev, status.st_ino)
    }
  }

  private let path: String
  /// Nil after its removal.
  private let identity: Mutex<Identity?>

  private init(path: String) {
    self.path = path
    identity = Mutex(Identity(path: path))
  }

  /// Removes the file, unless another server has replaced it. A second call does nothing.
  func remove() {
    identity.withLock { identity in
      if let made = identity, made == Identity(path: path) { unlink(path) }
      identity = nil
    }
  }

  /// Binds a socket to a path, and listens. A socket without a listener is replaced.
  static func listen(
    at path: String, permissions: Int, backlog: Int
  ) throws(HTTPServerError) -> (descriptor: Int32, file: SocketFile) {
    let address = try SocketAddress(path: path)
    let name = ListenAddress.unix(path: path).description
    try clear(path, address, name)
    let descriptor = try Listener.socket(AF_UNIX, name)
    let mode = mode_t(truncatingIfNeeded: permissions & 0o777)
    // Bound with the socket's own mode, so the file is never more open than intended.
    guard fchmod(descriptor, mode) == 0 else { throw Listener.failure("fchmod", descriptor, name) }
    guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else {
      throw Listener.failure("bind", descriptor, name)
    }
    let file = SocketFile(path: path)
    // The umask may have removed too much.
    guard chmod(path, mode) == 0 else {
      let error = Listener.failure("chmod", descriptor, name)
      file.remove()
      throw error
    }
    guard Glibc.listen(descriptor, Int32(clamping: max(1, backlog))) == 0 else {
      let error = Listener.failure("listen", descriptor, name)
      file.remove()
      throw error
    }
    return (descriptor, file)
  }

  /// Removes the socket of an ended process before a new one is bound. Only a refused connection proves that it has
  /// ended.
  private static func clear(_ path: String, _ address: SocketAddress, _ name: String) throws(HTTPServerError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw .system(call: "stat", address: name, errno: errno)
    }
    guard let identity = Identity(path: path) else { throw .notASocket(path: path) }
    let descriptor = try Listener.socket(AF_UNIX, name)
    defer { close(descriptor) }
    if address.withPointer({ connect(descriptor, $0, $1) }) == 0 { throw .socketInUse(path: path) }
    switch errno {
    case ENOENT: return
    case ECONNREFUSED: break
    // Its backlog is full, or it is a socket of another kind: another process has it open.
    case EAGAIN, EPROTOTYPE: throw .socketInUse(path: path)
    case let code: throw .system(call: "connect", address: name, errno: code)
    }
    // Another server may have replaced it meanwhile.
    guard identity == Identity(path: path) else { throw .socketInUse(path: path) }
    guard unlink(path) == 0 || errno == ENOENT else { throw .system(call: "unlink", address: name, errno: errno) }
  }
}
