import CLinux
import Glibc

extension EventLoop {
  /// Handles an event of a connection.
  func handle(_ event: Poller.Event) {
    guard let connection = connections.connection(tag: event.tag) else { return }
    let events = event.flags
    if events & EPOLLOUT.rawValue != 0, !connection.output.isEmpty {
      writable(connection)
      if connection.phase == .closed { return }
    }
    if connection.interest & EPOLLIN.rawValue != 0 {
      if events & ~EPOLLOUT.rawValue != 0 { readable(connection) }
    } else if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
      // Nothing is read now, so nothing else would notice that the peer has gone.
      close(connection)
    } else if events & EPOLLRDHUP.rawValue != 0 {
      reportEnd(connection)
      flushAndRearm(connection)
    }
  }

  /// Receives once and handles the bytes that arrived.
  func readable(_ connection: Connection) {
    if connection.phase == .lingering { return discard(connection) }
    if connection.input.isEmpty, connection.canUseInput {
      let count = input.receive(from: connection.descriptor)
      guard count > 0 else { return endOrFailure(connection, count) }
      let bytes = input.scratch
      let rest = advance(connection, bytes, count)
      if !rest.isEmpty { connection.input.append(bytes + rest.lowerBound, rest.count) }
      flushAndRearm(connection)
    } else {
      let held = connection.input.count
      let missing = connection.parser.missing(have: held)
      let count: Int
      if missing > 0 {
        // A body of known length is received in place, in growing steps, so that memory follows the bytes that really
        // arrived.
        let wanted = min(missing, max(Self.readBytes, held))
        let target = connection.input.reserve(wanted)
        count = recv(connection.descriptor, target, connection.canUseInput ? connection.input.spareCapacity : wanted, 0)
        if count > 0 { connection.input.commit(count) }
      } else {
        count = input.receive(
          from: connection.descriptor,
          atMost: connection.canUseInput ? RequestInput.scratchBytes : settings.readAheadBytes)
        if count > 0 { connection.input.append(input.scratch, count) }
      }
      guard count > 0 else { return endOrFailure(connection, count) }
      proceed(connection)
    }
  }

  /// Continues with buffered bytes, after an answer or new bytes.
  func proceed(_ connection: Connection) {
    if connection.canUseInput, let bytes = connection.input.bytes, !connection.input.isEmpty {
      let rest = advance(connection, bytes, connection.input.count)
      connection.input.keep(rest)
    }
    flushAndRearm(connection)
  }

  private func endOrFailure(_ connection: Connection, _ count: Int) {
    if count < 0 {
      if errno != EAGAIN, errno != EINTR { close(connection) }
      return
    }
    // The peer has shut its side. A request that the handler has is still answered (RFC 9112 section 9.6).
    connection.hasEnded = true
    // An incomplete body is of no use any more.
    if connection.receivesBody { return close(connection) }
    reportEnd(connection)
    flushAndRearm(connection)
  }

  /// Parses requests and passes them to the handler until one waits for its answer or the bytes end.
  ///
  /// - Returns: The part of the bytes that must still be kept.
  private func advance(
    _ connection: Connection, _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int
  ) -> Range<Int> {
    var (lower, upper) = (0, count)
    var isTableFresh = false
    while lower < upper, connection.canUseInput {
      do throws(ProtocolError) {
        let progress = try input.parse(
          bytes + lower, upper - lower, with: &connection.parser, isTableFresh: isTableFresh)
        isTableFresh = false
        switch progress {
        case .incomplete(let kept):
          upper = lower + kept
          if connection.parser.awaitsContinue {
            connection.parser.awaitsContinue = false
            // Refused before the client sends the body in vain (RFC 9110 section 10.1.1).
            if input.refuses(codingToRemove(connection, bytes + lower)) { throw .unsupportedCoding }
            output.writeContinue()
          }
          return lower..<upper
        case .complete(let body, let consumed):
          try admit(connection)
          hand(connection, bytes + lower, body)
          lower += consumed
        case .announced(let headCount):
          isTableFresh = true
          try admit(connection)
          if try choose(connection, bytes + lower) { lower += headCount }
        case .piece(let body, let consumed, let isLast):
          give(
            connection, UnsafeRawBufferPointer(start: bytes + lower + body.lowerBound, count: body.count),
            isLast: isLast)
          lower += consumed
        }
      } catch {
        fail(connection, error)
        return 0..<0
      }
      if output.count >= settings.maxOutputBacklogBytes { flush(connection) }
    }
    return lower..<upper
  }

  /// Passes a whole request to the handler.
  private func hand(_ connection: Connection, _ bytes: UnsafePointer<UInt8>, _ body: Range<Int>) {
    let coding = codingToRemove(connection, bytes)
    begin(connection)
    defer { input.endRequest() }
    let content: UnsafeRawBufferPointer
    connection.phase = .handling
    do throws(ProtocolError) {
      content = try input.content(bytes, body, coding)
    } catch {
      return answer(connection, refusal(error))
    }
    let request = request(connection, bytes, body: content)
    if isConditional(connection.parser.head) { connection.requireExchange().preconditions = request.preconditions }
    current = connection
    handler.handle(
      request,
      HTTPResponder(loop: self, token: RequestToken(slot: Int32(connection.slot), serial: connection.serial)))
    current = nil
  }

  /// The coding in which the current request's body is decoded; absent if its handler wants it as it was sent.
  private func codingToRemove(_ connection: Connection, _ bytes: UnsafePointer<UInt8>) -> ContentCoding {
    let coding = connection.parser.head.contentCoding
    guard coding != .absent, settings.decodesContent else { return coding }
    let request = request(connection, bytes, body: UnsafeRawBufferPointer(start: nil, count: 0))
    return handler.wantsCodedContent(of: request) ? .absent : coding
  }

  /// Gives the current request its serial, and keeps the parts of its head that the answer needs.
  func begin(_ connection: Connection) {
    let head = connection.parser.head
    connections.numberRequest(of: connection)
    connection.isHead = head.isHead
    connection.keepsAlive = head.keepsAlive
    connection.minorVersion = head.minorVersion
    connection.codingPreference = head.codingPreference
  }

  /// Whether the server itself applies the conditions of the current request.
  private func isConditional(_ head: RequestHead) -> Bool { head.isConditional && (head.isGet || head.isHead) }

  /// The current request, as its handler sees it.
  func request(
    _ connection: Connection, _ bytes: UnsafePointer<UInt8>, body: UnsafeRawBufferPointer
  ) -> HTTPRequest {
    input.request(bytes, connection.parser.head, body: body, descriptor: connection.descriptor)
  }

  /// Writes an answer to the output; the caller flushes.
  func answer(_ connection: Connection, _ response: HTTPResponse) {
    // A request that is answered in pieces is not answered again.
    guard connection.phase == .handling else { return }
    let persists = persists(connection, after: response) && !connection.isBodyDue
    output.write(
      response, for: connection, persists ? (connection.minorVersion == 0 ? .keepAlive : .implied) : .close,
      errorResponse: errorResponse)
    finish(connection, persists: persists)
  }

  /// Whether another request may follow the current one, if its body has ended by then.
  func persists(_ connection: Connection, after response: HTTPResponse) -> Bool {
    connection.keepsAlive && !response.closesConnection && !ending.hasBegun
      && connection.answeredCount < settings.maxRequestsPerConnection - 1
  }

  /// The current request has its answer.
  func finish(_ connection: Connection, persists: Bool) {
    connection.serial = 0
    connection.answeredCount += 1
    connection.exchange = nil
    connection.isBodyDue = false
    connection.phase = persists ? .reading : .closing
  }

  /// Answers bytes that are not a request, and closes: the start of the next request is unknown.
  func fail(_ connection: Connection, _ error: ProtocolError) {
    let isBegun = connection.phase == .streaming
    var receiverEnds = false
    if let receiver = connection.exchange?.receiver {
      connection.exchange?.receiver = nil
      receiverEnds = receiver.endsBegunAnswer
      receiver.end(.refused(status: error.status, reason: error.reason))
    }
    // The client must not take the incomplete answer for the whole.
    if isBegun {
      // Without a receiver no more of the body is read. If more of it is due, the connection ends with the answer.
      if !receiverEnds { connection.phase = .aborting }
      return
    }
    let exchange = connection.exchange
    finish(connection, persists: false)
    output.writePlain(refusal(error), isHead: connection.parser.head.isHead, .close)
    exchange?.close()
  }

  /// The answer to a request that cannot be served.
  func refusal(_ error: ProtocolError) -> HTTPResponse {
    var response = errorResponse(error.status, error.reason)
    if error == .unsupportedCoding {
      // RFC 9110 section 12.5.3: in an answer the field lists the codings that a request may have.
      response.headers.append(HTTPHeader("Accept-Encoding", ContentCoding.understood))
    }
    // A request that is refused because of the limit may succeed later.
    if error.status == 503, !response.headers.contains(where: { $0.isNamed("retry-after") }) {
      response.headers.append(HTTPHeader("Retry-After", "1"))
    }
    return response
  }
}
