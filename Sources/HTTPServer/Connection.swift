/// One connection, owned by the loop that accepted it and touched on that loop's thread only.
final class Connection {
  /// How far the request at hand is. The comment names the successors.
  enum Phase {
    /// Requests are awaited and parsed: handling, closing, closed
    case reading
    /// The handler has a request and owes the answer: reading, closing, aborting, closed
    case handling
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
  var parser = RequestParser()
  /// What arrived and is not yet used. Empty, and without memory, while whole requests arrive.
  var input = ByteBuffer()
  /// What the socket did not take at once.
  var output = ByteBuffer()
  /// Bytes that the kernel held for the peer when the write deadline was last set.
  var unacknowledged: Int32 = 0

  /// The serial of the request that the handler has; 0 without one.
  var serial: UInt64 = 0
  /// Of that request: how it is to be answered.
  var isHead = false
  var keepsAlive = false
  var minorVersion: UInt8 = 1
  var codingPreference = AcceptEncoding.Preference.identity

  /// The peer sends nothing more. It may still read.
  var hasEnded = false
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

  /// Requests may be handed out: none is with the handler, and the peer reads its answers.
  var canAdvance: Bool { phase == .reading && output.isEmpty }

  /// Between two requests.
  var isIdle: Bool { canAdvance && input.isEmpty && parser.isAtStart }

  /// What identifies it in an epoll event.
  var tag: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}
