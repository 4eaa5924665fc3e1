/// One connection. The loop that accepted it owns it and uses it only on its own thread.
final class Connection {
  /// The state of the current request. The comment of each state lists its successors.
  enum Phase {
    /// Requests are awaited and parsed: handling, closing, closed
    case reading
    /// The handler has a request and has not answered it; more of the body may follow: streaming, reading, closing,
    /// aborting, closed
    case handling
    /// The answer has begun, and is written in pieces: reading, closing, aborting, closed
    case streaming
    /// The last answer is being sent: lingering, closed
    case closing
    /// The handler requested a reset: closed
    case aborting
    /// Our side is shut; received bytes are dropped until the peer shuts its side: closed
    case lingering
    case closed
  }

  let descriptor: Int32
  let slot: Int
  /// Distinguishes this connection from earlier ones in its slot, for events that were already fetched.
  let generation: UInt32

  var phase = Phase.reading
  // No two accesses to one of these can overlap, for the reason given for the loop's own buffers.
  @exclusivity(unchecked) var parser = RequestParser(announcesBodies: true)
  /// Received bytes that are not yet used. It is empty and without memory while whole requests arrive.
  @exclusivity(unchecked) var input = ByteBuffer()
  /// Bytes that the socket did not accept at once.
  @exclusivity(unchecked) var output = ByteBuffer()
  /// Bytes in the kernel's send buffer when the write deadline was last set.
  var unacknowledged: Int32 = 0

  /// The serial of the request that the handler has; 0 without a request.
  var serial: UInt64 = 0
  /// How that request is to be answered.
  var isHead = false
  var keepsAlive = false
  var minorVersion: UInt8 = 1
  var codingPreference = AcceptEncoding.Preference.identity
  /// The body of that request is still arriving and is not collected. It must end before the next request.
  var isBodyDue = false
  /// Parts that only some requests need.
  var exchange: Exchange?

  /// The connection was accepted beyond the limit, only to be refused.
  var isSurplus = false
  /// The peer has ended its side. It may still read.
  var hasEnded = false
  /// The handler of the current request was notified that its client has ended its side.
  var isEndReported = false
  /// The epoll events that are watched.
  var interest: UInt32 = 0
  var answeredCount = 0
  /// The request, counted as in `answeredCount`, to which the header or body deadline belongs.
  var timedRequest = 0

  init(descriptor: Int32, slot: Int, generation: UInt32) {
    self.descriptor = descriptor
    self.slot = slot
    self.generation = generation
  }

  /// Whether requests may be passed to the handler: it has none, and the peer reads its answers.
  var canAdvance: Bool { phase == .reading && output.isEmpty }

  /// Whether the next bytes belong to a body whose receiver wants them.
  var receivesBody: Bool {
    guard isBodyDue, phase == .handling || phase == .streaming, let exchange else { return false }
    return exchange.receiver != nil && !exchange.isPaused
  }

  /// Whether received bytes can be used at once.
  var canUseInput: Bool { canAdvance || receivesBody }

  /// Whether the connection is between two requests.
  var isIdle: Bool { canAdvance && input.isEmpty && parser.isAtStart }

  /// Identifies the connection in an epoll event.
  var tag: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

  /// The parts that only some requests need, created for the current one.
  func requireExchange() -> Exchange {
    if let exchange { return exchange }
    let fresh = Exchange()
    exchange = fresh
    return fresh
  }
}
