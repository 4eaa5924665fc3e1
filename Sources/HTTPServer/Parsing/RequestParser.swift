/// Parses one request after another from bytes that arrive in pieces. A pure value: no socket, no clock, and only a few
/// words of memory, so that a slow or idle connection costs almost nothing.
///
/// The caller keeps the bytes of the current request, from its first one, and passes them all at each call.
struct RequestParser {
  /// The result of parsing the bytes.
  enum Progress: Equatable {
    /// The request is incomplete. Of the bytes, the first `kept` must be passed again (a chunked body shrinks as it is
    /// decoded), followed by new ones.
    case incomplete(kept: Int)
    /// The request is complete: its body, and how many of the bytes belong to it.
    case complete(body: Range<Int>, consumed: Int)
    /// The head is complete and a body follows: call `collectBody` or `streamBody`. After the first, pass the same
    /// bytes again; after the second, those behind the head.
    case announced(headCount: Int)
    /// A part of a streamed body, which may be empty, and how many of the bytes it used.
    case piece(body: Range<Int>, consumed: Int, isLast: Bool)
  }

  private enum Phase: Equatable {
    /// announced, fixed, chunked
    case head(HeadScanner)
    /// fixed, chunked, streamedFixed, streamedChunked
    case announced(headCount: Int, fieldsStart: Int)
    /// head
    case fixed(headCount: Int, fieldsStart: Int)
    /// head
    case chunked(headCount: Int, fieldsStart: Int, ChunkedDecoder)
    /// head
    case streamedFixed(remaining: Int)
    /// head
    case streamedChunked(ChunkedDecoder)
  }

  private var phase = Phase.head(HeadScanner())
  /// Valid once a request is complete; the method already after its line was parsed.
  private(set) var head = RequestHead()
  /// The client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1); the caller clears it.
  var awaitsContinue = false
  /// Whether the parser stops at each head that a body follows, to ask how to receive it.
  private let announcesBodies: Bool

  init(announcesBodies: Bool = false) { self.announcesBodies = announcesBodies }

  /// Whether no byte of the current request was seen.
  var isAtStart: Bool {
    if case .head(let scanner) = phase { return scanner.isAtStart }
    return false
  }

  /// Whether the body is expected.
  var isInBody: Bool {
    if case .head = phase { return false }
    return true
  }

  /// How many bytes are known to follow; 0 if that is unknown.
  func missing(have count: Int) -> Int {
    if case .fixed(let headCount, _) = phase { return max(0, headCount + head.contentLength - count) }
    return 0
  }

  /// Parses the bytes of the current request.
  ///
  /// After `.complete` and `.announced`, `table` holds the header fields. After `.complete`, and after the last piece,
  /// the next call begins another request.
  ///
  /// - Parameter isTableFresh: Whether `table` still holds the fields, because nothing else was parsed since.
  /// - Throws: ``ProtocolError``; parsing cannot continue then.
  mutating func advance(
    _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limits: ParserLimits, _ table: inout FieldTable,
    isTableFresh: Bool = false
  ) throws(ProtocolError) -> Progress {
    var isTableFresh = isTableFresh
    if case .head(var scanner) = phase {
      if scanner.isAtStart { head = RequestHead() }
      guard let headCount = try scanner.scan(bytes, count, into: &head, limits) else {
        phase = .head(scanner)
        return .incomplete(kept: scanner.kept(of: count))
      }
      try table.parse(bytes, from: scanner.fieldsStart, to: headCount, into: &head)
      isTableFresh = true
      let hasBody = head.isChunked || head.contentLength > 0
      awaitsContinue = head.expectsContinue && hasBody && count == headCount
      phase = .announced(headCount: headCount, fieldsStart: scanner.fieldsStart)
      if announcesBodies, hasBody { return .announced(headCount: headCount) }
      try collectBody(limits)
    }
    switch phase {
    case .head, .announced:
      return .incomplete(kept: count)
    case .streamedFixed(let remaining):
      let taken = min(count, remaining)
      phase = taken == remaining ? .head(HeadScanner()) : .streamedFixed(remaining: remaining - taken)
      return .piece(body: 0..<taken, consumed: taken, isLast: taken == remaining)
    case .streamedChunked(var decoder):
      var (source, destination) = (0, 0)
      let isLast = try decoder.decode(bytes, from: &source, to: &destination, end: count, limits.ofStreams)
      phase = isLast ? .head(HeadScanner()) : .streamedChunked(decoder)
      return .piece(body: 0..<destination, consumed: source, isLast: isLast)
    case .fixed(let headCount, let fieldsStart):
      let total = headCount + head.contentLength
      guard count >= total else { return .incomplete(kept: count) }
      try finish(bytes, headCount, fieldsStart, isTableFresh, &table)
      return .complete(body: headCount..<total, consumed: total)
    case .chunked(let headCount, let fieldsStart, var decoder):
      var source = headCount + decoder.decodedCount
      var destination = source
      guard try decoder.decode(bytes, from: &source, to: &destination, end: count, limits) else {
        phase = .chunked(headCount: headCount, fieldsStart: fieldsStart, decoder)
        return .incomplete(kept: destination)
      }
      try finish(bytes, headCount, fieldsStart, isTableFresh, &table)
      return .complete(body: headCount..<destination, consumed: source)
    }
  }

  /// After `.announced`: the body is received whole.
  ///
  /// - Throws: if its announced length is over the limit.
  mutating func collectBody(_ limits: ParserLimits) throws(ProtocolError) {
    guard case .announced(let headCount, let fieldsStart) = phase else { return }
    guard head.contentLength <= limits.maxBodyBytes else { throw .bodyTooLarge }
    phase =
      head.isChunked
      ? .chunked(headCount: headCount, fieldsStart: fieldsStart, ChunkedDecoder())
      : .fixed(headCount: headCount, fieldsStart: fieldsStart)
  }

  /// After `.announced`: the body is received in pieces, and the head is not needed any more.
  ///
  /// - Throws: if its announced length is over the limit.
  mutating func streamBody(_ limits: ParserLimits) throws(ProtocolError) {
    guard head.contentLength <= limits.maxStreamedBodyBytes else { throw .bodyTooLarge }
    phase = head.isChunked ? .streamedChunked(ChunkedDecoder()) : .streamedFixed(remaining: head.contentLength)
  }

  /// Other connections used the table while the body arrived: it is filled again from the same bytes.
  private mutating func finish(
    _ bytes: UnsafeMutablePointer<UInt8>, _ headCount: Int, _ fieldsStart: Int, _ isTableFresh: Bool,
    _ table: inout FieldTable
  ) throws(ProtocolError) {
    if !isTableFresh { try table.parse(bytes, from: fieldsStart, to: headCount, into: &head) }
    awaitsContinue = false
    phase = .head(HeadScanner())
  }
}
