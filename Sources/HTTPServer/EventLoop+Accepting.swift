import CLinux
import Glibc

extension EventLoop {
  /// How many connections are taken in one turn, so that those that exist are not kept waiting.
  private static let acceptsATurn = 64
  /// How long accepting rests when there are no descriptors, in milliseconds: the listener stays readable, and asking
  /// again at once would spin.
  private static let acceptPause: UInt64 = 100

  /// How long a new connection that sends nothing is spared while others could give way, in milliseconds: its request may
  /// be on its way.
  private static let silentGrace: UInt64 = 500

  /// How many times a drain takes connections, ``acceptsATurn`` at a time, before it closes the listeners: as many as a
  /// full backlog holds. Clients that connect without end do not keep it from ending.
  private static let acceptsOfDrain = 64

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

  /// Takes new connections. At the bound, one that is idle or has sent nothing yet gives way. With none of those, some are
  /// taken to be refused, and of these the oldest is refused at once when there are too many.
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
      guard hasRoom || takesSurplus || yielding() != nil || oldestSurplus() != nil else { return .rests }
      let descriptor = redial_accept_nonblocking(listener)
      if descriptor >= 0 {
        makeRoom()
        if !hasRoom, !takesSurplus { refuseOldestSurplus() }
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

  /// Brings the new connection, which has come for sure, within the bound, if one gives way.
  private func makeRoom() {
    guard !hasRoom, let connection = yielding() else { return }
    close(connection)
  }

  /// The connection that gives way to a new one: of those that have sent nothing since they came the oldest, unless it is
  /// new itself; else the one that is idle longest; else the oldest that has sent nothing.
  private func yielding() -> Connection? {
    let silent = longest(.first)
    if let silent, deadlines.waited(silent.slot, now: now) ?? 0 >= Self.silentGrace { return silent }
    return longest(.idle) ?? silent
  }

  /// The connection that has been in that list longest and has no bytes waiting. Closing one whose next request is
  /// already in the kernel would reset it, and its client could not know whether the request was performed.
  private func longest(_ kind: DeadlineKind) -> Connection? {
    while let slot = deadlines.first(kind), let connection = connections[slot] {
      var byte: UInt8 = 0
      if recv(connection.descriptor, &byte, 1, Int32(MSG_PEEK)) <= 0 { return connection }
      // It does not wait any more; the right deadline is set when its request is read, which is about to be.
      deadlines.set(slot, .header, now: now)
    }
    return nil
  }

  /// Of the connections beyond the bound, the one that ends first: the oldest that has been refused, else the oldest that
  /// has sent no whole request. Nil when none is beyond the bound.
  private func oldestSurplus() -> Connection? {
    guard let slot = deadlines.first(.surplusLinger) ?? deadlines.first(.surplus) else { return nil }
    return connections[slot]
  }

  /// Makes room among the connections beyond the limit. One that has not been refused yet is refused now, without
  /// reading its request: all places are taken by busy connections.
  private func refuseOldestSurplus() {
    guard let connection = oldestSurplus() else { return }
    if connection.phase == .reading {
      fail(connection, .tooManyConnections)
      settle(connection)
    }
    close(connection)
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
    deadlines.set(slot, connection.isSurplus ? .surplus : .first, now: now)
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
    if !leavesBacklog {
      for _ in 0..<Self.acceptsOfDrain {
        guard acceptConnections() else { break }
      }
    }
    closeListeners()
    drainsUntil = now + milliseconds
    awaitsFirstUntil = now + Self.firstRequestGrace
    notifyStreams(.draining(within: .milliseconds(milliseconds)))
    for connection in connections {
      guard let connection, connection.isIdle else { continue }
      // A request may have arrived since the last look.
      readable(connection)
      if connection.isIdle, connection.answeredCount > 0 { close(connection) }
    }
  }
}
