/// Content codings: of the bodies that come, and of the answers that go.
extension EventLoop {
  /// The body as the handler gets it: in `inflated` if it was compressed. The field that named the coding is then
  /// removed.
  ///
  /// - Throws: Why it cannot be decoded. The start of the next request is still known.
  func content(
    _ bytes: UnsafePointer<UInt8>, _ body: Range<Int>, _ coding: ContentCoding
  ) throws(ProtocolError) -> UnsafeRawBufferPointer {
    // Sound: as the bytes themselves, which the caller keeps in place while the handler runs.
    let coded = UnsafeRawBufferPointer(start: bytes + body.lowerBound, count: body.count)
    guard decodesContent, coding != .absent else { return coded }
    table.remove("content-encoding", bytes)
    // No content has no coding either: clients that set the field for all their requests mean no harm by it.
    if coding == .identity || coded.isEmpty { return coded }
    try decoder.decode(coded, coding, into: &inflated)
    // Sound: `inflated` is left alone until the handler is done.
    return UnsafeRawBufferPointer(start: inflated.bytes, count: inflated.count)
  }

  /// Writes an answer to the output, or what its request's conditions make of it; compressed if that is wanted, allowed
  /// and worth it.
  func write(_ response: HTTPResponse, for connection: Connection, _ persistence: ResponseWriter.Persistence) {
    dateText.refresh()
    let isRequired = connection.codingPreference == .gzipOnly
    let size = response.body.count
    let isNegotiated =
      gzipLevel > 0 && size <= gzipMaxBytes && (size >= gzipMinBytes || isRequired) && response.permitsCoding
      && (response.isCompressible || isRequired)
    if let conditions = connection.exchange?.preconditions {
      let applied = response.applying(
        conditions, varies: isNegotiated && !response.variesByCoding,
        mayBeCoded: isNegotiated && connection.codingPreference != .identity)
      if applied.status != response.status {
        return ResponseWriter.append(
          applied, to: &out, dateLine: dateText.line, isHead: connection.isHead, persistence: persistence)
      }
    }
    guard isNegotiated else {
      return ResponseWriter.append(
        response, to: &out, dateLine: dateText.line, isHead: connection.isHead, persistence: persistence)
    }
    defer { gzipped.removeAll(keepingAtMost: Self.keptOutputBytes) }
    let isCoded =
      connection.codingPreference != .identity
      && encoder.encode(response.body, mustShrink: !isRequired, into: &gzipped)
    ResponseWriter.append(
      response, to: &out, dateLine: dateText.line, isHead: connection.isHead, persistence: persistence,
      // Sound: `gzipped` is left alone until the writer has copied from it.
      gzipped: isCoded ? UnsafeBufferPointer(start: gzipped.bytes, count: gzipped.count) : nil,
      // An answer that went plain would have gone coded to another client: caches must know (RFC 9110 section 12.5.5).
      varies: !response.variesByCoding)
  }

  /// What is answered to what cannot be served.
  func refusal(_ error: ProtocolError) -> HTTPResponse {
    var response = errorResponse(error.status, error.reason)
    if error == .unsupportedCoding {
      // RFC 9110 section 12.5.3: in an answer it says what a request may be coded in.
      response.headers.append(HTTPHeader("Accept-Encoding", ContentCoding.understood))
    }
    // A request that is refused because there is no room may succeed later.
    if error.status == 503, !response.headers.contains(where: { $0.isNamed("retry-after") }) {
      response.headers.append(HTTPHeader("Retry-After", "1"))
    }
    return response
  }
}
