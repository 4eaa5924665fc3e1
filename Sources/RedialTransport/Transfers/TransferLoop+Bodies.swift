internal import CCurl
internal import RedialCore
internal import RedialModel

/// A piece of a request's body, or why there is none.
struct BodyPiece: Sendable {
  /// The request.
  var id: UInt64
  /// The number of the body: another attempt may have the same id.
  var ticket: UInt64
  /// The number of the reading.
  var reading: Int
  var result: Result<[UInt8], BodyFault>
}

/// Bodies that are read while they are sent, on other threads.
///
/// A request begins when the first piece of its body has arrived, so that nothing is sent if there is none; the time
/// until then is part of the attempt's time.
extension TransferLoop {
  /// How long the thread sleeps while a body is awaited, in milliseconds, so that the timeout is roughly on time.
  private static let awaitingSleep: Int32 = 500

  /// How long the thread sleeps without an event, in milliseconds.
  var longestSleep: Int32 { awaiting.isEmpty ? Self.longestSleep : Self.awaitingSleep }

  /// Starts to read the body of a request; the request begins with the first piece.
  func beginReading(_ request: TransportRequest, with transfer: Transfer) {
    guard let source = request.source else { return }
    bodyTicket += 1
    let feed = BodyFeed(source, ticket: bodyTicket, lane: bodies.lane()) { [weak self, ticket = bodyTicket] in
      self?.post([.piece(BodyPiece(id: request.id, ticket: ticket, reading: $0, result: $1))])
    }
    transfer.request = request
    transfer.upload.begin(feed)
    transfers[request.id] = transfer
    awaiting[request.id] = ContinuousClock.now
    feed.begin()
  }

  /// Starts to read the body again for the request after a redirect, if it keeps the body.
  func readAgain(_ hop: Hop, with transfer: Transfer) {
    if hop.source == nil { transfer.upload.end() } else { transfer.upload.feed?.begin() }
  }

  /// Continues a transfer that waits for a piece of its body.
  func take(_ piece: BodyPiece) {
    guard let transfer = transfers[piece.id], let feed = transfer.upload.feed, feed.ticket == piece.ticket else {
      return
    }
    let isAwaited = feed.take(piece.reading, piece.result)
    if awaiting[piece.id] != nil {
      if feed.isReady { beginAwaited(transfer, feed) }
    } else if isAwaited {
      curl_easy_pause(transfer.handle, CURLPAUSE_CONT)
    }
  }

  private func beginAwaited(_ transfer: Transfer, _ feed: BodyFeed) {
    if let fault = feed.fault { return fail(transfer, fault) }
    guard let since = awaiting.removeValue(forKey: transfer.id) else { return }
    let waited = ContinuousClock.now - since
    let request = transfer.request
    transfers[request.id] = nil
    let prepared = transfer.prepare(request, after: waited)
    begin(request, with: transfer, prepared)
  }

  /// Ends a transfer that has not begun, because its body is missing.
  private func fail(_ transfer: Transfer, _ fault: BodyFault) {
    guard var result = giveUpAwaiting(transfer) else { return }
    result.outcome = .localFault
    result.failure = AttemptFailure(code: fault.code, message: "\(fault.message).")
    results.append((transfer.id, result))
    keep(transfer)
  }

  /// Removes a request that has not begun; nil if it has.
  func giveUpAwaiting(_ transfer: Transfer) -> AttemptResult? {
    guard let since = awaiting.removeValue(forKey: transfer.id) else { return nil }
    transfers[transfer.id] = nil
    transfer.upload.end()
    return .cancelled(after: ContinuousClock.now - since)
  }

  /// Ends requests that have not begun in their attempt's time.
  func failLate() {
    let now = ContinuousClock.now
    guard now >= nextLateCheck else { return }
    nextLateCheck = now + .milliseconds(Int(Self.awaitingSleep))
    for (id, since) in awaiting {
      guard let transfer = transfers[id], now - since >= transfer.request.timeout else { continue }
      fail(transfer, .late)
    }
  }
}
