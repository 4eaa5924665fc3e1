/// One connection, owned by the loop that accepted it and touched on that loop's thread only.
final class Connection {
  /// How far the request at hand is. The comment names the successors.
  enum Phase {
    /// Requests are awaited and parsed: handling, closing, closed
    case reading
    /// The handler has a request, of which more of the body may be to come, and owes the answer: streaming, reading,
    /// closing, aborting, closed
    case handling
    /// The answer has begun, and is written in pieces: reading, closing, aborting, closed
    case streaming
    /// The last answer is on its way out: lingering, closed
    case closing
    /// The handler wants a reset: closed
    case aborting
    /// Our side is shut; what comes is thrown away until the peer shuts its own: closed
    case lingering
    case closed
  }

  let descriptor: Int32
  let slot: Int
  /// Tells this connection from earlier ones of its slot in events that were already fetched.
  let generation: UInt32

  var phase = Phase.reading
  // No two accesses to one of these can overlap, for the reason that is given for the loop's own buffers.
  @exclusivity(unchecked) var parser = RequestParser(announcesBodies: true)
  /// What arrived and is not yet used. Empty, and without memory, while whole requests arrive.
  @exclusivity(unchecked) var input = ByteBuffer()
  /// What the socket did not take at once.
  @exclusivity(unchecked) var output = ByteBuffer()
  /// Bytes that the kernel held for the peer when the write deadline was last set.
  var unacknowledged: Int32 = 0

  /// The serial of the request that the handler has; 0 without one.
  var serial: UInt64 = 0
  /// Of that request: how it is to be answered.
  var isHead = false
  var keepsAlive = false
  var minorVersion: UInt8 = 1
  var codingPreference = AcceptEncoding.Preference.identity
  /// Of that request: its body goes on, and is not collected. Its end has to come before another request can.
  var isBodyDue = false
  /// Of that request: what most do without.
  var exchange: Exchange?

  /// It was accepted beyond the limit, only to be refused.
  var isSurplus = false
  /// The peer sends nothing more. It may still read.
  var hasEnded = false
  /// The client that waits for the current request has been informed of that.
  var isEndReported = false
  /// The epoll events that are asked for.
  var interest: UInt32 = 0
  var answeredCount = 0
  /// The request, counted as in `answeredCount`, that the header or body deadline belongs to.
  var timedRequest = 0

  init(descriptor: Int32, slot: Int, generation: UInt32) {
    self.descriptor = descriptor
    self.slot = slot
    self.generation = generation
  }

  /// Requests may be passed to the handler: it has none, and the peer reads its answers.
  var canAdvance: Bool { phase == .reading && output.isEmpty }

  /// The next bytes belong to a body whose receiver wants them.
  var receivesBody: Bool {
    guard isBodyDue, phase == .handling || phase == .streaming, let exchange else { return false }
    return exchange.receiver != nil && !exchange.isPaused
  }

  /// Bytes that come can be used at once.
  var canUseInput: Bool { canAdvance || receivesBody }

  /// Between two requests.
  var isIdle: Bool { canAdvance && input.isEmpty && parser.isAtStart }

  /// What identifies it in an epoll event.
  var tag: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

  /// What only some requests need, made for the one at hand.
  func requireExchange() -> Exchange {
    if let exchange { return exchange }
    let fresh = Exchange()
    exchange = fresh
    return fresh
  }
}
