import Glibc
import RedialLanes

/// One epoll loop with its listeners and its connections. It decides between its parts, each of which changes only its
/// own state.
///
/// Sound as `@unchecked Sendable`: `run` executes once, on one thread, and only that thread uses the mutable properties
/// (the initialiser ends before `run` is queued, which orders the two). Other threads reach the loop through `deliver`,
/// which reads only the constant `mailbox`; and a stream reads the constant `settings`.
final class EventLoop: @unchecked Sendable {
  /// The tag of the mailbox's events; no slot has such a large number.
  private static let mailboxTag = UInt64.max - 1
  /// The minimum step by which the buffer of a collected body grows.
  static let readBytes = 4096

  let mailbox: LoopMailbox
  let settings: LoopSettings
  let handler: any HTTPHandler
  let errorResponse: @Sendable (Int, String) -> HTTPResponse
  let poller: Poller

  // No two accesses to these can overlap; checking that at run time would cost some eighty instructions per access.
  // Only the loop's thread accesses them, and each access lasts as long as one method of the part. These are plain code
  // on bytes, tables and descriptors, which calls neither the handler nor anything else that could return to the loop.
  // Nor do they release anything of the handler's: who removes a connection from the table still has it, and a message
  // to another loop carries nothing.

  @exclusivity(unchecked) var acceptor: Acceptor
  @exclusivity(unchecked) var connections: ConnectionTable
  @exclusivity(unchecked) var deadlines: DeadlineLists
  @exclusivity(unchecked) var input: RequestInput
  /// The answers of the current connection. Empty between connections.
  @exclusivity(unchecked) var output: AnswerOutput

  /// The connection whose request the handler is processing.
  var current: Connection?
  /// Milliseconds of the monotonic clock when the loop last woke.
  var now: UInt64 = 0
  var ending = Ending()
  /// The messages of other threads that are being performed. Their memory is used again.
  private var messages: [LoopMailbox.Message] = []
  /// The messages of this thread, until the end of the iteration.
  private var ownMessages: [LoopMailbox.Message] = []

  /// Creates a loop.
  ///
  /// - Parameter acceptor: Has the listening sockets, which `run` closes at its end. If the loop cannot be created, the
  ///   caller closes them.
  init(
    mailbox: LoopMailbox, acceptor: consuming Acceptor, settings: LoopSettings, handler: any HTTPHandler,
    errorResponse: @escaping @Sendable (Int, String) -> HTTPResponse
  ) throws(HTTPServerError) {
    self.mailbox = mailbox
    self.settings = settings
    self.handler = handler
    self.errorResponse = errorResponse
    self.acceptor = acceptor
    connections = ConnectionTable(limit: settings.maxConnections, surplusLimit: settings.maxSurplus)
    deadlines = DeadlineLists(milliseconds: settings.waits)
    input = RequestInput(settings)
    output = AnswerOutput(settings)
    poller = try Poller()
    guard self.acceptor.watch(poller), poller.watch(mailbox.descriptor, for: Bell.interest, tag: Self.mailboxTag) else {
      throw .system(call: "epoll_ctl", address: "the event loop", errno: errno)
    }
  }

  /// Runs until the server stops or has drained.
  func run() {
    mailbox.begin()
    now = Self.clock()
    while !ending.isOver(connections: connections.count, now: now) {
      let count = poller.wait(atMost: timeout)
      now = Self.clock()
      var hasMail = false
      for index in 0..<count {
        let event = poller[index]
        switch event.tag {
        case Acceptor.tag: acceptConnections()
        case Self.mailboxTag: hasMail = true
        default: handle(event)
        }
      }
      if hasMail { takeMail() }
      expireDeadlines()
      takeOwnMessages()
      handler.turnEnded()
    }
    tearDown()
    handler.turnEnded()
  }

  /// Delivers a responder's message to the loop: at once if it answers the request that is being handled, at the end of
  /// the iteration if called on the loop's thread, and through the mailbox from any other thread.
  func deliver(_ message: LoopMailbox.Message) {
    guard mailbox.isOwn else { return mailbox.post(message) }
    guard let current else { return ownMessages.append(message) }
    switch message {
    case .answer(let token, let response) where token.serial == current.serial:
      answer(current, response)
    case .abort(let token) where token.serial == current.serial:
      current.serial = 0
      current.phase = .aborting
    case .begin(let token, let response, let backlog) where token.serial == current.serial:
      begin(current, response, backlog)
    case .flush(let token) where token.serial == current.serial: takeStream(current)
    case .observe(let token, let body) where token.serial == current.serial: observe(current, body)
    default: ownMessages.append(message)
    }
  }

  /// The timeout for `epoll_wait`: until the next deadline, or forever.
  private var timeout: Int32 {
    if !ownMessages.isEmpty { return 0 }
    var next = deadlines.next
    if let retry = acceptor.retriesAt { next = min(next ?? .max, retry) }
    if let end = ending.next { next = min(next ?? .max, end) }
    guard let next else { return -1 }
    return next <= now ? 0 : Int32(clamping: next - now)
  }

  private func takeMail() {
    mailbox.take(&messages)
    for message in messages { perform(message) }
    messages.removeAll(keepingCapacity: true)
  }

  /// Once per iteration: new messages that result have to wait, so that a stream that is always writable cannot block
  /// the others.
  private func takeOwnMessages() {
    guard !ownMessages.isEmpty else { return }
    let batch = ownMessages
    ownMessages = []
    for message in batch { perform(message) }
  }

  private func perform(_ message: LoopMailbox.Message) {
    checkOwner()
    switch message {
    case .answer(let token, let response): answer(token) { response }
    case .run(let body): body()
    case .abort(let token):
      guard let connection = connections.connection(of: token) else { return }
      reset(connection)
    case .begin(let token, let response, let backlog):
      guard let connection = connections.connection(of: token) else { return backlog.close() }
      begin(connection, response, backlog)
      proceed(connection)
    case .flush(let token):
      guard let connection = connections.connection(of: token) else { return }
      takeStream(connection)
      proceed(connection)
    case .observe(let token, let body):
      guard let connection = connections.connection(of: token) else { return body() }
      observe(connection, body)
    case .resume(let token):
      guard let connection = connections.connection(of: token) else { return }
      resume(connection)
    case .drain(let milliseconds): drain(milliseconds)
    case .accept: if acceptor.isAccepting { acceptConnections() }
    case .stop: ending.stop()
    }
  }

  /// Answers a request, if it is current. Only on the loop's thread, and not while a request is being handled.
  func answer(_ token: RequestToken, making response: () -> HTTPResponse) {
    checkOwner()
    guard let connection = connections.connection(of: token) else { return }
    answer(connection, response())
    proceed(connection)
  }

  /// Ends the process if another thread than the loop's asks.
  private func checkOwner() {
    precondition(mailbox.isOwn, "an event loop was used on a thread that does not own it")
  }

  private func tearDown() {
    checkOwner()
    for connection in connections.all { close(connection) }
    acceptor.close(poller)
    mailbox.shut()
    for message in ownMessages { LoopMailbox.refuse(message) }
    ownMessages = []
  }

  static func clock() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }
}
