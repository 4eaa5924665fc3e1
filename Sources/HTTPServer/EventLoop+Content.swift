/// Content codings of request bodies and of answers.
extension EventLoop {
  /// The body as the handler gets it: in `inflated` if it was compressed. The field with the coding is then removed.
  ///
  /// - Throws: Why it cannot be decoded. The start of the next request is still known then.
  func content(
    _ bytes: UnsafePointer<UInt8>, _ body: Range<Int>, _ coding: ContentCoding
  ) throws(ProtocolError) -> UnsafeRawBufferPointer {
    // Sound: same as the bytes themselves, which the caller keeps in place while the handler runs.
    let coded = UnsafeRawBufferPointer(start: bytes + body.lowerBound, count: body.count)
    guard decodesContent, coding != .absent else { return coded }
    table.remove("content-encoding", bytes)
    // Without content there is nothing to decode: some clients set the field for all their requests.
    if coding == .identity || coded.isEmpty { return coded }
    try decoder.decode(coded, coding, into: &inflated)
    // Sound: `inflated` does not change until the handler returns.
    return UnsafeRawBufferPointer(start: inflated.bytes, count: inflated.count)
  }

  /// Writes an answer to the output, after the request's conditions are applied; compressed if that is wanted, allowed
  /// and worthwhile.
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
      // Sound: `gzipped` does not change until the writer has copied from it.
      gzipped: isCoded ? UnsafeBufferPointer(start: gzipped.bytes, count: gzipped.count) : nil,
      // Another client would have got this plain answer compressed: caches must know (RFC 9110 section 12.5.5).
      varies: !response.variesByCoding)
  }

  /// The answer to a request that cannot be served.
  func refusal(_ error: ProtocolError) -> HTTPResponse {
    var response = errorResponse(error.status, error.reason)
    if error == .unsupportedCoding {
      // RFC 9110 section 12.5.3: in an answer the field lists the codings that a request may have.
      response.headers.append(HTTPHeader("Accept-Encoding", ContentCoding.understood))
    }
    // A request that is refused because of the limit may succeed later.
    if error.status == 503, !response.headers.contains(where: { $0.isNamed("retry-after") }) {
      response.headers.append(HTTPHeader("Retry-After", "1"))
    }
    return response
  }
}
