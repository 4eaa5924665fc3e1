import CLinux
import Glibc

/// The steps after each iteration of a connection: output, deadlines, epoll interest, the end.
extension EventLoop {
  /// Memory of each common buffer that is kept after a large answer or body.
  static let keptBytes = 256 * 1024

  /// Sends the answer, and prepares for the connection's next wait.
  func flushAndRearm(_ connection: Connection) {
    // Also before a reset: earlier answers must still be sent.
    flush(connection)
    if connection.phase == .aborting { return reset(connection) }
    if connection.phase == .closed { return }
    // An incomplete body is of no use any more.
    if connection.hasEnded, connection.receivesBody { return close(connection) }
    reportSent(connection)
    if connection.output.isEmpty {
      if connection.phase == .closing { return linger(connection) }
      if connection.phase == .reading, connection.hasEnded || (ending.hasBegun && connection.isIdle) {
        return close(connection)
      }
    }
    if connection.input.isEmpty { connection.input.removeAll(keepingAtMost: 0) }
    setDeadline(connection)
    setInterest(connection)
  }

  /// Sends the common output, and keeps for the connection the bytes that the socket does not accept.
  func flush(_ connection: Connection) {
    guard !output.isEmpty, let bytes = output.start else { return }
    var sent = 0
    if connection.output.isEmpty {
      let result = send(connection.descriptor, bytes, output.count, Int32(MSG_NOSIGNAL))
      if result < 0, errno != EAGAIN, errno != EINTR {
        output.removeAll()
        return close(connection)
      }
      sent = max(0, result)
    }
    if sent < output.count {
      if connection.output.isEmpty { setWriteDeadline(connection) }
      connection.output.append(bytes + sent, output.count - sent)
    }
    output.removeAll()
  }

  /// Sends more of an answer that the socket did not accept at once.
  func writable(_ connection: Connection) {
    guard let bytes = connection.output.bytes else { return }
    let result = send(connection.descriptor, bytes, connection.output.count, Int32(MSG_NOSIGNAL))
    if result < 0 {
      if errno != EAGAIN, errno != EINTR { close(connection) }
      return
    }
    connection.output.dropFirst(result)
    if connection.output.isEmpty {
      connection.output.removeAll(keepingAtMost: 0)
      deadlines.clear(connection.slot)
      proceed(connection)
    } else {
      setWriteDeadline(connection)
      reportSent(connection)
    }
  }

  private func setWriteDeadline(_ connection: Connection) {
    deadlines.set(connection.slot, .write, now: now)
    connection.unacknowledged = Self.unacknowledged(connection.descriptor)
  }

  /// Resets a peer that has taken nothing since the deadline was set. A slow peer may have taken much: the kernel's
  /// buffer holds megabytes, and it reports free space only when a good part of it is free.
  private func expireWrite(_ connection: Connection) {
    if Self.unacknowledged(connection.descriptor) < connection.unacknowledged {
      setWriteDeadline(connection)
    } else {
      reset(connection)
    }
  }

  /// How many bytes the kernel holds that the peer has not acknowledged (SIOCOUTQ, tcp(7)).
  private static func unacknowledged(_ descriptor: Int32) -> Int32 {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? count : 0
  }

  private func setDeadline(_ connection: Connection) {
    let slot = connection.slot
    // Set when the output stops, and again with each byte that is sent.
    if !connection.output.isEmpty { return }
    switch connection.phase {
    case .handling, .streaming:
      // Each piece sets it again; other events do not.
      if !connection.receivesBody {
        deadlines.clear(slot)
      } else if deadlines.kind(slot) != .piece {
        deadlines.set(slot, .piece, now: now)
      }
    case .reading where connection.isIdle:
      // A new connection has as much time to send its first byte as it then has for its header section.
      guard connection.answeredCount > 0 else { return }
      deadlines.set(slot, .idle, now: now)
      // It can be closed for a connection that waits in the backlog.
      acceptor.resumeIfFull(poller, now: now)
    case .reading:
      let kind: DeadlineKind = connection.parser.isInBody ? .body : connection.isSurplus ? .surplus : .header
      if deadlines.kind(slot) == kind, connection.timedRequest == connection.answeredCount { return }
      connection.timedRequest = connection.answeredCount
      deadlines.set(slot, kind, now: now)
    default: break
    }
  }

  func setInterest(_ connection: Connection) {
    var interest: UInt32 = connection.output.isEmpty ? 0 : EPOLLOUT.rawValue
    if connection.hasEnded {
      // Nothing more will arrive.
    } else if connection.receivesBody {
      interest |= EPOLLIN.rawValue
    } else if connection.output.isEmpty, !connection.isBodyDue {
      let isAnswering = connection.phase == .handling || connection.phase == .streaming
      if !isAnswering || connection.input.count < settings.readAheadBytes { interest = EPOLLIN.rawValue }
    }
    // Nothing is read now, so the peer's end would not be noticed.
    if interest & EPOLLIN.rawValue == 0, !connection.isEndReported, connection.exchange != nil {
      interest |= EPOLLRDHUP.rawValue
    }
    guard interest != connection.interest else { return }
    connection.interest = interest
    if !poller.change(connection.descriptor, to: interest, tag: connection.tag) { close(connection) }
  }

  /// Ends connections that have waited too long.
  func expireDeadlines() {
    acceptor.resumeIfDue(poller, now: now)
    if ending.endsFirstRequests(now: now) {
      for connection in connections.all where connection.isIdle { close(connection) }
    }
    while let (slot, kind) = deadlines.expired(now: now) {
      guard let connection = connections[slot] else {
        deadlines.clear(slot)
        continue
      }
      switch kind {
      case .header where !connection.input.isEmpty, .surplus where !connection.input.isEmpty:
        timeOut(connection, .headTimeout)
      case .body, .piece: timeOut(connection, .bodyTimeout)
      case .write: expireWrite(connection)
      case .idle, .header, .linger, .first, .surplus, .surplusLinger: close(connection)
      }
    }
  }

  private func timeOut(_ connection: Connection, _ error: ProtocolError) {
    deadlines.clear(connection.slot)
    fail(connection, error)
    flushAndRearm(connection)
  }

  /// Shuts our side and waits for the peer to shut its own, for a bounded time: closing with unread bytes would send a
  /// reset, which takes the answer away from the peer before it has read it (RFC 9112 section 9.6).
  private func linger(_ connection: Connection) {
    guard !connection.hasEnded, shutdown(connection.descriptor, Int32(SHUT_WR)) == 0 else {
      return close(connection)
    }
    connection.phase = .lingering
    connection.input.removeAll(keepingAtMost: 0)
    deadlines.set(connection.slot, connection.isSurplus ? .surplusLinger : .linger, now: now)
    setInterest(connection)
  }

  /// Drops the bytes that a lingering connection receives.
  func discard(_ connection: Connection) {
    let count = input.receive(from: connection.descriptor)
    if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { close(connection) }
  }

  /// Closes with a reset.
  func reset(_ connection: Connection) {
    guard connection.phase != .closed else { return }
    resetOnClose(connection)
    close(connection)
  }

  private func resetOnClose(_ connection: Connection) {
    var option = Glibc.linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      connection.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<Glibc.linger>.size))
  }

  /// Closes and removes the connection.
  func close(_ connection: Connection) {
    guard connection.phase != .closed else { return }
    // An answer that ends with the connection must not look complete when it is cut off.
    if connection.phase == .streaming, connection.exchange?.isChunked == false { resetOnClose(connection) }
    connection.phase = .closed
    connection.serial = 0
    output.removeAll()
    deadlines.clear(connection.slot)
    Glibc.close(connection.descriptor)
    connections.remove(connection)
    acceptor.resumeIfFull(poller, now: now)
    if let exchange = connection.exchange {
      connection.exchange = nil
      exchange.close()
    }
  }
}
