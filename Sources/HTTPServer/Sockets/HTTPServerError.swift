import Glibc

/// Why a server did not start.
public enum HTTPServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The host is neither an address literal nor `localhost`.
  case invalidHost(String)
  /// The port is not in 0…65535.
  case invalidPort(Int)
  /// The path of a Unix domain socket is empty or contains a NUL.
  case invalidSocketPath(String)
  /// The path of a Unix domain socket is longer than the system allows.
  case socketPathTooLong(String)
  /// Another process listens on that Unix domain socket.
  case socketInUse(path: String)
  /// The path of the Unix domain socket is a file of another kind, which is left alone.
  case notASocket(path: String)
  /// The inherited descriptor is not a listening stream socket.
  case notListening(InheritedSocket)
  /// Inherited sockets were requested, but none were passed.
  case nothingInherited
  /// A variable of the protocol for inherited sockets is not valid.
  case invalidEnvironment(name: String, value: String)
  /// A system call failed.
  case system(call: String, address: String, errno: Int32)
  /// `start()` was called before.
  case alreadyStarted

  /// What failed, with which input, and what to do.
  public var description: String {
    switch self {
    case .invalidHost(let host):
      return "Cannot listen on \"\(host)\": give an IPv4 or IPv6 address, such as 127.0.0.1 or ::1, or localhost."
    case .invalidPort(let port):
      return "Cannot listen on port \(port): give a number from 0 to 65535; 0 takes a free port."
    case .invalidSocketPath(let path):
      return "Cannot listen on \"unix:\(path)\": give the path of a file, such as unix:/run/redial/redial.sock."
    case .socketPathTooLong(let path):
      return "Cannot listen on unix:\(path): the path has \(path.utf8.count) bytes, and the system takes "
        + "\(SocketAddress.maximumPathBytes): choose a shorter one."
    case .socketInUse(let path):
      return "Cannot listen on unix:\(path): another process listens there: stop it or choose another path."
    case .notASocket(let path):
      return "Cannot listen on unix:\(path): the file there is not a socket: move it away or choose another path."
    case .notListening(let socket):
      return "Cannot listen on the inherited \(socket): it is not a listening stream socket: "
        + "check the program that passes it."
    case .nothingInherited:
      return "Cannot listen on inherited sockets: there are none."
    case .invalidEnvironment(let name, let value):
      return "Cannot use inherited sockets: \(name) is \"\(value)\", which is not valid: "
        + "check the program that sets it."
    case .system(let call, let address, let code):
      let advice = address.hasPrefix(ListenAddress.unixPrefix) ? Self.pathAdvice(code) : Self.advice(code)
      return "Cannot listen on \(address): \(call): \(String(cString: strerror(code))).\(advice)"
    case .alreadyStarted:
      return "The server was started before. A stopped server cannot start again; make a new one."
    }
  }

  private static func pathAdvice(_ code: Int32) -> String {
    switch code {
    case EADDRINUSE: " Another process listens there: stop it or choose another path."
    case EACCES, EPERM, EROFS: " The folder must be writable, and a socket in it connectable, for this user."
    case ENOENT, ENOTDIR: " The folder must exist: make it or choose another path."
    default: advice(code)
    }
  }

  private static func advice(_ code: Int32) -> String {
    switch code {
    case EADDRINUSE: " Another process listens there: stop it or choose another port."
    case EACCES: " Ports below 1024 need the right CAP_NET_BIND_SERVICE: choose a higher port."
    case EADDRNOTAVAIL: " This machine does not have that address: choose one that `ip address` shows, or 0.0.0.0."
    case EMFILE, ENFILE: " Too many files are open: raise `ulimit -n`."
    default: ""
    }
  }
}
