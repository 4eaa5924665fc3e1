internal import RedialCore

/// The requests of one group to one origin within TLS. While HTTP/2 may serve them on a connection that is there, or is being
/// opened, they wait for a stream of it in place of opening another one: a target says how many streams it takes at once
/// (RFC 9113 §5.1.2), and libcurl would open a connection for each request more.
///
/// One of them opens another one when it has waited for a moment: so a target gets as many connections as its streams are too
/// few, and no more. All wait for a bounded time.
struct Crowd {
  /// The requests that open a connection, and since when the last one does.
  private var openers: Set<UInt64> = []
  private var openingSince: ContinuousClock.Instant?
  /// The connections over HTTP/2 that were open.
  private var connections: [Connection] = []
  /// The requests that wait, the one first that has waited longest.
  private var waiting: [(id: UInt64, since: ContinuousClock.Instant)] = []
  /// The newest connection while nothing has been answered on it: the target may not have said yet how many it takes.
  private weak var fresh: Connection?
  /// Whether the target has chosen HTTP/1.1, with which each request in flight has a connection.
  private var speaksHTTP1 = false

  /// How long a request waits for a connection that is being opened, and for a stream before it opens one.
  private static let longestForOpening = Duration.seconds(1)
  private static let longestForStream = Duration.milliseconds(500)
  /// How many are sent on a new connection before anything is known of it. Fewer streams no usual target takes.
  private static let mostOnFresh = 8
  /// How many are tried at once: libcurl takes a hundred streams for granted.
  private static let mostWoken = 128

  /// Whether nothing of it needs to be kept, if it can be learned again.
  var isQuiet: Bool { openers.isEmpty && waiting.isEmpty && !connections.contains { $0.socket != nil } }

  /// How long a request waits for which libcurl has no connection; nil if it opens one.
  ///
  /// - Parameters:
  ///   - waited: How long it has waited.
  ///   - longest: How long it may wait for a stream.
  ///   - isIdle: Whether no request is in flight on a connection.
  mutating func pause(
    of id: UInt64, after waited: Duration, atMost longest: Duration, at now: ContinuousClock.Instant,
    isIdle: (Connection) -> Bool
  ) -> Duration? {
    guard !speaksHTTP1, !openers.contains(id) else { return nil }
    connections.removeAll { $0.socket == nil }
    var left = Duration.zero
    if let openingSince, !openers.isEmpty {
      left = openingSince + Self.longestForOpening - now
    } else if connections.contains(where: { $0.takesRequests(at: now) && !isIdle($0) }) {
      left = Self.longestForStream - waited
    }
    left = min(left, longest - waited)
    if left > .zero { return left }
    openers.insert(id)
    openingSince = now
    return nil
  }

  mutating func wait(_ id: UInt64, since: ContinuousClock.Instant) {
    let place = waiting.lastIndex { $0.since <= since }
    waiting.insert((id, since), at: place.map { $0 + 1 } ?? 0)
  }

  /// A request has opened a connection.
  ///
  /// - Returns: Those that need not wait now. The others need not when the target has said how many it takes.
  mutating func opened(_ connection: Connection?, by id: UInt64, isHTTP1: Bool) -> (now: [UInt64], then: [UInt64]) {
    openers.remove(id)
    (speaksHTTP1, fresh) = (isHTTP1, isHTTP1 ? nil : connection)
    if !isHTTP1, let connection { connections.append(connection) }
    let now = take(isHTTP1 ? waiting.count : Self.mostOnFresh)
    return (now, waiting.map(\.id))
  }

  private mutating func take(_ most: Int) -> [UInt64] {
    let taken = waiting.prefix(most).map(\.id)
    waiting.removeFirst(taken.count)
    return taken
  }

  /// A request has ended, or waits no more.
  ///
  /// - Parameter connection: Where it had a stream; nil if it had none.
  /// - Returns: Those that need not wait now: two, since the target may take more than before; all after the first answer on a
  ///   connection.
  mutating func left(_ id: UInt64, from connection: Connection?) -> [UInt64] {
    if !waiting.isEmpty { waiting.removeAll { $0.id == id } }
    guard openers.remove(id) != nil || connection != nil else { return [] }
    guard let connection, connection === fresh else { return take(2) }
    fresh = nil
    return take(Self.mostWoken)
  }
}

/// All crowds of a transport.
struct Crowds {
  private var crowds: [Int: Crowd] = [:]
  /// The requests that need not wait any more.
  private var woken: [UInt64] = []
  /// Those that need not in a moment.
  private var settling: [(id: UInt64, after: Duration)] = []

  /// Those that may be kept although nobody uses them.
  private static let most = 4096

  mutating func takeWoken() -> [UInt64] {
    defer { woken = [] }
    return woken
  }

  mutating func takeSettling() -> [(id: UInt64, after: Duration)] {
    defer { settling = [] }
    return settling
  }

  /// How long a request waits; nil if it opens a connection.
  mutating func pause(
    of id: UInt64, in crowd: Int, after waited: Duration, atMost longest: Duration, at now: ContinuousClock.Instant,
    isIdle: (Connection) -> Bool
  ) -> Duration? {
    if crowds.count >= Self.most { crowds = crowds.filter { !$0.value.isQuiet } }
    return crowds[crowd, default: Crowd()].pause(of: id, after: waited, atMost: longest, at: now, isIdle: isIdle)
  }

  mutating func wait(_ id: UInt64, in crowd: Int, since: ContinuousClock.Instant) {
    crowds[crowd, default: Crowd()].wait(id, since: since)
  }

  /// - Parameter answered: How long until the target has said how many streams it takes.
  mutating func opened(
    _ connection: Connection?, by id: UInt64, in crowd: Int, isHTTP1: Bool, settles answered: Duration
  ) {
    guard let (now, then) = crowds[crowd]?.opened(connection, by: id, isHTTP1: isHTTP1) else { return }
    woken += now
    settling += then.map { ($0, answered) }
  }

  mutating func left(_ id: UInt64, in crowd: Int, from connection: Connection?) {
    guard crowd != 0 else { return }
    woken += crowds[crowd]?.left(id, from: connection) ?? []
  }
}
