/// The answers of a connection that are not sent yet. It is used for one connection after another, and is empty between
/// them.
struct AnswerOutput: ~Copyable {
  private var bytes = ByteBuffer()
  /// The compressed current answer. Empty unless it is being written.
  private var gzipped = ByteBuffer()
  private var encoder: GzipEncoder
  private let compression: LoopSettings.Compression
  private var dateText: DateText

  private static let continueLine: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"

  init(_ settings: LoopSettings) {
    compression = settings.compression
    encoder = GzipEncoder(level: compression.level)
    dateText = DateText(commonHeaders: settings.commonHeaders)
  }

  var isEmpty: Bool { bytes.isEmpty }
  var count: Int { bytes.count }
  /// The first byte; nil if there is none. Valid until the next change.
  var start: UnsafeMutablePointer<UInt8>? { bytes.bytes }

  /// Removes all bytes, which were sent or moved.
  mutating func removeAll() { bytes.removeAll(keepingAtMost: EventLoop.keptBytes) }

  mutating func writePlain(_ response: HTTPResponse, isHead: Bool, _ persistence: ResponseWriter.Persistence) {
    dateText.refresh()
    ResponseWriter.append(response, to: &bytes, dateLine: dateText.line, isHead: isHead, persistence: persistence)
  }

  /// Writes the answer to the current request of a connection, after the request's conditions are applied; compressed
  /// if that is wanted, allowed and worthwhile.
  mutating func write(
    _ response: HTTPResponse, for connection: Connection, _ persistence: ResponseWriter.Persistence,
    errorResponse: (Int, String) -> HTTPResponse
  ) {
    dateText.refresh()
    let isRequired = connection.codingPreference == .gzipOnly
    let isNegotiated =
      compression.covers(response.body.count, isRequired: isRequired) && response.permitsCoding
      && (response.isCompressible || isRequired)
    if let conditions = connection.exchange?.preconditions {
      let applied = response.applying(
        conditions, varies: isNegotiated && !response.variesByCoding,
        mayBeCoded: isNegotiated && connection.codingPreference != .identity, errorResponse: errorResponse)
      if applied.status != response.status {
        return ResponseWriter.append(
          applied, to: &bytes, dateLine: dateText.line, isHead: connection.isHead, persistence: persistence)
      }
    }
    guard isNegotiated else {
      return ResponseWriter.append(
        response, to: &bytes, dateLine: dateText.line, isHead: connection.isHead, persistence: persistence)
    }
    let isCoded =
      connection.codingPreference != .identity
      && encoder.encode(response.body, mustShrink: !isRequired, into: &gzipped)
    ResponseWriter.append(
      response, to: &bytes, dateLine: dateText.line, isHead: connection.isHead, persistence: persistence,
      // Sound: `gzipped` does not change until the writer has copied from it.
      gzipped: isCoded ? UnsafeBufferPointer(start: gzipped.bytes, count: gzipped.count) : nil,
      // Another client would have got this plain answer compressed: caches must know (RFC 9110 section 12.5.5).
      varies: !response.variesByCoding)
    gzipped.removeAll(keepingAtMost: EventLoop.keptBytes)
  }

  /// Writes the head of an answer whose content follows in pieces.
  mutating func writeHead(_ response: HTTPResponse, isChunked: Bool, _ persistence: ResponseWriter.Persistence) {
    dateText.refresh()
    ResponseWriter.appendHead(
      response, to: &bytes, dateLine: dateText.line, isChunked: isChunked, persistence: persistence)
  }

  /// Writes the next piece of such an answer, and the end after the last.
  mutating func writePiece(_ piece: [UInt8], isChunked: Bool, isLast: Bool) {
    ResponseWriter.appendPiece(piece, to: &bytes, isChunked: isChunked)
    if isChunked, isLast { append(ResponseWriter.lastChunk) }
  }

  /// Asks the client for the body that it holds back (RFC 9110 section 10.1.1).
  mutating func writeContinue() { append(Self.continueLine) }

  private mutating func append(_ text: StaticString) { bytes.append(text.utf8Start, text.utf8CodeUnitCount) }
}
