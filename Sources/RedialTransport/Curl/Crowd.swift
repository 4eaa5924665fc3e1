internal import RedialCore

/// The requests of one group to one origin within TLS. While HTTP/2 may serve them on a connection that is there, or is being
/// opened, they wait for a stream of it in place of opening another one: a target says how many streams it takes at once
/// (RFC 9113 §5.1.2), and libcurl would open a connection for each request more.
///
/// They wait for a bounded time, and then open one.
struct Crowd {
  /// The requests that open a connection.
  private var openers: Set<UInt64> = []
  /// The connections over HTTP/2 that were open.
  private var connections: [Connection] = []
  /// The requests that wait, the first one first.
  private(set) var waiting: [UInt64] = []
  /// Whether the target has chosen HTTP/1.1, with which each request in flight has a connection.
  private var speaksHTTP1 = false

  /// How long a request waits for a connection that is being opened.
  private static let longestForOpening = Duration.seconds(1)

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
    let bound =
      connections.contains { $0.takesRequests(at: now) && !isIdle($0) }
      ? longest : openers.isEmpty ? .zero : min(longest, Self.longestForOpening)
    if waited < bound { return bound - waited }
    openers.insert(id)
    return nil
  }

  /// It is behind all that wait already.
  mutating func wait(_ id: UInt64) { waiting.append(id) }

  /// A request has opened a connection.
  ///
  /// - Returns: Those that need not wait now.
  mutating func opened(_ connection: Connection?, by id: UInt64, isHTTP1: Bool) -> [UInt64] {
    openers.remove(id)
    speaksHTTP1 = isHTTP1
    if !isHTTP1, let connection { connections.append(connection) }
    defer { waiting = [] }
    return waiting
  }

  /// A request has ended, or waits no more.
  ///
  /// - Parameter hadStream: Whether it had a stream.
  /// - Returns: Those that need not wait now: two, since the target may take more than before.
  mutating func left(_ id: UInt64, hadStream: Bool) -> [UInt64] {
    if !waiting.isEmpty { waiting.removeAll { $0 == id } }
    guard openers.remove(id) != nil || hadStream else { return [] }
    defer { waiting.removeFirst(min(2, waiting.count)) }
    return Array(waiting.prefix(2))
  }
}

/// All crowds of a transport.
struct Crowds {
  private var crowds: [Int: Crowd] = [:]
  /// The requests that need not wait any more.
  private var woken: [UInt64] = []

  /// Those that may be kept although nobody uses them.
  private static let most = 4096

  mutating func takeWoken() -> [UInt64] {
    defer { woken = [] }
    return woken
  }

  /// How long a request waits; nil if it opens a connection.
  mutating func pause(
    of id: UInt64, in crowd: Int, after waited: Duration, atMost longest: Duration, at now: ContinuousClock.Instant,
    isIdle: (Connection) -> Bool
  ) -> Duration? {
    if crowds.count >= Self.most { crowds = crowds.filter { !$0.value.isQuiet } }
    return crowds[crowd, default: Crowd()].pause(of: id, after: waited, atMost: longest, at: now, isIdle: isIdle)
  }

  mutating func wait(_ id: UInt64, in crowd: Int) { crowds[crowd, default: Crowd()].wait(id) }

  mutating func opened(_ connection: Connection?, by id: UInt64, in crowd: Int, isHTTP1: Bool) {
    woken += crowds[crowd]?.opened(connection, by: id, isHTTP1: isHTTP1) ?? []
  }

  mutating func left(_ id: UInt64, in crowd: Int, hadStream: Bool) {
    guard crowd != 0 else { return }
    woken += crowds[crowd]?.left(id, hadStream: hadStream) ?? []
  }
}
