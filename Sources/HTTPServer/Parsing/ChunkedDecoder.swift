import Glibc

/// Decodes the chunked transfer coding (RFC 9112 section 7.1) in place: the data moves to the front of the buffer, over
/// the framing. Extensions and trailers are checked, limited and dropped.
struct ChunkedDecoder: Equatable {
  /// The position in the grammar of the next byte. The comment of each state lists its successors.
  private enum State: Equatable {
    /// size, afterSize, extensions, sizeEnd
    case size
    /// Blanks that only an extension may follow: afterSize, extensions
    case afterSize
    /// extensions, sizeEnd
    case extensions
    /// The LF after a size: data, or trailerStart after the last chunk
    case sizeEnd
    /// data, dataEnd
    case data
    /// The CR after data: dataLineFeed
    case dataEnd
    /// size
    case dataLineFeed
    /// trailerName, finalLineFeed
    case trailerStart
    /// trailerName, trailerValue
    case trailerName
    /// trailerValue, trailerLineFeed
    case trailerValue
    /// trailerStart
    case trailerLineFeed
    /// The body is complete.
    case finalLineFeed
  }

  private var state = State.size
  private var digits = 0
  /// Bytes of the current chunk that have not arrived.
  private var remaining = 0
  private var chunkExtensions = ChunkExtensions()
  private var extensionBytes = 0
  private var trailerBytes = 0
  private var trailerCount = 0
  /// Bytes of the body so far.
  private(set) var decodedCount = 0

  /// Decodes `buffer[source..<end]` to `buffer[destination…]`.
  ///
  /// - Parameters:
  ///   - source: Start of the coded bytes; afterwards the first unused byte.
  ///   - destination: Start of the data; afterwards its end. Never beyond `source`.
  /// - Returns: Whether the body is complete.
  mutating func decode(
    _ buffer: UnsafeMutablePointer<UInt8>, from source: inout Int, to destination: inout Int, end: Int,
    _ limits: ParserLimits
  ) throws(ProtocolError) -> Bool {
    while source < end {
      if state == .data {
        let count = min(remaining, end - source)
        if source != destination { memmove(buffer + destination, buffer + source, count) }
        source += count
        destination += count
        decodedCount += count
        remaining -= count
        if remaining == 0 { state = .dataEnd }
        continue
      }
      let byte = buffer[source]
      source += 1
      if try accept(byte, limits) { return true }
    }
    return false
  }

  /// Reads one byte of framing; true after the last.
  private mutating func accept(_ byte: UInt8, _ limits: ParserLimits) throws(ProtocolError) -> Bool {
    switch state {
    case .size, .afterSize, .extensions, .sizeEnd: try acceptSizeLine(byte, limits)
    case .data: break
    case .dataEnd:
      guard byte == ASCII.carriageReturn else { throw .badRequest("A chunk is longer than its size says.") }
      state = .dataLineFeed
    case .dataLineFeed:
      guard byte == ASCII.lineFeed else { throw .badRequest("A chunk does not end in CRLF.") }
      state = .size
      digits = 0
    case .finalLineFeed:
      guard byte == ASCII.lineFeed else { throw .badRequest("The chunked body does not end in CRLF.") }
      return true
    case .trailerStart, .trailerName, .trailerValue, .trailerLineFeed: try acceptTrailer(byte, limits)
    }
    return false
  }

  private mutating func acceptSizeLine(_ byte: UInt8, _ limits: ParserLimits) throws(ProtocolError) {
    switch state {
    case .size:
      if let value = ASCII.hexadecimalValue(byte) {
        digits += 1
        guard digits <= 16 else { throw .badRequest("A chunk size has too many digits.") }
        // No overflow: the accepted bytes are within the limit of the body.
        guard remaining <= (Int.max - value) / 16 else { throw .bodyTooLarge }
        remaining = remaining * 16 + value
        guard remaining <= limits.maxBodyBytes - decodedCount else { throw .bodyTooLarge }
      } else if digits > 0, byte == ASCII.carriageReturn {
        state = .sizeEnd
      } else if digits > 0, byte == ASCII.semicolon {
        beginExtensions()
      } else if digits > 0, ASCII.isBlank(byte) {
        state = .afterSize
        try countExtension(limits)
      } else {
        throw .badRequest("A chunk size is not a hexadecimal number.")
      }
    case .afterSize:
      guard ASCII.isBlank(byte) || byte == ASCII.semicolon else {
        throw .badRequest("A chunk size is followed by something other than an extension.")
      }
      try countExtension(limits)
      if byte == ASCII.semicolon { beginExtensions() }
    case .extensions:
      if try chunkExtensions.accept(byte) { state = .sizeEnd } else { try countExtension(limits) }
    default:
      guard byte == ASCII.lineFeed else { throw .badRequest("A chunk size does not end in CRLF.") }
      state = remaining == 0 ? .trailerStart : .data
    }
  }

  private mutating func beginExtensions() {
    state = .extensions
    chunkExtensions = ChunkExtensions()
  }

  /// Extensions are limited over the whole body, so that no body contains megabytes of them.
  private mutating func countExtension(_ limits: ParserLimits) throws(ProtocolError) {
    extensionBytes += 1
    guard extensionBytes <= limits.maxHeaderBytes else { throw .badRequest("The chunk extensions are too long.") }
  }

  private mutating func acceptTrailer(_ byte: UInt8, _ limits: ParserLimits) throws(ProtocolError) {
    trailerBytes += 1
    guard trailerBytes <= limits.maxHeaderBytes else { throw .fieldsTooLarge }
    switch state {
    case .trailerStart:
      if byte == ASCII.carriageReturn {
        state = .finalLineFeed
      } else {
        guard ASCII.isToken(byte) else { throw .badRequest("A trailer line is malformed.") }
        trailerCount += 1
        guard trailerCount <= limits.maxHeaderCount else { throw .fieldsTooLarge }
        state = .trailerName
      }
    case .trailerName:
      if byte == ASCII.colon {
        state = .trailerValue
      } else if !ASCII.isToken(byte) {
        throw .badRequest("A trailer line is malformed.")
      }
    case .trailerValue:
      if byte == ASCII.carriageReturn {
        state = .trailerLineFeed
      } else if !ASCII.isFieldValue(byte) {
        throw .badRequest("A trailer value holds a control byte.")
      }
    default:
      guard byte == ASCII.lineFeed else { throw .badRequest("A trailer line does not end in CRLF.") }
      state = .trailerStart
    }
  }
}
