import CLinux
import Glibc
import RedialLanes
import Synchronization

/// One epoll loop with its listeners and its connections.
///
/// Sound as `@unchecked Sendable`: `run` executes once, on one thread, and only that thread uses the mutable properties
/// (the initialiser ends before `run` is queued, which orders the two). Other threads reach the loop through `deliver`
/// and `post`, which read only the constant `mailbox` and the atomic `owner`.
final class EventLoop: @unchecked Sendable {
  /// The tags of events that belong to no connection; no slot has such a large number.
  static let listenerTag = UInt64.max
  static let mailboxTag = UInt64.max - 1
  /// How much is read at a time, and how many bytes of answers are collected before they are sent.
  static let scratchBytes = 64 * 1024
  /// The minimum step by which the buffer of a collected body grows.
  static let readBytes = 4096
  private static let eventCount = 256

  let mailbox: LoopMailbox
  /// The thread that runs the loop; 0 before.
  private let owner = Atomic<UInt>(0)

  let limits: ParserLimits
  let handler: any HTTPHandler
  let errorResponse: @Sendable (Int, String) -> HTTPResponse
  let maxConnections: Int
  /// Connections beyond the limit, which will be refused.
  let maxSurplus: Int
  let maxRequestsPerConnection: Int
  let maxOutputBacklogBytes: Int
  /// How many bytes of further requests are read while one is answered; beyond this the peer has to wait.
  let readAheadBytes: Int
  let decodesContent: Bool
  let gzipLevel: Int
  let gzipMinBytes: Int
  let gzipMaxBytes: Int
  private let onFinish: @Sendable () -> Void

  let epoll: Int32
  var listeners: [Int32]
  /// Connections in the backlog when a drain begins are left there.
  let leavesBacklog: Bool
  /// The loops that accept from the same sockets. Set before the loop runs.
  var sharers: [LoopMailbox] = []
  private let events: UnsafeMutablePointer<epoll_event>
  /// Receives all bytes; only unused ones move to a connection's own buffer.
  let scratch: UnsafeMutablePointer<UInt8>

  // No two accesses to these can overlap; checking that at run time would cost some eighty instructions per access.
  // Only the loop's thread accesses them, and each access lasts as long as one method of the buffer, the table or the
  // lists, or one call of the parser or the writer that fills them. These are plain code on bytes, which calls neither
  // the handler nor anything else that could return to the loop.

  /// Answers of the current connection that are not yet sent. Empty between connections.
  @exclusivity(unchecked) var out = ByteBuffer()
  @exclusivity(unchecked) var table: FieldTable
  /// The decompressed current body. Empty unless the handler is reading it.
  @exclusivity(unchecked) var inflated = ByteBuffer()
  var decoder: ContentDecoder
  /// The compressed current answer. Empty unless it is being written.
  @exclusivity(unchecked) var gzipped = ByteBuffer()
  var encoder: GzipEncoder
  @exclusivity(unchecked) var dateText: DateText

  var connections: [Connection?] = []
  var freeSlots: [Int] = []
  var connectionCount = 0
  /// The connections that are beyond the limit.
  var surplusCount = 0
  var generation: UInt32 = 0
  var serial: UInt64 = 0
  /// The connection whose request the handler is processing.
  var current: Connection?

  /// Milliseconds of the monotonic clock when the loop last woke.
  var now: UInt64 = 0
  @exclusivity(unchecked) var deadlines: DeadlineLists
  var isAccepting = true
  /// When accepting is tried again after descriptors ran out.
  var acceptsAgainAt: UInt64?
  var drainsUntil: UInt64?
  /// How long a drain waits for the first request of connections that have sent none.
  var awaitsFirstUntil: UInt64?
  var isStopping = false
  private var messages: [LoopMailbox.Message] = []
  private var ownMessages: [LoopMailbox.Message] = []

  /// Creates a loop for listening sockets, which `run` closes at its end. If the loop cannot be created, the caller
  /// closes them.
  init(
    listeners: [Int32], leavesBacklog: Bool, configuration: HTTPServerConfiguration, handler: any HTTPHandler,
    errorResponse: @escaping @Sendable (Int, String) -> HTTPResponse, onFinish: @escaping @Sendable () -> Void
  ) throws(HTTPServerError) {
    mailbox = try LoopMailbox()
    self.listeners = listeners
    self.leavesBacklog = leavesBacklog
    self.handler = handler
    self.errorResponse = errorResponse
    self.onFinish = onFinish
    limits = configuration.parserLimits
    maxConnections = configuration.maxConnectionsPerLoop
    maxSurplus = configuration.maxSurplusConnectionsPerLoop
    maxRequestsPerConnection = max(1, configuration.maxRequestsPerConnection)
    maxOutputBacklogBytes = min(max(1, configuration.maxOutputBacklogBytes), 1 << 48)
    readAheadBytes = min(max(1, configuration.maxPipelinedBytes), Self.scratchBytes)
    decodesContent = configuration.decodesContent
    gzipLevel = min(max(0, configuration.gzipLevel), 9)
    gzipMinBytes = configuration.gzipMinBytes
    gzipMaxBytes = configuration.gzipMaxBytes
    dateText = DateText(commonHeaders: configuration.commonHeaders)
    table = FieldTable(limits: limits)
    decoder = ContentDecoder(limits: configuration.contentLimits)
    encoder = GzipEncoder(level: gzipLevel)
    deadlines = DeadlineLists(
      milliseconds: [
        configuration.idleTimeout, configuration.headerTimeout, configuration.bodyTimeout,
        configuration.bodyPieceTimeout, configuration.writeTimeout, configuration.lingerTimeout,
        configuration.headerTimeout, configuration.headerTimeout, configuration.lingerTimeout,
      ].map(Self.milliseconds))
    events = .allocate(capacity: Self.eventCount)
    scratch = .allocate(capacity: Self.scratchBytes)
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard epoll >= 0, watchListeners(),
      watch(mailbox.descriptor, Bell.interest, Self.mailboxTag)
    else { throw .system(call: "epoll", address: "the event loop", errno: errno) }
  }

  deinit {
    if epoll >= 0 { Glibc.close(epoll) }
    events.deallocate()
    scratch.deallocate()
  }

  /// Runs until the server stops or has drained.
  func run() {
    owner.store(UInt(pthread_self()), ordering: .relaxed)
    now = Self.clock()
    while !isFinished {
      let count = epoll_wait(epoll, events, Int32(Self.eventCount), timeout)
      now = Self.clock()
      var hasMail = false
      for index in 0..<max(0, Int(count)) {
        let event = events[index]
        switch event.data.u64 {
        case Self.listenerTag: acceptConnections()
        case Self.mailboxTag: hasMail = true
        default: handle(event.events, tag: event.data.u64)
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
    guard owner.load(ordering: .relaxed) == UInt(pthread_self()) else { return mailbox.post(message) }
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

  /// Like `deliver`, for many.
  func deliver(contentsOf messages: [LoopMailbox.Message]) {
    if owner.load(ordering: .relaxed) == UInt(pthread_self()) {
      for message in messages { deliver(message) }
    } else {
      mailbox.post(contentsOf: messages)
    }
  }

  private var isFinished: Bool {
    if isStopping { return true }
    guard let drainsUntil else { return false }
    return connectionCount == 0 || now >= drainsUntil
  }

  /// The timeout for `epoll_wait`: until the next deadline, or forever.
  private var timeout: Int32 {
    if !ownMessages.isEmpty { return 0 }
    var next = deadlines.next
    for other in [acceptsAgainAt, drainsUntil, awaitsFirstUntil] {
      if let other { next = min(next ?? .max, other) }
    }
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
    switch message {
    case .answer(let token, let response):
      guard let connection = connection(of: token) else { return }
      answer(connection, response)
      proceed(connection)
    case .abort(let token):
      guard let connection = connection(of: token) else { return }
      reset(connection)
    case .begin(let token, let response, let backlog):
      guard let connection = connection(of: token) else { return backlog.close() }
      begin(connection, response, backlog)
      proceed(connection)
    case .flush(let token):
      guard let connection = connection(of: token) else { return }
      takeStream(connection)
      proceed(connection)
    case .observe(let token, let body):
      guard let connection = connection(of: token) else { return body() }
      observe(connection, body)
    case .resume(let token):
      guard let connection = connection(of: token) else { return }
      resume(connection)
    case .drain(let milliseconds): drain(milliseconds)
    case .accept: if isAccepting { acceptConnections() }
    case .stop: isStopping = true
    }
  }

  /// The connection that waits for the answer to that request.
  private func connection(of token: RequestToken) -> Connection? {
    guard Int(token.slot) < connections.count, let connection = connections[Int(token.slot)],
      connection.serial == token.serial
    else { return nil }
    return connection
  }

  private func tearDown() {
    for connection in connections {
      if let connection { close(connection) }
    }
    closeListeners()
    mailbox.shut()
    // The thread continues with other work: the mailbox drops its later answers, like those of other threads.
    owner.store(0, ordering: .relaxed)
    for message in ownMessages { LoopMailbox.refuse(message) }
    ownMessages = []
    onFinish()
  }

  static func clock() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }

  /// At least 1 ms, rounded up.
  static func milliseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 1 }
    let whole = UInt64(clamping: min(seconds, 1 << 40)) * 1000
    return max(1, whole + UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
  }
}

extension EventLoop {
  /// Starts to watch a descriptor.
  func watch(_ descriptor: Int32, _ interest: UInt32, _ tag: UInt64) -> Bool {
    control(EPOLL_CTL_ADD, descriptor, interest, tag)
  }

  func control(_ operation: Int32, _ descriptor: Int32, _ interest: UInt32, _ tag: UInt64) -> Bool {
    var event = epoll_event()
    event.events = interest
    event.data.u64 = tag
    return epoll_ctl(epoll, operation, descriptor, &event) == 0
  }
}
