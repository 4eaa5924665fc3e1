import CLinux
import Glibc

extension EventLoop {
  /// How many connections are taken in one turn, so that those that exist are not kept waiting.
  private static let acceptsATurn = 64
  /// How long accepting rests when there are no descriptors, in milliseconds: the listener stays readable, and asking
  /// again at once would spin.
  private static let acceptPause: UInt64 = 100

  /// Takes new connections. At the bound, and with none that is idle, accepting rests until that changes.
  ///
  /// - Returns: Whether there may be more.
  @discardableResult
  func acceptConnections() -> Bool {
    for _ in 0..<Self.acceptsATurn {
      guard listener >= 0 else { return false }
      guard connectionCount < maxConnections || deadlines.first(.idle) != nil else {
        setAccepting(false)
        return false
      }
      let descriptor = redial_accept_nonblocking(listener)
      if descriptor >= 0 {
        makeRoom()
        open(descriptor)
        continue
      }
      switch errno {
      case EAGAIN: return false
      case EMFILE, ENFILE, ENOBUFS, ENOMEM:
        acceptsAgainAt = now + Self.acceptPause
        setAccepting(false)
        return false
      // The connection has failed before it was taken (accept(2), "Error handling"): the next may be well.
      default: continue
      }
    }
    return true
  }

  /// Brings the new connection, which has come for sure, within the bound: the one that is idle longest gives way.
  private func makeRoom() {
    guard connectionCount >= maxConnections, let slot = deadlines.first(.idle), let idle = connections[slot]
    else { return }
    close(idle)
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
    connections[slot] = connection
    connectionCount += 1
    deadlines.set(slot, .header, now: now)
  }

  /// Accepts again after the bound of connections was reached; after descriptors ran out, time decides.
  func resumeAccepting() {
    if !isAccepting, acceptsAgainAt == nil { setAccepting(true) }
  }

  /// Lets new connections come, or wait in the kernel.
  func setAccepting(_ accepts: Bool) {
    guard accepts != isAccepting, listener >= 0 else { return }
    isAccepting = accepts
    _ = control(EPOLL_CTL_MOD, listener, accepts ? EPOLLIN.rawValue : 0, Self.listenerTag)
  }

  func closeListener() {
    guard listener >= 0 else { return }
    Glibc.close(listener)
    listener = -1
    acceptsAgainAt = nil
  }

  /// Takes no more connections, lets the requests at hand end and closes what is idle.
  func drain(_ milliseconds: UInt64) {
    guard drainsUntil == nil else { return }
    // Those that the kernel has accepted would be reset with the listener.
    while acceptConnections() {}
    closeListener()
    drainsUntil = now + milliseconds
    for connection in connections {
      guard let connection, connection.isIdle else { continue }
      // A request may have arrived since the last look.
      readable(connection)
      if connection.isIdle, connection.phase != .closed { close(connection) }
    }
  }
}
