import CLinux
import Glibc

/// The listening sockets of a loop, and whether it accepts from them.
struct Acceptor: ~Copyable {
  /// The comment of each state lists its successors.
  private enum State: Equatable {
    /// The listeners are watched: full, starved, closed
    case accepting
    /// The limit of connections is reached, and new ones wait in the kernel: accepting, starved, closed
    case full
    /// There are no file descriptors, or the listeners could not be watched, and accepting is tried again at that time:
    /// accepting, starved, closed
    case starved(until: UInt64)
    case closed
  }

  /// The result of accepting a connection.
  enum Accepted: Equatable {
    case connection(Int32)
    /// No connection is left.
    case none
    /// There are no descriptors or buffers for one.
    case starved
    /// The connection has failed before it was accepted (accept(2), "Error handling"); the next one may work.
    case failed
  }

  /// The tag of the listeners' events; no slot has such a large number.
  static let tag = UInt64.max
  /// How long accepting pauses when there are no file descriptors, in milliseconds. The listener stays readable, so
  /// trying again at once would spin.
  static let pause: UInt64 = 100

  private(set) var listeners: [Int32]
  /// Connections in the backlog when a drain begins stay there, for the next process.
  let handsOnBacklog: Bool
  /// The other loops that accept from the same sockets.
  private let sharers: [LoopMailbox]
  private var state = State.accepting

  /// - Parameter listeners: Listening sockets, which `close` closes.
  init(listeners: [Int32], handsOnBacklog: Bool, sharers: [LoopMailbox]) {
    self.listeners = listeners
    self.handsOnBacklog = handsOnBacklog
    self.sharers = sharers
  }

  var isAccepting: Bool { state == .accepting }
  /// Whether other loops accept from the same sockets; one of them may have a free slot.
  var isShared: Bool { !sharers.isEmpty }
  /// When accepting must be tried again; nil if no time has been set.
  var retriesAt: UInt64? {
    if case .starved(let time) = state { time } else { nil }
  }

  /// Exclusively: a connection to a shared socket wakes one loop and not all (epoll_ctl(2), EPOLLEXCLUSIVE, which
  /// allows no later change except removal).
  func watch(_ poller: borrowing Poller) -> Bool {
    for listener in listeners {
      guard poller.watch(listener, for: EPOLLIN.rawValue | EPOLLEXCLUSIVE.rawValue, tag: Self.tag) else { return false }
    }
    return true
  }

  private func unwatch(_ poller: borrowing Poller) {
    for listener in listeners { poller.unwatch(listener) }
  }

  /// Accepts a connection, which does not block, from a listener.
  static func accept(_ listener: Int32) -> Accepted {
    let descriptor = redial_accept_nonblocking(listener)
    if descriptor >= 0 { return .connection(descriptor) }
    return switch errno {
    case EAGAIN: .none
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: .starved
    default: .failed
    }
  }

  /// Stops accepting because the limit of connections is reached.
  mutating func pauseWhileFull(_ poller: borrowing Poller) {
    guard state == .accepting else { return }
    stop(poller, .full)
  }

  /// Stops accepting for a while because there are no descriptors.
  mutating func pauseWhileStarved(_ poller: borrowing Poller, now: UInt64) {
    guard state != .closed else { return }
    stop(poller, .starved(until: now + Self.pause))
  }

  private mutating func stop(_ poller: borrowing Poller, _ next: State) {
    let wasAccepting = state == .accepting
    state = next
    guard wasAccepting else { return }
    unwatch(poller)
    // If loops share a socket, one of them is woken for a connection. This loop was, and leaves it to the others.
    for sharer in sharers { sharer.post(.accept) }
  }

  /// Accepts again after a connection has ended or become idle. Without descriptors, only the time decides.
  mutating func resumeIfFull(_ poller: borrowing Poller, now: UInt64) {
    if state == .full { resume(poller, now: now) }
  }

  /// Accepts again if it is time to.
  mutating func resumeIfDue(_ poller: borrowing Poller, now: UInt64) {
    if let retriesAt, retriesAt <= now { resume(poller, now: now) }
  }

  private mutating func resume(_ poller: borrowing Poller, now: UInt64) {
    state = .accepting
    guard !watch(poller) else { return }
    unwatch(poller)
    state = .starved(until: now + Self.pause)
  }

  /// Closes the listeners; nothing more is accepted.
  mutating func close(_ poller: borrowing Poller) {
    // A socket that other processes have open stays watched when only our descriptor of it is closed (epoll(7),
    // question 6).
    unwatch(poller)
    for listener in listeners { Glibc.close(listener) }
    listeners = []
    state = .closed
  }
}
