import Dispatch
import Glibc
import Synchronization

/// An HTTP/1.1 server (RFC 9110, RFC 9112): event loops that accept, parse and answer, and a handler that decides the
/// answers.
///
/// ```swift
/// let server = HTTPServer(configuration: HTTPServerConfiguration(port: 8080), handler: MyHandler())
/// try server.start()
/// ```
///
/// It speaks HTTP/1.1 and 1.0 without TLS. The handler gets one request at a time per connection; pipelined requests
/// are answered in order. Requests are whole, unless the handler receives a body in pieces
/// (``HTTPHandler/receiver(for:_:)``), and so are answers, unless it writes one in pieces
/// (``HTTPResponder/stream(_:onEvent:)``). A request that is not valid, or is ambiguous, is refused and its connection
/// closed.
public final class HTTPServer: Sendable {
  private enum Stage {
    /// bound, finished
    case made
    /// running, finished
    case bound([EventLoop], Listener.Sockets)
    /// running while loops run, then finished
    case running([EventLoop], Listener.Sockets)
    case finished

    var sockets: Listener.Sockets? {
      switch self {
      case .bound(_, let sockets), .running(_, let sockets): sockets
      case .made, .finished: nil
      }
    }
  }

  private let configuration: HTTPServerConfiguration
  private let handler: any HTTPHandler
  private let errorResponse: @Sendable (Int, String) -> HTTPResponse
  private let stage = Mutex(Stage.made)
  private let completion = Completion()

  /// A server that does not listen yet.
  ///
  /// - Parameters:
  ///   - configuration: Where to listen, and the limits.
  ///   - handler: Answers requests.
  ///   - errorResponse: Renders the errors of the protocol, after which the connection is closed, and 412, from a status
  ///     and a sentence with the reason. Called on an event loop. By default, the sentence as plain text.
  public init(
    configuration: HTTPServerConfiguration, handler: any HTTPHandler,
    errorResponse: (@Sendable (_ status: Int, _ reason: String) -> HTTPResponse)? = nil
  ) {
    self.configuration = configuration
    self.handler = handler
    self.errorResponse = errorResponse ?? { status, reason in HTTPResponse(status: status, text: reason + "\n") }
  }

  deinit { stop() }

  /// Binds the listeners. Connections wait until ``run()``.
  ///
  /// - Parameter bound: Listeners that were bound before with the same configuration; nil to bind them now.
  /// - Throws: ``HTTPServerError`` if the address is wrong or in use, or if the server was started before; nothing is
  ///   left open then.
  public func bind(_ bound: HTTPListeners? = nil) throws(HTTPServerError) {
    try stage.withLock { stage throws(HTTPServerError) in
      guard case .made = stage else { throw .alreadyStarted }
      let sockets = if let taken = bound?.take() { taken } else { try Listener.open(configuration) }
      // Sockets of other processes outlive this one, and their backlog is for the next process.
      let inherited = configuration.address.inheritedSockets
      let settings = LoopSettings(configuration)
      var loops: [EventLoop] = []
      do throws(HTTPServerError) {
        var mailboxes: [LoopMailbox] = []
        for _ in sockets.descriptors { mailboxes.append(try LoopMailbox()) }
        for (listeners, mailbox) in zip(sockets.descriptors, mailboxes) {
          let acceptor = Acceptor(
            listeners: listeners, handsOnBacklog: !inherited.isEmpty,
            sharers: configuration.address.isShared ? mailboxes.filter { $0 !== mailbox } : [])
          loops.append(
            try EventLoop(
              mailbox: mailbox, acceptor: acceptor, settings: settings, handler: handler, errorResponse: errorResponse))
        }
      } catch {
        sockets.close()
        throw error
      }
      for socket in inherited { close(socket.descriptor) }
      stage = .bound(loops, sockets)
    }
  }

  /// Binds the listeners and starts the loops.
  ///
  /// - Throws: As ``bind()`` does.
  public func start() throws(HTTPServerError) {
    try bind()
    run()
  }

  /// Starts the loops of a server that is bound.
  public func run() {
    stage.withLock { stage in
      guard case .bound(let loops, let sockets) = stage else { return }
      completion.begin(loops: loops.count)
      for (index, loop) in loops.enumerated() {
        // A queue of its own is a thread of its own while the loop runs.
        DispatchQueue(label: "HTTPServer.loop.\(index)").async { [completion] in
          loop.run()
          completion.loopFinished()
        }
      }
      stage = .running(loops, sockets)
    }
  }

  /// The TCP port of the server, the first if there are several; 0 before it is bound, or without any.
  public var port: Int { stage.withLock { $0.sockets?.port ?? 0 } }

  /// The addresses of the server, such as `http://127.0.0.1:8080`, `http://[::1]:8080` or `unix:/run/redial.sock`; none
  /// before it is bound, and more than one only with inherited sockets.
  public var urls: [String] { stage.withLock { $0.sockets?.urls ?? [] } }

  /// Ends gracefully: stops accepting, closes idle connections, answers current requests with `Connection: close`.
  ///
  /// A connection that has not sent its first request yet has half a second to do so. The file of a Unix domain socket
  /// is removed. From an inherited socket nothing more is accepted: its backlog is for the next process.
  ///
  /// - Parameters:
  ///   - bound: The maximum time for this; open connections are then closed.
  ///   - then: Called once, when everything is closed: on a loop's thread, or at once if the server does not run.
  public func drain(within bound: Duration, then: @escaping @Sendable () -> Void) {
    completion.whenFinished(then)
    post(.drain(milliseconds: LoopSettings.milliseconds(bound)))
  }

  /// Ends at once: closes all connections, answered or not, and removes the file of a Unix domain socket.
  public func stop() { post(.stop) }

  private func post(_ message: LoopMailbox.Message) {
    stage.withLock { stage in
      switch stage {
      case .running(let loops, let sockets):
        // Removed before the listeners close, so that no client finds a file without a listener.
        sockets.file?.remove()
        for loop in loops { loop.mailbox.post(message) }
      case .bound(_, let sockets):
        sockets.close()
        stage = .finished
      case .made: stage = .finished
      case .finished: break
      }
    }
  }
}

extension ListenAddress {
  fileprivate var inheritedSockets: [InheritedSocket] {
    if case .inherited(let sockets) = self { sockets } else { [] }
  }

  /// Whether all loops accept from the same sockets.
  fileprivate var isShared: Bool {
    if case .tcp = self { false } else { true }
  }
}

/// Counts the running loops, and notifies the callers that wait for the last.
private final class Completion: Sendable {
  private struct State {
    var running = 0
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  func begin(loops: Int) { state.withLock { $0.running = loops } }

  func loopFinished() {
    let waiting = state.withLock { state -> [@Sendable () -> Void] in
      state.running -= 1
      guard state.running == 0 else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body() }
  }

  func whenFinished(_ body: @escaping @Sendable () -> Void) {
    let isFinished = state.withLock { state in
      if state.running > 0 { state.waiting.append(body) }
      return state.running == 0
    }
    if isFinished { body() }
  }
}
