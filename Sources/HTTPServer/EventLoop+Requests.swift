import CLinux
import Glibc

extension EventLoop {
  private static let continueLine: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"

  /// Handles an event of a connection.
  func handle(_ events: UInt32, tag: UInt64) {
    let slot = Int(tag & 0xffff_ffff)
    guard slot < connections.count, let connection = connections[slot],
      connection.generation == UInt32(tag >> 32)
    else { return }
    if events & EPOLLOUT.rawValue != 0, !connection.output.isEmpty {
      writable(connection)
      if connection.phase == .closed { return }
    }
    if connection.interest & EPOLLIN.rawValue != 0 {
      if events & ~EPOLLOUT.rawValue != 0 { readable(connection) }
    } else if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
      // Nothing is read now, so nothing else would notice that the peer has gone.
      close(connection)
    }
  }

  /// Receives once and goes on with what has arrived.
  func readable(_ connection: Connection) {
    if connection.phase == .lingering { return discard(connection) }
    if connection.input.isEmpty, connection.canAdvance {
      let count = recv(connection.descriptor, scratch, Self.scratchBytes, 0)
      guard count > 0 else { return endOrFailure(connection, count) }
      let rest = advance(connection, scratch, count)
      if !rest.isEmpty { connection.input.append(scratch + rest.lowerBound, rest.count) }
      settle(connection)
    } else {
      let held = connection.input.count
      let missing = connection.parser.missing(have: held)
      // A body of known length is received in growing steps, so that memory follows what has really come.
      let wanted = missing > 0 ? min(missing, max(Self.readAheadBytes, held)) : Self.readAheadBytes
      let target = connection.input.reserve(wanted)
      let count = recv(connection.descriptor, target, connection.canAdvance ? connection.input.room : wanted, 0)
      guard count > 0 else { return endOrFailure(connection, count) }
      connection.input.commit(count)
      proceed(connection)
    }
  }

  /// Goes on with what is buffered, after an answer or new bytes.
  func proceed(_ connection: Connection) {
    if connection.canAdvance, let bytes = connection.input.bytes, !connection.input.isEmpty {
      let rest = advance(connection, bytes, connection.input.count)
      connection.input.keep(rest)
    }
    settle(connection)
  }

  private func endOrFailure(_ connection: Connection, _ count: Int) {
    if count < 0 {
      if errno != EAGAIN, errno != EINTR { close(connection) }
      return
    }
    // The peer has shut its side; a request that the handler has is still answered (RFC 9112 section 9.6).
    connection.hasEnded = true
    settle(connection)
  }

  /// Parses and hands out requests until one waits for its answer or the bytes end.
  ///
  /// - Returns: The part of the bytes that has still to be kept.
  private func advance(
    _ connection: Connection, _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int
  ) -> Range<Int> {
    var (lower, upper) = (0, count)
    while lower < upper, connection.canAdvance {
      do throws(ProtocolError) {
        let progress = try connection.parser.advance(bytes + lower, upper - lower, limits, &table)
        switch progress {
        case .incomplete(let kept):
          upper = lower + kept
          if connection.parser.awaitsContinue {
            connection.parser.awaitsContinue = false
            // Told before the body is sent in vain (RFC 9110 section 10.1.1).
            if decodesContent, connection.parser.head.contentCoding == .unsupported { throw .unsupportedCoding }
            out.append(Self.continueLine.utf8Start, Self.continueLine.utf8CodeUnitCount)
          }
          return lower..<upper
        case .complete(let body, let consumed):
          hand(connection, bytes + lower, body)
          lower += consumed
        }
      } catch {
        fail(connection, error)
        return 0..<0
      }
      if out.count >= Self.scratchBytes { flush(connection) }
    }
    return lower..<upper
  }

  /// Gives a whole request to the handler.
  private func hand(_ connection: Connection, _ bytes: UnsafePointer<UInt8>, _ body: Range<Int>) {
    let head = connection.parser.head
    serial &+= 1
    connection.serial = serial
    connection.isHead = head.isHead
    connection.keepsAlive = head.keepsAlive
    connection.minorVersion = head.minorVersion
    connection.codingPreference = head.codingPreference
    defer { inflated.removeAll(keepingAtMost: Self.keptOutputBytes) }
    let content: UnsafeRawBufferPointer
    do throws(ProtocolError) {
      content = try self.content(bytes, body, head.contentCoding)
    } catch {
      return answer(connection, refusal(error))
    }
    connection.phase = .handling
    current = connection
    handler.handle(
      HTTPRequest(
        bytes: bytes, head: head, slots: table.slots, slotCount: table.count, body: content,
        descriptor: connection.descriptor),
      HTTPResponder(loop: self, token: RequestToken(slot: Int32(connection.slot), serial: serial)))
    current = nil
  }

  /// Writes an answer to the output; the caller flushes.
  func answer(_ connection: Connection, _ response: HTTPResponse) {
    connection.serial = 0
    connection.answeredCount += 1
    let persists =
      connection.keepsAlive && !response.closesConnection && drainsUntil == nil
      && connection.answeredCount < maxRequestsPerConnection
    connection.phase = persists ? .reading : .closing
    write(response, for: connection, persists ? (connection.minorVersion == 0 ? .keepAlive : .implied) : .close)
  }

  /// Answers what is no request, and closes: nobody knows where the next one would start.
  func fail(_ connection: Connection, _ error: ProtocolError) {
    connection.phase = .closing
    dateText.refresh()
    ResponseWriter.append(
      refusal(error), to: &out, dateLine: dateText.line,
      isHead: connection.parser.head.isHead, persistence: .close)
  }
}
