import CLinux
import Glibc

extension EventLoop {
  /// Connections that are accepted in one iteration, so that existing ones do not wait long.
  private static let acceptsPerIteration = 64
  /// How long accepting pauses when there are no file descriptors, in milliseconds. The listener stays readable, so
  /// trying again at once would spin.
  private static let acceptPause: UInt64 = 100

  /// How long a new connection that sends nothing is kept while another could be closed in its place, in milliseconds:
  /// its request may be on its way.
  private static let silentGrace: UInt64 = 500

  /// How often a drain accepts connections, ``acceptsPerIteration`` at a time, before it closes the listeners: enough for a
  /// full backlog. Clients that keep connecting cannot prevent its end.
  private static let acceptsOfDrain = 64

  /// How long a drain waits for the first request of a connection, in milliseconds: the client was accepted, and its
  /// request may be on its way.
  private static let firstRequestGrace: UInt64 = 500

  /// The result of accepting connections from a listener.
  private enum Taking {
    /// No connection is left.
    case all
    /// There may be more connections.
    case some
    /// No connection can be accepted now.
    case rests
  }

  /// Accepts new connections. At the limit, a connection that is idle or has sent nothing yet is closed for each.
  /// Without such a connection, some are accepted to be refused; if these are too many, the oldest of them is refused
  /// at once.
  ///
  /// - Returns: Whether there may be more connections.
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
    for _ in 0..<Self.acceptsPerIteration {
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
      // The connection has failed before it was accepted (accept(2), "Error handling"); the next one may work.
      default: continue
      }
    }
    return .some
  }

  /// Whether another connection is within the limit.
  private var hasRoom: Bool { connectionCount - surplusCount < maxConnections }

  /// Whether a connection beyond the limit is accepted to be refused. If loops share the socket, another loop may have
  /// a free slot.
  private var takesSurplus: Bool { surplusCount < maxSurplus && sharers.isEmpty }

  /// Closes another connection, if possible, so that the new one, which is certain to exist, is within the limit.
  private func makeRoom() {
    guard !hasRoom, let connection = yielding() else { return }
    close(connection)
  }

  /// The connection to close for a new one: the oldest that has never sent anything, unless it is new itself; else the
  /// one that is idle longest; else the oldest that has sent nothing.
  private func yielding() -> Connection? {
    let silent = longest(.first)
    if let silent, deadlines.waited(silent.slot, now: now) ?? 0 >= Self.silentGrace { return silent }
    return longest(.idle) ?? silent
  }

  /// The connection that has been in that list longest and has no unread bytes. Closing one whose next request is
  /// already in the kernel would reset it, and its client could not know whether the request was performed.
  private func longest(_ kind: DeadlineKind) -> Connection? {
    while let slot = deadlines.first(kind), let connection = connections[slot] {
      var byte: UInt8 = 0
      if recv(connection.descriptor, &byte, 1, Int32(MSG_PEEK)) <= 0 { return connection }
      // It does not wait any more. Its deadline is set when its request is read, which happens next.
      deadlines.set(slot, .header, now: now)
    }
    return nil
  }

  /// Of the connections beyond the limit, the one to end first: the oldest that has been refused, else the oldest that
  /// has sent no whole request. Nil if none is beyond the limit.
  private func oldestSurplus() -> Connection? {
    guard let slot = deadlines.first(.surplusLinger) ?? deadlines.first(.surplus) else { return nil }
    return connections[slot]
  }

  /// Frees a slot among the connections beyond the limit. One that has not been refused yet is refused now, without
  /// reading its request: all other slots are busy.
  private func refuseOldestSurplus() {
    guard let connection = oldestSurplus() else { return }
    if connection.phase == .reading {
      fail(connection, .tooManyConnections)
      settle(connection)
    }
    close(connection)
  }

  /// Admits a request, unless its connection is beyond the limit.
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

  /// Accepts again after the limit of connections was reached. After descriptors ran out, a timer decides instead.
  func resumeAccepting() {
    if !isAccepting, acceptsAgainAt == nil { setAccepting(true) }
  }

  /// Starts or stops accepting; meanwhile new connections wait in the kernel.
  func setAccepting(_ accepts: Bool) {
    guard accepts != isAccepting, !listeners.isEmpty else { return }
    isAccepting = accepts
    guard accepts else {
      unwatchListeners()
      // If loops share a socket, one of them is woken for a connection. This loop was, and leaves it to the others.
      for sharer in sharers { sharer.post(.accept) }
      return
    }
    if !watchListeners() {
      unwatchListeners()
      isAccepting = false
      acceptsAgainAt = now + Self.acceptPause
    }
  }

  /// Exclusively: a connection to a shared socket wakes one loop and not all (epoll_ctl(2), EPOLLEXCLUSIVE, which
  /// allows no later change except removal).
  func watchListeners() -> Bool {
    listeners.allSatisfy { watch($0, EPOLLIN.rawValue | EPOLLEXCLUSIVE.rawValue, Self.listenerTag) }
  }

  private func unwatchListeners() {
    for listener in listeners { _ = control(EPOLL_CTL_DEL, listener, 0, Self.listenerTag) }
  }

  func closeListeners() {
    // A socket that other processes have open stays watched when only our descriptor of it is closed (epoll(7),
    // question 6).
    unwatchListeners()
    for listener in listeners { Glibc.close(listener) }
    listeners = []
    acceptsAgainAt = nil
  }

  /// Stops accepting, lets current requests end and closes idle connections.
  func drain(_ milliseconds: UInt64) {
    guard drainsUntil == nil else { return }
    // Connections that the kernel has accepted would be reset with the listener.
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
      // A request may have arrived since the last check.
      readable(connection)
      if connection.isIdle, connection.answeredCount > 0 { close(connection) }
    }
  }
}
