/// Bodies and answers in pieces, and clients that leave.
extension EventLoop {
  /// Asks the handler how to receive the body that follows a head.
  ///
  /// - Returns: Whether the parser continues with the bytes after the head; otherwise it gets all of them again, if at
  ///   all.
  func choose(
    _ connection: Connection, _ bytes: UnsafePointer<UInt8>
  ) throws(ProtocolError) -> Bool {
    begin(connection)
    connection.isBodyDue = true
    connection.phase = .handling
    current = connection
    let receiver = handler.receiver(
      for: request(connection, bytes, body: UnsafeRawBufferPointer(start: nil, count: 0)),
      HTTPResponder(loop: self, token: RequestToken(slot: Int32(connection.slot), serial: connection.serial)))
    current = nil
    let isStreaming = connection.phase == .streaming
    guard connection.phase == .handling || isStreaming else { return false }
    guard let receiver else {
      // There is no receiver, and the answer has begun: nobody wants the body.
      if isStreaming { return false }
      connection.serial = 0
      connection.exchange = nil
      connection.isBodyDue = false
      connection.phase = .reading
      try connection.parser.collectBody(settings.parserLimits)
      return false
    }
    connection.requireExchange().receiver = receiver
    let awaitsContinue = connection.parser.awaitsContinue
    connection.parser.awaitsContinue = false
    try connection.parser.streamBody(settings.parserLimits)
    if awaitsContinue, !isStreaming { output.writeContinue() }
    return true
  }

  /// Passes a piece of the body to its receiver.
  func give(_ connection: Connection, _ piece: UnsafeRawBufferPointer, isLast: Bool) {
    guard let exchange = connection.exchange, let receiver = exchange.receiver else { return }
    if isLast { connection.isBodyDue = false }
    current = connection
    defer { current = nil }
    if !piece.isEmpty {
      exchange.isPaused = receiver.receive(piece) == .pause
      if deadlines.kind(connection.slot) == .piece { deadlines.clear(connection.slot) }
    }
    // The request was answered meanwhile, and its receiver released.
    guard isLast, connection.exchange === exchange, exchange.receiver != nil else { return }
    exchange.receiver = nil
    exchange.isPaused = false
    receiver.end(.complete)
  }

  /// Continues with a body whose receiver had paused.
  func resume(_ connection: Connection) {
    guard let exchange = connection.exchange, exchange.isPaused else { return }
    exchange.isPaused = false
    proceed(connection)
  }

  /// Begins an answer in pieces.
  func begin(_ connection: Connection, _ response: HTTPResponse, _ backlog: StreamBacklog) {
    guard connection.phase == .handling else { return backlog.close() }
    if let conditions = connection.exchange?.preconditions {
      let applied = response.applying(
        conditions, varies: false, mayBeCoded: false, errorResponse: errorResponse)
      if applied.status != response.status {
        answer(connection, applied)
        return backlog.close()
      }
    }
    let exchange = connection.requireExchange()
    let hasContent = !connection.isHead && ResponseWriter.hasContent(response.status)
    // If the answer is complete with its head, nobody reads the rest of the body.
    exchange.persists =
      persists(connection, after: response) && (hasContent ? connection.minorVersion > 0 : !connection.isBodyDue)
    exchange.isChunked = connection.minorVersion > 0 && ResponseWriter.hasContent(response.status)
    output.writeHead(
      response, isChunked: exchange.isChunked,
      exchange.persists ? (connection.minorVersion == 0 ? .keepAlive : .implied) : .close)
    guard hasContent else {
      finish(connection, persists: exchange.persists)
      return backlog.close()
    }
    exchange.stream = backlog
    connection.phase = .streaming
    takeStream(connection)
    if let left = ending.remaining(now: now) { backlog.notify(.draining(within: .milliseconds(left))) }
    if connection.isEndReported { backlog.notify(.clientEnded) }
  }

  /// Moves the stream's bytes to the output; the caller flushes.
  func takeStream(_ connection: Connection) {
    guard connection.phase == .streaming, let exchange = connection.exchange, let stream = exchange.stream
    else { return }
    let batch = stream.take()
    output.writePiece(batch.bytes, isChunked: exchange.isChunked, isLast: batch.isEnded)
    exchange.inFlight += batch.bytes.count
    guard batch.isEnded else { return }
    finish(connection, persists: exchange.persists && !ending.hasBegun && !connection.isBodyDue)
  }

  /// Reports to the stream how much of it the kernel has accepted.
  func reportSent(_ connection: Connection) {
    guard let exchange = connection.exchange, let stream = exchange.stream, exchange.inFlight > 0 else { return }
    // The framing makes this figure slightly too large.
    let left = min(exchange.inFlight, connection.output.count)
    guard left < exchange.inFlight else { return }
    exchange.inFlight = left
    stream.report(inFlight: left)
  }

  /// Calls `body` when the client of that request leaves.
  func observe(_ connection: Connection, _ body: @escaping @Sendable () -> Void) {
    if connection.isEndReported { return body() }
    connection.requireExchange().onCancel = body
    // The client may have left already, unnoticed.
    setInterest(connection)
  }

  /// Notifies the handler of the current request that its client sends nothing more.
  func reportEnd(_ connection: Connection) {
    guard !connection.isEndReported else { return }
    connection.isEndReported = true
    connection.exchange?.clientEnded()
  }

  /// Notifies all streams that the server ends.
  func notifyStreams(_ event: HTTPStreamEvent) {
    for connection in connections.all { connection.exchange?.stream?.notify(event) }
  }
}
