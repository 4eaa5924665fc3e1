internal import CCurl
internal import RedialCore

/// A piece of a request's content, or why there is none.
struct BodyPiece: Sendable {
  /// The request.
  var id: UInt64
  /// Which content: another attempt may have the same name.
  var ticket: UInt64
  /// Which reading of it.
  var reading: Int
  var result: Result<[UInt8], BodyFault>
}

/// Content that is read while it is sent, off this thread.
///
/// A request begins when the first piece of its content is there, so that nothing of it leaves if there is none; the time
/// until then is part of the attempt's.
extension TransferLoop {
  /// How long the thread sleeps while content is awaited, in milliseconds, so that it is given up about in time.
  private static let awaitingSleep: Int32 = 500

  /// How long the thread sleeps when nothing happens, in milliseconds.
  var longestSleep: Int32 { awaiting.isEmpty ? Self.longestSleep : Self.awaitingSleep }

  /// Has the content of a request read, which begins when there is some.
  func beginReading(_ request: TransportRequest, with transfer: Transfer) {
    guard let source = request.source else { return }
    bodyTicket += 1
    let feed = BodyFeed(source, ticket: bodyTicket, lane: bodies.lane()) { [weak self, ticket = bodyTicket] in
      self?.post([.piece(BodyPiece(id: request.id, ticket: ticket, reading: $0, result: $1))])
    }
    transfer.request = request
    transfer.upload = Transfer.Upload(feed: feed)
    transfers[request.id] = transfer
    awaiting[request.id] = ContinuousClock.now
    feed.begin()
  }

  /// Has the content read once more for a request that a redirect has led to, if it takes the content along.
  func readAgain(_ hop: Hop, with transfer: Transfer) {
    if hop.source == nil { transfer.upload.feed = nil } else { transfer.upload.feed?.begin() }
  }

  /// Goes on with what waits for a piece of its content.
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
    result.error = TransportError(code: fault.code, message: "\(fault.message).")
    results.append(result)
    keep(transfer)
  }

  /// Forgets what has not begun; nil when it has.
  func giveUpAwaiting(_ transfer: Transfer) -> TransportResult? {
    guard let since = awaiting.removeValue(forKey: transfer.id) else { return nil }
    transfers[transfer.id] = nil
    transfer.upload = Transfer.Upload()
    return .cancelled(transfer.id, after: ContinuousClock.now - since)
  }

  /// Ends what has not begun in the time that its attempt may take.
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
