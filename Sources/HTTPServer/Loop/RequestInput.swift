import Glibc

/// The memory in which a loop receives and parses requests. It is used for one connection after another.
///
/// Sound: only this type, which cannot be copied, allocates and frees the scratch memory. The loop uses what it has of
/// it, and of the decoded body, only until it receives again or calls ``endRequest()``.
struct RequestInput: ~Copyable {
  /// How much is read at a time.
  static let scratchBytes = 64 * 1024

  /// Receives all bytes; only unused ones move to a connection's own buffer.
  let scratch: UnsafeMutablePointer<UInt8>
  private let limits: ParserLimits
  private let decodesContent: Bool
  private var table: FieldTable
  /// The decompressed current body. Empty unless the handler is reading it.
  private var inflated = ByteBuffer()
  private var decoder: ContentDecoder

  init(_ settings: LoopSettings) {
    limits = settings.parserLimits
    decodesContent = settings.decodesContent
    table = FieldTable(limits: limits)
    decoder = ContentDecoder(limits: settings.contentLimits)
    scratch = .allocate(capacity: Self.scratchBytes)
  }

  deinit { scratch.deallocate() }

  /// Receives bytes into the scratch memory.
  ///
  /// - Returns: How many, 0 at the end of the peer's side, or -1 with `errno` set.
  func receive(from descriptor: Int32, atMost count: Int = scratchBytes) -> Int { recv(descriptor, scratch, count, 0) }

  /// Parses bytes of the current request; see ``RequestParser/advance(_:_:_:_:isTableFresh:)``.
  mutating func parse(
    _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, with parser: inout RequestParser, isTableFresh: Bool
  ) throws(ProtocolError) -> RequestParser.Progress {
    try parser.advance(bytes, count, limits, &table, isTableFresh: isTableFresh)
  }

  /// The parsed request, as its handler sees it.
  func request(
    _ bytes: UnsafePointer<UInt8>, _ head: RequestHead, body: UnsafeRawBufferPointer, descriptor: Int32
  ) -> HTTPRequest {
    HTTPRequest(
      bytes: bytes, head: head, slots: table.slots, slotCount: table.count, body: body, descriptor: descriptor)
  }

  /// Whether a body in that coding cannot be decoded.
  func refuses(_ coding: ContentCoding) -> Bool { decodesContent && coding == .unsupported }

  /// The body as the handler gets it: decompressed if it was compressed. The field with the coding is then removed.
  ///
  /// - Throws: Why it cannot be decoded. The start of the next request is still known then.
  mutating func content(
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

  /// The handler has used the request's body.
  mutating func endRequest() { inflated.removeAll(keepingAtMost: EventLoop.keptBytes) }
}
