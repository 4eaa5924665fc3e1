import Glibc

/// Finds the end of a head that arrives in pieces, looking at each byte once, and parses the request line as soon as it
/// is complete. ``FieldTable`` parses the fields, because it needs all of them.
///
/// The result depends only on the bytes, not on how they were split.
struct HeadScanner: Equatable {
  private var lineStart = 0
  /// The position up to which no line end was found.
  private var searched = 0
  /// Where the header fields start; 0 while the request line is incomplete.
  private(set) var fieldsStart = 0
  private var fieldCount = 0
  /// The empty line before the request line was skipped.
  private var hasSkippedLine = false

  /// Whether no byte of a request has been seen. An empty line before it does not count.
  var isAtStart: Bool { searched == 0 && lineStart == 0 }

  /// How many of the bytes of the last call must be passed again. An empty line that stands alone need not: a client
  /// that ends its request with one too many is idle, and not slow to send the next.
  func kept(of count: Int) -> Int { isAtStart && count > 1 ? 0 : count }

  /// Scans the bytes that arrived.
  ///
  /// - Returns: The length of the head with its empty line, or nil while it is incomplete.
  mutating func scan(
    _ bytes: UnsafePointer<UInt8>, _ count: Int, into head: inout RequestHead, _ limits: ParserLimits
  ) throws(ProtocolError) -> Int? {
    if fieldsStart == 0 {
      guard try skipEmptyLine(bytes, count) else { return nil }
      // Reported at once, so that a TLS greeting does not wait for its timeout.
      guard ASCII.isToken(bytes[lineStart]) else { throw .badRequest("The first byte belongs to no method.") }
    }
    while true {
      let limit = fieldsStart == 0 ? lineStart + limits.maxRequestLineBytes : fieldsStart + limits.maxHeaderBytes
      let from = max(searched, lineStart)
      guard let found = memchr(bytes + from, Int32(ASCII.lineFeed), count - from) else {
        searched = count
        if count > limit { throw fieldsStart == 0 ? .targetTooLong : .fieldsTooLarge }
        return nil
      }
      let lineFeed = UnsafeRawPointer(found) - UnsafeRawPointer(bytes)
      let next = lineFeed + 1
      if next > limit { throw fieldsStart == 0 ? .targetTooLong : .fieldsTooLarge }
      guard lineFeed > lineStart, bytes[lineFeed - 1] == ASCII.carriageReturn else {
        throw .badRequest("A line ends in LF without CR.")
      }
      if fieldsStart == 0 {
        try head.parseRequestLine(bytes, from: lineStart, to: lineFeed - 1, limits)
        fieldsStart = next
      } else if lineFeed - lineStart == 1 {
        return next
      } else {
        fieldCount += 1
        if fieldCount > limits.maxHeaderCount { throw .fieldsTooLarge }
      }
      lineStart = next
      searched = next
    }
  }

  /// One empty line before the request line is ignored (RFC 9112 section 2.2).
  ///
  /// - Returns: Whether a byte of the request line is there.
  private mutating func skipEmptyLine(
    _ bytes: UnsafePointer<UInt8>, _ count: Int
  ) throws(ProtocolError) -> Bool {
    if lineStart == 0, !hasSkippedLine, count > 0, bytes[0] == ASCII.carriageReturn {
      guard count > 1 else { return false }
      guard bytes[1] == ASCII.lineFeed else { throw .badRequest("A CR stands alone.") }
      hasSkippedLine = true
      guard count > 2 else { return false }
      lineStart = 2
    }
    return count > lineStart
  }
}
