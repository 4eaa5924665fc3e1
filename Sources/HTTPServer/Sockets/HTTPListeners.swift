import Synchronization

/// The listening sockets of a server that is still to be made. Connections to them wait for it.
///
/// A process that may fail to get its address finds that out before it does anything else that cannot be undone.
public final class HTTPListeners: Sendable {
  private let sockets: Mutex<Listener.Sockets?>

  /// Binds the sockets.
  ///
  /// - Throws: ``HTTPServerError`` if the address is wrong or in use; nothing is left open then.
  public init(_ configuration: HTTPServerConfiguration) throws(HTTPServerError) {
    sockets = Mutex(try Listener.open(configuration))
  }

  deinit { take()?.close() }

  /// Their addresses, as ``HTTPServer/urls`` of the server; none once it has them.
  public var urls: [String] { sockets.withLock { $0?.urls ?? [] } }

  /// Gives them away: the caller closes them.
  @discardableResult
  func take() -> Listener.Sockets? {
    sockets.withLock { sockets in
      defer { sockets = nil }
      return sockets
    }
  }
}
