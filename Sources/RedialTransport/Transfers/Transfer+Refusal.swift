internal import CCurl

/// Requests that an HTTP/2 target has certainly not processed (RFC 9113 §8.7): their streams were refused, or come after
/// the last one of its GOAWAY.
///
/// libcurl says so only to those who listen to it, in words that differ by version. Version 7 does not tell a refused
/// stream from the end of a connection that others have used; so it is one if the connection has not ended.
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

  /// libcurl wants to send the request again. A request that got nothing was refused, or its connection was used by others
  /// and has ended; other ends of a stream and of a connection have a message.
  func noteRepetition() {
    guard dialling.isSecure, let connection = exchange.connection, message.isEmpty, !exchange.needsHTTP1 else { return }
    if !connection.isShared || LibCurl.needsFreshHandles && !connection.hasSpokenHTTP1 && !connection.hasEnded {
      exchange.wasRefused = true
    }
  }

  /// Makes libcurl say what happens on an HTTP/2 connection, from now on.
  func listen(to connection: Connection?) {
    if dialling.isSecure, connection?.hasSpokenHTTP1 == false { options.listen() }
  }

  /// Takes what libcurl says of the request's connection. Once that has ended, libcurl looks for another one, and reads
  /// what has arrived on those that it comes across: a GOAWAY there is no word of this one.
  func hear(_ text: UnsafeRawBufferPointer) {
    if Self.end(of: "retrying a fresh connect", in: text) != nil { exchange.hasLostConnection = true }
    guard !exchange.hasLostConnection else { return }
    if let number = Self.number(after: "Using Stream ID: ", in: text) { exchange.stream = number }
    if let number = Self.number(after: "last_stream=", in: text) {
      if Self.number(after: "GOAWAY, error=", in: text) == Self.http1Required {
        exchange.connection?.requiresHTTP1 = true
      }
      exchange.connection?.lastStream = min(number, exchange.connection?.lastStream ?? number)
    }
    if Self.end(of: " refused by server", in: text) != nil { exchange.wasRefused = true }
    if Self.end(of: "Downgrades to HTTP/1.1", in: text) != nil { exchange.needsHTTP1 = true }
  }

  /// The code HTTP_1_1_REQUIRED (RFC 9113 §7).
  private static let http1Required = 13

  private static func number(after words: StaticString, in text: UnsafeRawBufferPointer) -> Int? {
    guard let end = end(of: words, in: text) else { return nil }
    let digits = text[end...].prefix(10).prefix { $0 &- 0x30 < 10 }
    return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  private static func end(of words: StaticString, in text: UnsafeRawBufferPointer) -> Int? {
    let wanted = UnsafeRawBufferPointer(start: words.utf8Start, count: words.utf8CodeUnitCount)
    guard text.count >= wanted.count else { return nil }
    return (0...text.count - wanted.count).first {
      text[$0] == wanted[0] && text[$0..<$0 + wanted.count].elementsEqual(wanted)
    }.map { $0 + wanted.count }
  }
}
