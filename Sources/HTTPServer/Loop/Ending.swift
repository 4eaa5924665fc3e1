/// Whether a loop ends, and when.
struct Ending {
  /// The comment of each state lists its successors.
  private enum State: Equatable {
    /// draining, stopped
    case running
    /// No connection is accepted any more, and requests end within a time. Until `awaitsFirst`, connections may still
    /// send their first request: stopped
    case draining(until: UInt64, awaitsFirst: UInt64?)
    case stopped
  }

  /// How long a drain waits for the first request of a connection, in milliseconds: the client was accepted, and its
  /// request may be on its way.
  static let firstRequestGrace: UInt64 = 500

  private var state = State.running

  /// Whether connections end with their current answer.
  var hasBegun: Bool { state != .running }

  /// How much of a drain's time is left, in milliseconds; nil without a drain.
  func remaining(now: UInt64) -> UInt64? {
    guard case .draining(let until, _) = state else { return nil }
    return until > now ? until - now : 0
  }

  /// When something ends; nil for never.
  var next: UInt64? {
    guard case .draining(let until, let awaitsFirst) = state else { return nil }
    return min(until, awaitsFirst ?? .max)
  }

  /// Begins a drain that lasts that many milliseconds, unless the loop is ending already.
  mutating func drain(_ milliseconds: UInt64, now: UInt64) {
    guard state == .running else { return }
    state = .draining(until: now + milliseconds, awaitsFirst: now + Self.firstRequestGrace)
  }

  /// Ends at once.
  mutating func stop() { state = .stopped }

  /// True once, when the connections of a drain that have sent no request must be closed.
  mutating func endsFirstRequests(now: UInt64) -> Bool {
    guard case .draining(let until, let awaitsFirst?) = state, awaitsFirst <= now else { return false }
    state = .draining(until: until, awaitsFirst: nil)
    return true
  }

  /// Whether the loop has ended.
  func isOver(connections: Int, now: UInt64) -> Bool {
    switch state {
    case .running: false
    case .draining(let until, _): connections == 0 || now >= until
    case .stopped: true
    }
  }
}
