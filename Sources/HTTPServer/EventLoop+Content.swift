/// The content codings of the bodies that come.
extension EventLoop {
  /// The body as the handler gets it: in `inflated` if it came coded. With that, the field that named the coding goes.
  ///
  /// - Throws: Why it cannot be decoded; where the next request starts is known all the same.
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

  /// What is answered to what cannot be served.
  func refusal(_ error: ProtocolError) -> HTTPResponse {
    var response = errorResponse(error.status, error.reason)
    if error == .unsupportedCoding {
      // RFC 9110 section 12.5.3: in an answer it says what a request may be coded in.
      response.headers.append(HTTPHeader("Accept-Encoding", ContentCoding.understood))
    }
    return response
  }
}
