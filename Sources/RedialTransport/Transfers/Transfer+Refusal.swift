internal import CCurl

/// Requests that an HTTP/2 target has certainly not processed (RFC 9113 §8.7): their streams were refused, or come after
/// the last one of its GOAWAY.
///
/// libcurl says so only to those who listen to it, in words that differ by version. Only whole sentences of its own count:
/// others have what a client or a target has written. Version 7 says nothing of a stream that is refused on a connection that
/// others have used: there it is one if nothing has disturbed the connection.
extension Transfer {
  /// Whether the target has said that it has not processed the request.
  var isRefused: Bool {
    guard dialling.isSecure, let connection = exchange.connection, course.sends > 0, received.headBytes == 0 else {
      return false
    }
    if let stream = exchange.stream, let last = connection.lastStream, stream > last { return true }
    return exchange.wasRefused
  }

  /// Whether the request is to be sent again, on a connection of its own.
  ///
  /// A healthy target ends a connection after a number of requests or an age, and then says of those that crossed its
  /// GOAWAY that it has not processed them (RFC 9113 §6.8). That is no failure. But a GOAWAY before any other request, or a
  /// stream that was refused, is: the target stops, or has too much to do, and the policy says when to ask again.
  func mustMove() -> Bool {
    guard isRefused, let connection = exchange.connection, connection.isShared, connection.lastStream != nil else {
      return false
    }
    return course.move()
  }

  /// libcurl wants to send the request again, of which it got no response.
  func noteRepetition() {
    guard LibCurl.needsFreshHandles, dialling.isSecure, message.isEmpty, !exchange.needsHTTP1, !course.hasMoved,
      let connection = exchange.connection, connection.isShared, !connection.hasSpokenHTTP1
    else { return }
    if connection.isUndisturbed { exchange.wasRefused = true }
  }

  /// Makes libcurl say what happens on an HTTP/2 connection, from now on.
  func listen(to connection: Connection?) {
    if dialling.isSecure, connection?.hasSpokenHTTP1 == false { options.listen() }
  }

  /// Takes what libcurl says of the request's connection. Once that has ended, libcurl looks for another one, and reads
  /// what has arrived on those that it comes across: a GOAWAY there is no word of this one.
  func hear(_ text: UnsafeRawBufferPointer) {
    guard !exchange.hasLostConnection else { return }
    var words = LibCurlWords(text)
    if words.skip("Using Stream ID: ") {
      exchange.stream = words.number()
    } else if words.skip("received GOAWAY, error=") || words.skip("recveived GOAWAY, error=") {
      guard let connection = exchange.connection, let code = words.number(), words.skip(", last_stream="),
        let last = words.number()
      else { return }
      if code == Self.http1Required { connection.requiresHTTP1 = true }
      connection.goesAway(after: last)
    } else if words.skip("HTTP/2 stream "), words.number() != nil {
      if words.skip(" refused by server") { exchange.wasRefused = true }
    } else if words.skip("REFUSED_STREAM, retrying") {
      // It says that again in each later request of a handle.
      if LibCurl.needsFreshHandles, !course.hasMoved { exchange.wasRefused = true }
    } else if words.skip("Connection died, retrying") {
      exchange.hasLostConnection = true
    } else if words.skip("Downgrades to HTTP/1.1") {
      exchange.needsHTTP1 = true
    }
  }

  /// The code HTTP_1_1_REQUIRED (RFC 9113 §7).
  private static let http1Required = 13
}

/// A sentence of libcurl, which is read from its beginning.
private struct LibCurlWords {
  private var left: UnsafeRawBufferPointer.SubSequence

  init(_ text: UnsafeRawBufferPointer) { left = text[...] }

  /// Skips these words, if they are next.
  mutating func skip(_ words: StaticString) -> Bool {
    let wanted = UnsafeRawBufferPointer(start: words.utf8Start, count: words.utf8CodeUnitCount)
    guard left.starts(with: wanted) else { return false }
    left = left.dropFirst(wanted.count)
    return true
  }

  /// Skips a number, if one is next.
  mutating func number() -> Int? {
    let digits = left.prefix(10).prefix { $0 &- 0x30 < 10 }
    guard !digits.isEmpty else { return nil }
    left = left.dropFirst(digits.count)
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }
}
