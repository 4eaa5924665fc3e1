/// The content of a request's first line and its framing fields. All positions are offsets from the request's first
/// byte, so that the buffer may move while the body arrives.
struct RequestHead: Equatable {
  /// A run of bytes of the head.
  struct Slice: Equatable {
    var offset: UInt32 = 0
    var count: UInt32 = 0
  }

  var method = Slice()
  var path = Slice()
  var query: Slice?
  /// The host and port of an absolute-form target, which replace the Host field (RFC 9112 section 3.2.2).
  var authority: Slice?
  var minorVersion: UInt8 = 1
  /// The method is HEAD, so the answer has no body.
  var isHead = false
  var isOptions = false
  var isGet = false
  /// The fields contain preconditions.
  var isConditional = false
  /// The target is an absolute URI without a path, which means `/`, or, for OPTIONS and without a query, `*` (RFC 9112
  /// section 3.2.4).
  var hasEmptyPath = false

  /// The value of Content-Length; 0 without one.
  var contentLength = 0
  var isChunked = false
  var keepsAlive = true
  var expectsContinue = false
  var contentCoding = ContentCoding.absent
  var codingPreference = AcceptEncoding.Preference.identity
}

extension RequestHead {
  /// Parses `method SP request-target SP HTTP-version`, RFC 9112 section 3.
  ///
  /// - Parameters:
  ///   - bytes: The request's first byte.
  ///   - start: Where the line starts.
  ///   - end: Where its CRLF starts.
  mutating func parseRequestLine(
    _ bytes: UnsafePointer<UInt8>, from start: Int, to end: Int, _ limits: ParserLimits
  ) throws(ProtocolError) {
    var index = start
    while index < end, ASCII.isToken(bytes[index]) { index += 1 }
    guard index < end, bytes[index] == ASCII.space, index > start else {
      throw .badRequest("The request line does not start with a method and one space.")
    }
    guard index - start <= ParserLimits.maxMethodLength else {
      throw ProtocolError(status: 501, reason: "The method is not known.")
    }
    method = Slice(offset: UInt32(start), count: UInt32(index - start))
    let methodBytes = bytes + start
    isHead = index - start == 4 && methodBytes[0] == 0x48 && matches(methodBytes, "HEAD")
    isGet = index - start == 3 && methodBytes[0] == 0x47 && matches(methodBytes, "GET")
    isOptions = index - start == 7 && methodBytes[0] == 0x4F && matches(methodBytes, "OPTIONS")
    let isConnect = index - start == 7 && methodBytes[0] == 0x43 && matches(methodBytes, "CONNECT")

    let targetStart = index + 1
    index = targetStart
    var question = -1
    while index < end, bytes[index] != ASCII.space {
      let byte = bytes[index]
      // A fragment is never sent (RFC 9112 section 3.2); a byte that is not visible ASCII occurs in no URI.
      guard byte > 0x20, byte < 0x7F, byte != 0x23 else {
        throw .badRequest("The request target holds a byte that no URI has.")
      }
      if byte == ASCII.questionMark, question < 0 { question = index }
      index += 1
    }
    guard index - targetStart <= limits.maxTargetLength else { throw .targetTooLong }
    guard index < end, index > targetStart else {
      throw .badRequest("The request line lacks a target or a version.")
    }
    try parseVersion(bytes + index + 1, count: end - index - 1)
    guard !isConnect else {
      throw ProtocolError(status: 501, reason: "This server is not a proxy: CONNECT is refused.")
    }
    try parseTarget(bytes, from: targetStart, to: index, question: question)
  }

  private func matches(_ bytes: UnsafePointer<UInt8>, _ text: StaticString) -> Bool {
    for index in 0..<text.utf8CodeUnitCount where bytes[index] != text.utf8Start[index] { return false }
    return true
  }

  /// `HTTP-name "/" DIGIT "." DIGIT`, case-sensitive, RFC 9112 section 2.3.
  private mutating func parseVersion(_ bytes: UnsafePointer<UInt8>, count: Int) throws(ProtocolError) {
    guard
      count == 8, matches(bytes, "HTTP/"), ASCII.isDigit(bytes[5]), bytes[6] == 0x2E, ASCII.isDigit(bytes[7])
    else { throw .badRequest("The request line does not end in HTTP/1.1 or HTTP/1.0.") }
    guard bytes[5] == 0x31 else {
      throw ProtocolError(status: 505, reason: "This server speaks HTTP/1.1 and HTTP/1.0 only.")
    }
    minorVersion = bytes[7] &- 0x30
  }

  /// The four forms of RFC 9112 section 3.2.
  private mutating func parseTarget(
    _ bytes: UnsafePointer<UInt8>, from start: Int, to end: Int, question: Int
  ) throws(ProtocolError) {
    var pathStart = start
    if bytes[start] != ASCII.slash {
      if end - start == 1, bytes[start] == 0x2A {
        guard isOptions else { throw .badRequest("The target * is only for OPTIONS.") }
      } else {
        pathStart = try authorityEnd(bytes, from: start, to: end)
      }
    }
    let pathEnd = question < 0 ? end : question
    path = Slice(offset: UInt32(pathStart), count: UInt32(pathEnd - pathStart))
    hasEmptyPath = pathEnd == pathStart
    query = question < 0 ? nil : Slice(offset: UInt32(question + 1), count: UInt32(end - question - 1))
  }

  /// Where the path of an absolute-form target starts.
  private mutating func authorityEnd(
    _ bytes: UnsafePointer<UInt8>, from start: Int, to end: Int
  ) throws(ProtocolError) -> Int {
    var authority = start
    if end - start > 7, ASCII.equal(bytes + start, 7, "http://") {
      authority += 7
    } else if end - start > 8, ASCII.equal(bytes + start, 8, "https://") {
      authority += 8
    } else {
      throw .badRequest("The request target is neither a path, nor an http URI, nor *.")
    }
    var index = authority
    while index < end, bytes[index] != ASCII.slash, bytes[index] != ASCII.questionMark { index += 1 }
    guard index > authority, Self.isHostAndPort(bytes + authority, index - authority) else {
      throw .badRequest("The request target names no valid host.")
    }
    self.authority = Slice(offset: UInt32(authority), count: UInt32(index - authority))
    return index
  }

  /// `uri-host [":" port]`, RFC 9110 section 7.2: no user information, a numeric port.
  static func isHostAndPort(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    guard count > 0 else { return true }
    var index = 0
    if bytes[0] == 0x5B {  // An IPv6 literal.
      while index < count, bytes[index] != 0x5D {
        guard index == 0 || (ASCII.isHost(bytes[index]) && bytes[index] != 0x5B) else { return false }
        index += 1
      }
      guard index < count, index > 1 else { return false }
      index += 1
    } else {
      while index < count, bytes[index] != ASCII.colon {
        guard ASCII.isHost(bytes[index]), bytes[index] != 0x5B, bytes[index] != 0x5D else { return false }
        index += 1
      }
      guard index > 0 else { return false }
    }
    guard index < count else { return true }
    guard bytes[index] == ASCII.colon else { return false }
    for digit in (index + 1)..<count where !ASCII.isDigit(bytes[digit]) { return false }
    return true
  }
}
