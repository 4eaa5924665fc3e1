/// Collects the fields that decide where a request ends, what happens to its connection, and how its content is coded.
/// Refuses anything that two recipients could read differently, because requests are smuggled that way.
struct Framing {
  private var hostCount = 0
  private var contentLength: Int?
  private var transferCodings = 0
  private var isChunkedLast = false
  private var hasOtherCoding = false
  private var hasClose = false
  private var hasKeepAlive = false
  private var expectsContinue = false
  private var hasOtherExpectation = false
  private var contentCoding = ContentCoding.absent
  private var acceptEncoding = AcceptEncoding()
  private var isConditional = false

  /// Reads one field.
  @inline(__always)
  mutating func read(
    _ name: UnsafePointer<UInt8>, _ nameCount: Int, _ value: UnsafePointer<UInt8>, _ count: Int
  ) throws(ProtocolError) {
    switch nameCount {
    case 4 where ASCII.equal(name, nameCount, "host"):
      hostCount += 1
      guard hostCount == 1 else { throw .badRequest("Host is given more than once.") }
      guard RequestHead.isHostAndPort(value, count) else { throw .badRequest("Host is not a host and port.") }
    case 6 where ASCII.equal(name, nameCount, "expect"):
      readExpectation(value, count)
    case 8 where ASCII.equal(name, nameCount, "if-match"), 13 where ASCII.equal(name, nameCount, "if-none-match"),
      17 where ASCII.equal(name, nameCount, "if-modified-since"),
      19 where ASCII.equal(name, nameCount, "if-unmodified-since"):
      isConditional = true
    case 10 where ASCII.equal(name, nameCount, "connection"):
      readConnection(value, count)
    case 14 where ASCII.equal(name, nameCount, "content-length"):
      try readLength(value, count)
    case 15 where ASCII.equal(name, nameCount, "accept-encoding"):
      acceptEncoding.read(value, count)
    case 16 where ASCII.equal(name, nameCount, "content-encoding"):
      contentCoding.read(value, count)
    case 17 where ASCII.equal(name, nameCount, "transfer-encoding"):
      try readCodings(value, count)
    default:
      break
    }
  }

  /// Decides from all fields together.
  func decide(into head: inout RequestHead) throws(ProtocolError) {
    // RFC 9112 section 3.2: a 1.1 request without Host is refused.
    if hostCount == 0, head.minorVersion > 0 { throw .badRequest("Host is missing.") }
    if transferCodings > 0 {
      if head.minorVersion == 0 { throw .badRequest("HTTP/1.0 has no Transfer-Encoding.") }
      if contentLength != nil { throw .badRequest("Transfer-Encoding and Content-Length exclude each other.") }
      if !isChunkedLast { throw .badRequest("The last transfer coding is not chunked.") }
      if hasOtherCoding {
        throw ProtocolError(status: 501, reason: "chunked is the only supported transfer coding.")
      }
    }
    // RFC 9110 section 10.1.1: an expectation from HTTP/1.0 is ignored.
    if hasOtherExpectation, head.minorVersion > 0 {
      throw ProtocolError(status: 417, reason: "100-continue is the only supported expectation.")
    }
    head.isChunked = transferCodings > 0
    head.contentLength = contentLength ?? 0
    head.keepsAlive = !hasClose && (head.minorVersion > 0 || hasKeepAlive)
    head.expectsContinue = expectsContinue && head.minorVersion > 0
    head.contentCoding = contentCoding
    head.codingPreference = acceptEncoding.preference
    head.isConditional = isConditional
  }

  private mutating func readExpectation(_ value: UnsafePointer<UInt8>, _ count: Int) {
    if ASCII.equal(value, count, "100-continue") { expectsContinue = true } else { hasOtherExpectation = true }
  }

  private mutating func readConnection(_ value: UnsafePointer<UInt8>, _ count: Int) {
    var index = 0
    while let element = Self.element(value, count, &index) {
      if ASCII.equal(value + element.lowerBound, element.count, "close") { hasClose = true }
      if ASCII.equal(value + element.lowerBound, element.count, "keep-alive") { hasKeepAlive = true }
    }
  }

  /// Only digits; a list, in one field or several, must repeat one value (RFC 9110 section 8.6).
  private mutating func readLength(_ value: UnsafePointer<UInt8>, _ count: Int) throws(ProtocolError) {
    var index = 0
    var elements = 0
    while let element = Self.element(value, count, &index) {
      elements += 1
      guard !element.isEmpty else { throw .badRequest("Content-Length is empty.") }
      var length = 0
      for position in element {
        guard ASCII.isDigit(value[position]) else { throw .badRequest("Content-Length is not a number.") }
        // Saturates: a number that does not fit is over any limit.
        let (product, overflow) = length.multipliedReportingOverflow(by: 10)
        let (sum, carry) = product.addingReportingOverflow(Int(value[position] &- 0x30))
        length = overflow || carry ? Int.max : sum
      }
      guard contentLength == nil || contentLength == length else {
        throw .badRequest("Content-Length is given with different values.")
      }
      contentLength = length
    }
    guard elements > 0 else { throw .badRequest("Content-Length is empty.") }
  }

  private mutating func readCodings(_ value: UnsafePointer<UInt8>, _ count: Int) throws(ProtocolError) {
    var index = 0
    var elements = 0
    while let element = Self.element(value, count, &index) {
      elements += 1
      guard !element.isEmpty, !isChunkedLast else { throw .badRequest("Transfer-Encoding is malformed.") }
      transferCodings += 1
      if ASCII.equal(value + element.lowerBound, element.count, "chunked") {
        isChunkedLast = true
      } else {
        hasOtherCoding = true
      }
    }
    guard elements > 0 else { throw .badRequest("Transfer-Encoding is empty.") }
  }

  /// The next element of a comma-separated list without the blanks around it; nil at the end.
  static func element(
    _ value: UnsafePointer<UInt8>, _ count: Int, _ index: inout Int
  ) -> Range<Int>? {
    guard index <= count, count > 0 else { return nil }
    var start = index
    var end = start
    while end < count, value[end] != ASCII.comma { end += 1 }
    index = end + 1
    while start < end, ASCII.isBlank(value[start]) { start += 1 }
    while end > start, ASCII.isBlank(value[end - 1]) { end -= 1 }
    return start..<end
  }
}
