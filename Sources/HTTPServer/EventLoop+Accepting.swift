import CLinux
import Glibc

extension EventLoop {
  /// How many connections are taken in one turn, so that those that exist are not kept waiting.
  private static let acceptsATurn = 64
  /// How long accepting rests when there are no descriptors, in milliseconds: the listener stays readable, and asking
  /// again at once would spin.
  private static let acceptPause: UInt64 = 100

  /// How long a drain waits for the first request of a connection, in milliseconds: its client was let in, and may
  /// have it on its way.
  private static let firstRequestGrace: UInt64 = 500

  /// What taking connections from a listener came to.
  private enum Taking {
    /// None is left.
    case all
    /// There may be more.
    case some
    /// No more can be had now.
    case rests
  }

  /// Takes new connections. At the bound, and with none that is idle, some are taken to be refused; then accepting rests
  /// until that changes.
  ///
  /// - Returns: Whether there may be more.
  @discardableResult
  func acceptConnections() -> Bool {
    var isMore = false
    for listener in listeners {
      switch takeConnections(from: listener) {
      case .all: continue
      case .some: isMore = true
      case .rests:
        setAccepting(false)
        return false
      }
    }
    return isMore
  }

  private func takeConnections(from listener: Int32) -> Taking {
    for _ in 0..<Self.acceptsATurn {
      guard hasRoom || takesSurplus || longestIdle() != nil else { return .rests }
      let descriptor = redial_accept_nonblocking(listener)
      if descriptor >= 0 {
        makeRoom()
        open(descriptor)
        continue
      }
      switch errno {
      case EAGAIN: return .all
      case EMFILE, ENFILE, ENOBUFS, ENOMEM:
        acceptsAgainAt = now + Self.acceptPause
        return .rests
      // The connection has failed before it was taken (accept(2), "Error handling"): the next may be well.
      default: continue
      }
    }
    return .some
  }

  /// Whether another connection is within the bound.
  private var hasRoom: Bool { connectionCount - surplusCount < maxConnections }

  /// Whether a connection beyond the bound is taken to be refused; what comes to a socket that loops share, another loop
  /// may have room for.
  private var takesSurplus: Bool { surplusCount < maxSurplus && sharers.isEmpty }

  /// Brings the new connection, which has come for sure, within the bound: the one that is idle longest gives way.
  private func makeRoom() {
    guard !hasRoom, let idle = longestIdle() else { return }
    close(idle)
  }

  /// The connection that is idle longest, of which nothing has arrived either: closing one whose next request lies in the
  /// kernel would reset it, and leave its client to guess whether the request was performed.
  private func longestIdle() -> Connection? {
    while let slot = deadlines.first(.idle), let idle = connections[slot] {
      var byte: UInt8 = 0
      if recv(idle.descriptor, &byte, 1, Int32(MSG_PEEK)) <= 0 { return idle }
      // Not idle any more; the right deadline is set when its request is read, which is about to be.
      deadlines.set(slot, .header, now: now)
    }
    return nil
  }

  /// Lets a request in, unless its connection is one too many.
  func admit(_ connection: Connection) throws(ProtocolError) {
    guard connection.isSurplus else { return }
    makeRoom()
    guard hasRoom else { throw .tooManyConnections }
    connection.isSurplus = false
    surplusCount -= 1
  }

  private func open(_ descriptor: Int32) {
    let slot: Int
    if let free = freeSlots.popLast() {
      slot = free
    } else {
      slot = connections.count
      connections.append(nil)
    }
    generation = (generation &+ 1) & 0x7fff_ffff
    let connection = Connection(descriptor: descriptor, slot: slot, generation: generation)
    connection.interest = EPOLLIN.rawValue
    guard watch(descriptor, connection.interest, connection.tag) else {
      Glibc.close(descriptor)
      freeSlots.append(slot)
      return
    }
    connection.isSurplus = !hasRoom
    connections[slot] = connection
    connectionCount += 1
    if connection.isSurplus { surplusCount += 1 }
    deadlines.set(slot, .header, now: now)
  }

  /// Accepts again after the bound of connections was reached; after descriptors ran out, time decides.
  func resumeAccepting() {
    if !isAccepting, acceptsAgainAt == nil { setAccepting(true) }
  }

  /// Lets new connections come, or wait in the kernel.
  func setAccepting(_ accepts: Bool) {
    guard accepts != isAccepting, !listeners.isEmpty else { return }
    isAccepting = accepts
    guard accepts else {
      unwatchListeners()
      // Of loops that share a socket one is woken for a connection. This one was, and leaves it to the others.
      for sharer in sharers { sharer.post(.accept) }
      return
    }
    if !watchListeners() {
      unwatchListeners()
      isAccepting = false
      acceptsAgainAt = now + Self.acceptPause
    }
  }

  /// Exclusively: a connection that comes to a shared socket wakes one loop and not all (epoll_ctl(2), EPOLLEXCLUSIVE,
  /// which allows no later change but to cease).
  func watchListeners() -> Bool {
    listeners.allSatisfy { watch($0, EPOLLIN.rawValue | EPOLLEXCLUSIVE.rawValue, Self.listenerTag) }
  }

  private func unwatchListeners() {
    for listener in listeners { _ = control(EPOLL_CTL_DEL, listener, 0, Self.listenerTag) }
  }

  func closeListeners() {
    // A socket that others have open stays watched when only our descriptor of it is closed (epoll(7), question 6).
    unwatchListeners()
    for listener in listeners { Glibc.close(listener) }
    listeners = []
    acceptsAgainAt = nil
  }

  /// Takes no more connections, lets the requests at hand end and closes what is idle.
  func drain(_ milliseconds: UInt64) {
    guard drainsUntil == nil else { return }
    // Those that the kernel has accepted would be reset with the listener.
    if !leavesBacklog { while acceptConnections() {} }
    closeListeners()
    drainsUntil = now + milliseconds
    awaitsFirstUntil = now + Self.firstRequestGrace
    tellStreams(.draining(within: .milliseconds(milliseconds)))
    for connection in connections {
      guard let connection, connection.isIdle else { continue }
      // A request may have arrived since the last look.
      readable(connection)
      if connection.isIdle, connection.answeredCount > 0 { close(connection) }
    }
  }
}
