/// Parses one request after another from bytes that arrive in pieces. A pure value: no socket, no clock, no memory of
/// its own beyond a few words, so that a connection that is slow or idle costs next to nothing.
///
/// The caller keeps the bytes of the request at hand, from its first one, and shows them all at each call.
struct RequestParser {
  /// What the bytes amount to.
  enum Progress: Equatable {
    /// The request goes on; of the bytes shown, the first `kept` must be shown again (a chunked body shrinks as it is
    /// decoded), followed by what arrives next.
    case incomplete(kept: Int)
    /// The request is whole: its body, and how many of the bytes shown belong to it.
    case complete(body: Range<Int>, consumed: Int)
    /// The head is whole and a body follows it: `collectBody` or `streamBody` says how that is received. After the
    /// first, the same bytes are shown again; after the second, those behind the head.
    case announced(headCount: Int)
    /// A part of a body that is streamed, perhaps an empty one, and how many of the bytes shown it took.
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
  /// Valid once a request is complete; the method already when its line has been parsed.
  private(set) var head = RequestHead()
  /// The client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1); the caller clears it.
  var awaitsContinue = false
  /// Whether the parser stops at each head that a body follows, to learn how to receive it.
  private let announcesBodies: Bool

  init(announcesBodies: Bool = false) { self.announcesBodies = announcesBodies }

  /// Whether no byte of the request at hand was seen.
  var isAtStart: Bool {
    if case .head(let scanner) = phase { return scanner.isAtStart }
    return false
  }

  /// Whether the body is awaited.
  var isInBody: Bool {
    if case .head = phase { return false }
    return true
  }

  /// How many bytes are known to be still to come; 0 if that is not known.
  func missing(have count: Int) -> Int {
    if case .fixed(let headCount, _) = phase { return max(0, headCount + head.contentLength - count) }
    return 0
  }

  /// Looks at the bytes of the request at hand.
  ///
  /// After `.complete` and `.announced`, `table` holds the header fields. After `.complete`, and after the last piece,
  /// the next call begins another request.
  ///
  /// - Parameter isTableFresh: Whether `table` still holds the fields, nothing else having been parsed since they were.
  /// - Throws: ``ProtocolError``; nothing more can be parsed then.
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
  /// - Throws: when it is announced to be larger than may be.
  mutating func collectBody(_ limits: ParserLimits) throws(ProtocolError) {
    guard case .announced(let headCount, let fieldsStart) = phase else { return }
    guard head.contentLength <= limits.maxBodyBytes else { throw .bodyTooLarge }
    phase =
      head.isChunked
      ? .chunked(headCount: headCount, fieldsStart: fieldsStart, ChunkedDecoder())
      : .fixed(headCount: headCount, fieldsStart: fieldsStart)
  }

  /// After `.announced`: the body is received in pieces, and of the head nothing is looked at any more.
  ///
  /// - Throws: when it is announced to be larger than may be.
  mutating func streamBody(_ limits: ParserLimits) throws(ProtocolError) {
    guard head.contentLength <= limits.maxStreamedBodyBytes else { throw .bodyTooLarge }
    phase = head.isChunked ? .streamedChunked(ChunkedDecoder()) : .streamedFixed(remaining: head.contentLength)
  }

  /// The table served other connections while the body arrived: it is filled once more, from the same bytes.
  private mutating func finish(
    _ bytes: UnsafeMutablePointer<UInt8>, _ headCount: Int, _ fieldsStart: Int, _ isTableFresh: Bool,
    _ table: inout FieldTable
  ) throws(ProtocolError) {
    if !isTableFresh { try table.parse(bytes, from: fieldsStart, to: headCount, into: &head) }
    awaitsContinue = false
    phase = .head(HeadScanner())
  }
}
