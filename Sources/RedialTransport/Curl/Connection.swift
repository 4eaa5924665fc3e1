internal import CLinux
internal import Glibc

/// How long a connection takes further requests, and how many. What is in flight then ends on it: so changed addresses,
/// certificates and balancers are followed under any traffic.
struct Lifetime {
  let end: ContinuousClock.Instant
  let uses: Int

  /// Spread by a fifth, so that connections which began together do not end together.
  init(_ configuration: TransportConfiguration, at now: ContinuousClock.Instant = .now) {
    end = now + configuration.maxConnectionAge * Double.random(in: 0.8...1)
    uses = Int(Double(configuration.maxConnectionUses) * Double.random(in: 0.8...1))
  }
}

/// A connection that libcurl has.
///
/// Not `Sendable`: it belongs to the thread that drives the transfers.
final class Connection {
  /// Its socket; nil once that is closed.
  private(set) var socket: Int32?
  /// The group of the requests that may use it, see `TransportRequest.group`.
  let group: Int
  /// How many requests were about to be sent on it.
  private(set) var uses = 0
  /// Whether HTTP/2 was chosen for it: any other has one request at a time.
  var isMultiplexed = false
  /// Whether a response on it was in HTTP/1.
  var hasSpokenHTTP1 = false
  /// Whether it takes no further request, because nothing arrives on it any more.
  private(set) var isLeft = false
  private let lifetime: Lifetime
  /// What its TLS session has said.
  ///
  /// Sound: the session that sets it is freed before its socket is closed, which is what removes this connection.
  let session = UnsafeMutablePointer<SessionState>.allocate(capacity: 1)
  /// Whether the target has ended it because it wants HTTP/1.1.
  var requiresHTTP1 = false
  /// How many bytes were written when the last part of a request was; nil if that is not known.
  private var requested: Int?
  private var wasUndisturbed = false
  /// The last stream that the target was going to process, if it has said so (RFC 9113 §6.8).
  private(set) var lastStream: Int?
  /// How often it has said so.
  private var farewells = 0
  /// A target needs two: one when it will stop, and one with the last stream that came until then.
  private static let mostFarewells = 16

  /// - Parameter rounds: Counts what the thread of the transfers has begun; it must outlive the connection.
  init(socket: Int32, _ lifetime: Lifetime, group: Int, rounds: UnsafePointer<UInt64>) {
    self.socket = socket
    self.lifetime = lifetime
    self.group = group
    session.initialize(to: SessionState(socket: socket, rounds: rounds))
  }

  deinit { session.deallocate() }

  /// Whether it takes no further request because it has served for long enough.
  func isAtEnd(at now: ContinuousClock.Instant) -> Bool { uses >= lifetime.uses || now >= lifetime.end }

  /// Whether libcurl may choose it for a request.
  func takesRequests(at now: ContinuousClock.Instant) -> Bool {
    socket != nil && !isLeft && !requiresHTTP1 && lastStream == nil && !isAtEnd(at: now)
  }

  /// Whether more than one request is or was on it.
  var isShared: Bool { uses > 1 }

  /// A request is about to be sent on it.
  func use() { uses += 1 }

  /// The target ends it after this stream. One that says so without end is not listened to: libcurl would read nothing else
  /// as long as something arrives, and all other targets would wait.
  func goesAway(after stream: Int) {
    lastStream = min(stream, lastStream ?? stream)
    farewells += 1
    if farewells > Self.mostFarewells, let socket { shutdown(socket, Int32(SHUT_RDWR)) }
  }

  /// Whether a request may be sent on it, after others: nothing is there to be read, and the target has not ended it.
  ///
  /// Only where a request of HTTP/2 is in flight, something may be there: libcurl reads it before the next response.
  ///
  /// - Parameter isIdle: Whether no request is in flight on it.
  func isQuiet(isIdle: Bool) -> Bool {
    guard let socket else { return false }
    var look = pollfd(fd: socket, events: Int16(POLLIN) | Self.endOfInput, revents: 0)
    guard poll(&look, 1, 0) >= 0 else { return false }
    return look.revents & (isIdle || hasSpokenHTTP1 ? ~0 : ~Int16(POLLIN)) == 0
  }

  /// Whether the target has ended it, or TLS on it.
  private var hasEnded: Bool {
    guard !session.pointee.isEnded, let socket else { return session.pointee.isEnded }
    var look = pollfd(fd: socket, events: Self.endOfInput, revents: 0)
    return poll(&look, 1, 0) != 0
  }

  /// How many bytes were given to the system; nil if that is not known.
  private var written: Int? {
    guard let socket else { return nil }
    for _ in 0..<4 {
      var pending: Int32 = 0
      guard let before = traffic, ioctl(socket, UInt(TIOCOUTQ), &pending) == 0 else { return nil }
      if traffic?.acknowledged == before.acknowledged { return Int(before.acknowledged) + Int(pending) }
    }
    return nil
  }

  /// A part of a request was sent on it.
  func noteSent() { requested = written ?? requested }

  /// Whether it is as it was when the last part of a request was sent: the target has not ended it, and libcurl has not
  /// complained. It does that before it ends one on which it got what it cannot read (RFC 9113 §5.4.1), with a GOAWAY, which
  /// is longer within TLS than the end of a stream or of TLS. Both together look like one, which errs on the safe side.
  var isUndisturbed: Bool {
    if socket == nil { return wasUndisturbed }
    guard !hasEnded, let written, let requested else { return false }
    return written - requested < Self.shortestComplaint
  }
  private static let shortestComplaint = 38

  /// It is closed here. Only of HTTP/2 by an older libcurl, how it was is asked for later.
  fileprivate func close() {
    if LibCurl.needsFreshHandles, !hasSpokenHTTP1 { wasUndisturbed = isUndisturbed }
    socket = nil
  }

  /// POLLRDHUP of Linux: the other side sends no more, even if something is still to be read.
  private static let endOfInput: Int16 = 0x2000

  /// Whether bytes are there to be read. Before any request was sent, they are a response to none (RFC 9112 §9.2).
  var hasInput: Bool {
    var count: Int32 = 0
    guard let socket, ioctl(socket, UInt(FIONREAD), &count) == 0 else { return false }
    return count > 0
  }

  /// A request has waited in vain. If nothing has arrived on the connection meanwhile, also for others, it takes no further
  /// request: whoever lost it, such as a firewall or a machine that is gone, may never say so.
  func hasFailed(after waited: Duration) {
    guard let traffic else { return }
    // The system counts in ticks of up to ten milliseconds.
    if .milliseconds(Int(traffic.silence) + 10) >= waited { isLeft = true }
  }

  /// What was sent over it until now; nil if that is not known.
  var traffic: redial_traffic? {
    var traffic = redial_traffic()
    guard let socket, redial_traffic_of(socket, &traffic) == 0 else { return nil }
    return traffic
  }

  /// Whether the target's system has not acknowledged any byte of a request. A response that begins before is to
  /// something else: what is sent after the request has arrived acknowledges it (RFC 9293 §3.10.7.4).
  ///
  /// - Parameter size: The bytes of the request that were passed to the system.
  func hasUnseen(_ size: Int) -> Bool {
    var pending: Int32 = 0
    // SIOCOUTQ: what was sent, and is not acknowledged.
    guard let socket, size > 0, ioctl(socket, UInt(TIOCOUTQ), &pending) == 0 else { return false }
    return Int(pending) >= size
  }
}

/// The connections that are open, by their two ends: before a request is sent, libcurl says no more of its connection.
struct Connections {
  /// Counts what the thread of the transfers has begun.
  let rounds: UnsafePointer<UInt64>
  private var byEnds: [Int: Connection] = [:]
  /// The ends of a connection, by its socket.
  private var ends: [Int32: Int] = [:]

  init(rounds: UnsafePointer<UInt64>) { self.rounds = rounds }

  /// Where a connection begins and ends, as libcurl gives it.
  struct Ends {
    var local: (address: UnsafePointer<CChar>, port: Int32)
    var remote: (address: UnsafePointer<CChar>, port: Int32)

    /// A number for them. No target can choose two that have the same: its seed is of this process.
    fileprivate var number: Int {
      var hasher = Hasher()
      for (address, port) in [local, remote] {
        hasher.combine(bytes: UnsafeRawBufferPointer(start: address, count: strlen(address)))
        hasher.combine(port)
      }
      return hasher.finalize()
    }
  }

  /// The connection with these ends; nil if it is not known.
  subscript(ends: Ends) -> Connection? { byEnds[ends.number] }

  /// Notes a new connection.
  ///
  /// - Parameter sockets: The sockets that were opened for it, of which one is connected from its local end.
  mutating func add(_ new: Ends, among sockets: [Int32], _ lifetime: Lifetime, group: Int) -> Connection? {
    guard let socket = sockets.last(where: { Self.isConnected($0, fromPort: new.local.port) }) else { return nil }
    let connection = Connection(socket: socket, lifetime, group: group, rounds: rounds)
    remove(socket)
    ends[socket] = new.number
    byEnds[new.number] = connection
    return connection
  }

  /// A socket is closed.
  mutating func remove(_ socket: Int32) {
    guard let number = ends.removeValue(forKey: socket) else { return }
    byEnds.removeValue(forKey: number)?.close()
  }

  private static func isConnected(_ socket: Int32, fromPort port: Int32) -> Bool {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &storage) { storage in
      guard let base = storage.baseAddress else { return false }
      let address = base.assumingMemoryBound(to: sockaddr.self)
      guard getpeername(socket, address, &length) == 0 else { return false }
      length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      guard getsockname(socket, address, &length) == 0 else { return false }
      // Both families have the port there.
      return Int32(UInt16(bigEndian: base.loadUnaligned(fromByteOffset: 2, as: UInt16.self))) == port
    }
  }
}
