import Glibc

/// Why a server did not start.
public enum HTTPServerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The host is no address literal and not `localhost`.
  case invalidHost(String)
  /// The port is not in 0…65535.
  case invalidPort(Int)
  /// A system call failed.
  case system(call: String, address: String, errno: Int32)
  /// `start()` was called before.
  case alreadyStarted

  /// What failed, with what, and what to do.
  public var description: String {
    switch self {
    case .invalidHost(let host):
      return "Cannot listen on \"\(host)\": give an IPv4 or IPv6 address, such as 127.0.0.1 or ::1, or localhost."
    case .invalidPort(let port):
      return "Cannot listen on port \(port): give a number from 0 to 65535; 0 takes a free port."
    case .system(let call, let address, let code):
      return "Cannot listen on \(address): \(call): \(String(cString: strerror(code))).\(Self.advice(code))"
    case .alreadyStarted:
      return "The server was started before; a stopped server is not started again, make a new one."
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
