import CLinux
import Glibc

extension EventLoop {
  /// Connections that are accepted in one iteration, so that existing ones do not wait long.
  private static let acceptsPerIteration = 64
  /// How long a new connection that sends nothing is kept while another could be closed in its place, in milliseconds:
  /// its request may be on its way.
  private static let silentGrace: UInt64 = 500

  /// How often a drain accepts connections, ``acceptsPerIteration`` at a time, before it closes the listeners: enough for a
  /// full backlog. Clients that keep connecting cannot prevent its end.
  private static let acceptsOfDrain = 64

  /// The result of accepting connections from a listener.
  private enum Taking {
    /// No connection is left.
    case all
    /// There may be more connections.
    case some
    /// The limit is reached.
    case full
    /// There are no file descriptors.
    case starved
  }

  /// Accepts new connections. At the limit, a connection that is idle or has sent nothing yet is closed for each.
  /// Without such a connection, some are accepted to be refused; if these are too many, the oldest of them is refused
  /// at once.
  ///
  /// - Returns: Whether there may be more connections.
  @discardableResult
  func acceptConnections() -> Bool {
    var isMore = false
    for listener in acceptor.listeners {
      switch takeConnections(from: listener) {
      case .all: continue
      case .some: isMore = true
      case .full:
        acceptor.pauseWhileFull(poller)
        return false
      case .starved:
        acceptor.pauseWhileStarved(poller, now: now)
        return false
      }
    }
    return isMore
  }

  private func takeConnections(from listener: Int32) -> Taking {
    for _ in 0..<Self.acceptsPerIteration {
      guard connections.hasRoom || takesSurplus || yielding() != nil || oldestSurplus() != nil else { return .full }
      switch Acceptor.accept(listener) {
      case .connection(let descriptor):
        makeRoom()
        if !connections.hasRoom, !takesSurplus { refuseOldestSurplus() }
        open(descriptor)
      case .none: return .all
      case .starved: return .starved
      case .failed: continue
      }
    }
    return .some
  }

  /// Whether a connection beyond the limit is accepted to be refused. If loops share the socket, another loop may have
  /// a free slot.
  private var takesSurplus: Bool { connections.hasSurplusRoom && !acceptor.isShared }

  /// Closes another connection, if possible, so that the new one, which is certain to exist, is within the limit.
  private func makeRoom() {
    guard !connections.hasRoom, let connection = yielding() else { return }
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
      flushAndRearm(connection)
    }
    close(connection)
  }

  /// Admits a request, unless its connection is beyond the limit.
  func admit(_ connection: Connection) throws(ProtocolError) {
    guard connection.isSurplus else { return }
    makeRoom()
    guard connections.hasRoom else { throw .tooManyConnections }
    connections.admit(connection)
  }

  private func open(_ descriptor: Int32) {
    let connection = connections.add(descriptor)
    connection.interest = EPOLLIN.rawValue
    guard poller.watch(descriptor, for: connection.interest, tag: connection.tag) else {
      Glibc.close(descriptor)
      return connections.remove(connection)
    }
    deadlines.set(connection.slot, connection.isSurplus ? .surplus : .first, now: now)
  }

  /// Stops accepting, lets current requests end and closes idle connections.
  func drain(_ milliseconds: UInt64) {
    guard !ending.hasBegun else { return }
    // Connections that the kernel has accepted would be reset with the listener.
    if !acceptor.handsOnBacklog {
      for _ in 0..<Self.acceptsOfDrain {
        guard acceptConnections() else { break }
      }
    }
    acceptor.close(poller)
    ending.drain(milliseconds, now: now)
    notifyStreams(.draining(within: .milliseconds(milliseconds)))
    for connection in connections.all where connection.isIdle {
      // A request may have arrived since the last check.
      readable(connection)
      if connection.isIdle, connection.answeredCount > 0 { close(connection) }
    }
  }
}
