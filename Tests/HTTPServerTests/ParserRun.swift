@testable import HTTPServer

/// The parser's result for a stream of bytes: the requests in it, and how it ends.
struct ParserRun: Equatable, CustomStringConvertible {
  enum Ending: Equatable {
    /// Between two requests.
    case idle
    /// In the middle of a request.
    case incomplete
    case refused(ProtocolError)
  }

  var requests: [ParsedRequest] = []
  var ending = Ending.idle
  /// The request whose body is arriving in pieces.
  private var streamed: ParsedRequest?
  private var streamedBody: [UInt8] = []

  /// Passes the bytes to a parser like an event loop, in pieces that end at `cuts` (ascending) and at the end.
  ///
  /// Each call gets memory of exactly the size of the bytes, so that the address sanitizer sees a read beyond them.
  ///
  /// - Parameter streams: Whether bodies are received in pieces; nil means that the parser announces none.
  init(_ bytes: [UInt8], cuts: [Int] = [], limits: ParserLimits = .small, streams: Bool? = nil) {
    var parser = RequestParser(announcesBodies: streams != nil)
    var table = FieldTable(limits: limits)
    var held: [UInt8] = []
    var start = 0
    for cut in cuts + [bytes.count] where cut > start || cut == bytes.count {
      held += bytes[start..<cut]
      start = cut
      do throws(ProtocolError) {
        while !held.isEmpty, try !advance(&parser, &held, limits, &table, streams == true) {}
      } catch {
        ending = .refused(error)
        (streamed, streamedBody) = (nil, [])
        return
      }
    }
    ending = held.isEmpty && parser.isAtStart ? .idle : .incomplete
    (streamed, streamedBody) = (nil, [])
  }

  /// - Returns: Whether more bytes are needed.
  private mutating func advance(
    _ parser: inout RequestParser, _ held: inout [UInt8], _ limits: ParserLimits, _ table: inout FieldTable,
    _ streams: Bool
  ) throws(ProtocolError) -> Bool {
    let count = held.count
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
    defer { memory.deallocate() }
    memory.initialize(from: held, count: count)
    var progress = try parser.advance(memory, count, limits, &table)
    if case .announced(let headCount) = progress {
      if streams {
        streamed = parsed(parser, table, memory, headCount..<headCount)
        try parser.streamBody(limits)
        held.removeFirst(headCount)
        return held.isEmpty
      }
      try parser.collectBody(limits)
      progress = try parser.advance(memory, count, limits, &table, isTableFresh: true)
    }
    switch progress {
    case .incomplete(let kept):
      held = Array(UnsafeBufferPointer(start: memory, count: kept))
      return true
    case .complete(let body, let consumed):
      requests.append(parsed(parser, table, memory, body))
      held.removeFirst(consumed)
      return false
    case .piece(let body, let consumed, let isLast):
      streamedBody += UnsafeBufferPointer(start: memory + body.lowerBound, count: body.count)
      held.removeFirst(consumed)
      if isLast, var request = streamed {
        request.body = String(decoding: streamedBody, as: UTF8.self)
        requests.append(request)
        (streamed, streamedBody) = (nil, [])
      }
      return held.isEmpty
    case .announced: return true
    }
  }

  private func parsed(
    _ parser: RequestParser, _ table: borrowing FieldTable, _ memory: UnsafeMutablePointer<UInt8>, _ body: Range<Int>
  ) -> ParsedRequest {
    let request = HTTPRequest(
      bytes: memory, head: parser.head, slots: table.slots, slotCount: table.count,
      body: UnsafeRawBufferPointer(start: memory + body.lowerBound, count: body.count), descriptor: -1)
    return ParsedRequest(request, keepsAlive: parser.head.keepsAlive)
  }

  var description: String {
    let parts = requests.map { "\($0.method) \($0.path) body \($0.body.debugDescription)" }
    return (parts + ["\(ending)"]).joined(separator: "; ")
  }
}

/// A copy of a request.
struct ParsedRequest: Equatable {
  var method: String
  var path: String
  var query: String?
  var minorVersion: Int
  var headers: [String]
  var body: String
  var keepsAlive: Bool

  init(_ request: borrowing HTTPRequest, keepsAlive: Bool) {
    method = request.method.text
    path = request.path
    query = request.query
    minorVersion = request.minorVersion
    var lines: [String] = []
    request.forEachHeader { name, value in
      lines.append(String(decoding: name, as: UTF8.self) + ": " + String(decoding: value, as: UTF8.self))
    }
    headers = lines
    body = String(decoding: request.body, as: UTF8.self)
    self.keepsAlive = keepsAlive
  }
}

extension ParserLimits {
  /// Limits that a short input reaches.
  static let small = ParserLimits(
    maxHeaderBytes: 256, maxHeaderCount: 8, maxTargetLength: 48, maxBodyBytes: 64,
    maxStreamedBodyBytes: 64)
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): the same numbers each
/// time from the same seed.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
