internal import RedialModel

/// How far a response has come, and what is wrong with it.
struct ResponseProgress {
  /// What this side has found wrong. libcurl has a code for what it finds.
  enum Fault {
    /// The first line of a head is not one of HTTP.
    case notHTTP
    /// The header is so long that the response was cut off.
    case endlessHead
    /// Nobody can tell where the response ends.
    case unclearEnd
    /// Not all fields are kept.
    case longHead
  }

  /// The status; nil as long as only interim responses have come.
  var status: Int?
  /// Whether anything has come.
  var hasBegun = false
  /// Whether it is whole, or more than enough of its body was there.
  var isWhole = false
  var fault: Fault?
  /// Whether this side did not want more of the body.
  var wasDeclined = false
}

/// The received part of the current response.
struct Received {
  /// What the lines are that arrive next.
  private enum Stage {
    /// A status line; to a head.
    case status
    /// The head of an interim response (RFC 9110 §15.2); back to a status line.
    case interimHead
    /// The head of the response; to its content.
    case head
    /// The content. Lines are trailers, which are no fields of the head (RFC 9110 §6.5.1).
    case content
  }

  private var stage = Stage.status
  /// Takes the body of a 200 in pieces, and says whether to continue; nil to collect the body.
  let sink: ((UnsafeRawBufferPointer) -> Bool)?
  /// The lines of the header.
  private(set) var head: [UInt8] = []
  /// Whether the line before was the first of a head.
  private(set) var isAtFirstField = false
  /// The bytes of all headers and trailers.
  private(set) var headBytes = 0
  /// The status of the response; nil as long as only interim responses have come.
  private(set) var status: Int?
  /// Whether the first line of a head is not one of HTTP.
  private(set) var isNotHTTP = false
  /// Whether the last line that came is in ``head``.
  private var keepsLast = false
  /// Where the response ends.
  private(set) var framing = ResponseFraming("")
  private var body: [UInt8] = []
  private var bodyLength = 0
  /// Whether fields were dropped, because those that are kept have reached their limit.
  private(set) var lacksFields = false
  /// Whether the response was cut off because its header or its trailers do not end.
  private(set) var hasEndlessHead = false
  /// Whether the response was cut off because the body exceeded a limit.
  private(set) var wasEnough = false
  /// Whether the one that takes the body did not want more of it.
  private(set) var wasDeclined = false
  /// Whether the codings of the body are undone: they are those that were asked for.
  var mayDecode = false
  /// Whether the header names codings that are undone.
  private var isCoded = false

  init(sink: ((UnsafeRawBufferPointer) -> Bool)? = nil) { self.sink = sink }

  /// What is read of a header beyond its limit, as a multiple of it, so that the rest of the response and its connection are
  /// not lost. libcurl takes 300 KB.
  private static let patience = 4

  /// The limits of a response's body.
  struct BodyLimits {
    /// Maximum bytes to keep.
    var kept: Int
    /// Maximum bytes to receive.
    var received: Int
  }

  /// Forgets the response before.
  ///
  /// - Parameter method: The method of the next request.
  mutating func begin(_ method: String = "") {
    framing = ResponseFraming(method)
    head.removeAll(keepingCapacity: true)
    body = []
    (headBytes, bodyLength, stage, status, keepsLast) = (0, 0, .status, nil, false)
    (lacksFields, hasEndlessHead, wasEnough, wasDeclined, isNotHTTP) = (false, false, false, false, false)
    (isCoded, mayDecode, isAtFirstField) = (false, false, false)
  }

  /// Whether all fields of the response have come.
  var isHeadWhole: Bool { stage == .content }

  /// How far the response has come.
  ///
  /// - Parameter hasEnded: Whether libcurl has seen its end.
  func progress(hasEnded: Bool) -> ResponseProgress {
    ResponseProgress(
      status: status, hasBegun: headBytes > 0, isWhole: isHeadWhole && (hasEnded || wasEnough || isComplete),
      fault: isNotHTTP
        ? .notHTTP : hasEndlessHead ? .endlessHead : framing.isUnclear ? .unclearEnd : lacksFields ? .longHead : nil,
      wasDeclined: wasDeclined)
  }

  /// Whether the body is known to be whole. Often only libcurl knows that.
  var isComplete: Bool {
    isHeadWhole && (framing.hasNoContent || framing.length.map { bodyLength >= $0 } ?? false)
  }

  /// Receives a line of a head, or of the trailers.
  ///
  /// - Parameter limit: The maximum bytes of fields that are kept.
  /// - Returns: Whether to continue.
  mutating func takeHead(_ line: UnsafeRawBufferPointer, atMost limit: Int) -> Bool {
    headBytes += line.count
    guard headBytes <= limit * Self.patience else {
      hasEndlessHead = true
      return false
    }
    // Like libcurl: the rest of such a line does not matter.
    let isEnd = line[0] == 0x0D || line[0] == 0x0A
    isAtFirstField = stage == .status
    switch stage {
    case .status:
      guard let status = StatusLine.status(of: line) else {
        isNotHTTP = true
        return false
      }
      framing.begin(line)
      // Nobody has asked for another protocol, so that nothing of HTTP follows a 101.
      stage = status < 200 && status != 101 ? .interimHead : .head
      if stage == .head { self.status = status }
    case .interimHead where isEnd:
      framing.end(100)
      stage = .status
    case .interimHead: framing.take(line, FieldLine(line))
    case .head where isEnd: return endHead()
    case .head: takeField(line, atMost: limit)
    case .content: break
    }
    return true
  }

  /// The response ends with its head if nobody can tell where else, or if it has no content and libcurl does not know it.
  private mutating func endHead() -> Bool {
    stage = .content
    if let status { framing.end(status) }
    return !framing.isUnclear && !(framing.endsHere && isComplete)
  }

  /// Receives a line of the head. One without a name is ignored.
  private mutating func takeField(_ line: UnsafeRawBufferPointer, atMost limit: Int) {
    let field = FieldLine(line)
    framing.take(line, field)
    guard let field else {
      if FieldLine.isBlank(line[0]) { return takeFold(line, atMost: limit) }
      return keepsLast = false
    }
    keep(line, field, atMost: limit)
    if mayDecode, field.nameCount == 16, field.isNamed("content-encoding") { isCoded = true }
  }

  private mutating func keep(_ line: UnsafeRawBufferPointer, _ field: FieldLine, atMost limit: Int) {
    guard head.count + line.count <= limit else {
      (lacksFields, keepsLast) = (true, false)
      return
    }
    keepsLast = true
    if field.hasBlanks {
      head.append(contentsOf: line[..<field.nameCount])
      head.append(contentsOf: line[field.colon...])
    } else {
      head.append(contentsOf: line)
    }
  }

  /// Joins a line to the field before it, which it continues (RFC 9112 §5.2). One before all fields continues none, and
  /// is ignored (RFC 9112 §2.2), and so is one behind a line that is no field.
  private mutating func takeFold(_ line: UnsafeRawBufferPointer, atMost limit: Int) {
    guard keepsLast else { return }
    let content = line.drop { FieldLine.isBlank($0) }
    guard let first = content.first, first != 0x0D, first != 0x0A else { return }
    guard head.count + content.count < limit else {
      lacksFields = true
      return
    }
    while let last = head.last, last <= 0x20 { head.removeLast() }
    head.append(0x20)
    head.append(contentsOf: content)
  }

  /// Receives a piece of the body.
  ///
  /// - Returns: Whether to continue.
  mutating func takeBody(_ bytes: UnsafeRawBufferPointer, _ limits: BodyLimits) -> Bool {
    if let sink, status == 200 {
      wasDeclined = !sink(bytes)
      return !wasDeclined
    }
    let left = framing.endsHere ? max(0, (framing.length ?? 0) - bodyLength) : bytes.count
    let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(left))
    let kept = isCoded ? ContentCoding.codedBytes(for: limits.kept) : limits.kept
    let room = kept - body.count
    if room > 0 { body.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes.prefix(room))) }
    bodyLength += bytes.count
    wasEnough = bodyLength > max(limits.received, limits.kept)
    return !wasEnough && !(framing.endsHere && isComplete)
  }

  /// The parts of a response that are kept.
  struct Content {
    var response: CapturedResponse
    /// Whether the body is not in the coding that its header names.
    var isFalselyCoded = false
  }

  /// Moves out the fields and the kept part of the body: without its codings, and the fields about them, if they can be
  /// undone; else as it came.
  ///
  /// - Parameters:
  ///   - isWhole: Whether the whole response has arrived.
  ///   - limit: The maximum bytes of the body.
  mutating func moveContent(isWhole: Bool, atMost limit: Int) -> Content {
    var bytes: [UInt8] = []
    swap(&bytes, &body)
    let isAll = isWhole && !wasEnough && bodyLength == bytes.count
    var content = Content(
      response: CapturedResponse(
        head: HeaderBlock(bytes: head), body: bytes, truncated: !isAll || bytes.count > limit))
    let codings = isCoded && !bytes.isEmpty ? ContentCoding.codings(of: content.response.head) ?? [] : []
    if codings.isEmpty {
      // As it came, whatever that means to others.
    } else if let plain = ContentCoding.decode(bytes, codings, isWhole: isAll, atMost: limit) {
      content.response.head.removeCoding()
      (content.response.body, content.response.truncated) = (plain.bytes, plain.isCut || !isAll)
    } else {
      content.isFalselyCoded = true
    }
    if content.response.body.count > limit { content.response.body.removeLast(content.response.body.count - limit) }
    return content
  }
}

extension HeaderBlock {
  /// Removes the fields about the content as it was sent, because it is stored decoded.
  fileprivate mutating func removeCoding() {
    var kept: [UInt8] = []
    kept.reserveCapacity(bytes.count)
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
      let name = line.prefix { $0 != UInt8(ascii: ":") }.map { $0 | 0x20 }
      if name.elementsEqual("content-encoding".utf8) || name.elementsEqual("content-length".utf8) { continue }
      kept += line
      kept.append(UInt8(ascii: "\n"))
    }
    bytes = kept
  }
}
