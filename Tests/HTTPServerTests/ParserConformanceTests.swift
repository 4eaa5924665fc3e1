import Testing

@testable import HTTPServer

@Suite("The request parser")
struct ParserConformanceTests {
  @Test("parses each input of the conformance table as the RFC says", arguments: ParserCase.all)
  func conforms(_ example: ParserCase) {
    let run = ParserRun(example.input)
    switch example.expectation {
    case .incomplete:
      #expect(run.requests.isEmpty && run.ending == .incomplete, "\(run)")
    case .requests(let count):
      #expect(run.requests.count == count && run.ending == .idle, "\(run)")
    case .refused(let status):
      guard case .refused(let error) = run.ending, run.requests.isEmpty else {
        Issue.record("It should be refused with \(status): \(run)")
        return
      }
      #expect(error.status == status, "\(error.reason)")
      #expect(error.reason.hasSuffix("."))
    case .request(let expected):
      #expect(run.ending == .idle, "\(run)")
      guard let request = run.requests.first, run.requests.count == 1 else {
        Issue.record("It should be one request: \(run)")
        return
      }
      #expect(request.method == expected.method)
      #expect(request.path == expected.path)
      #expect(request.query == expected.query)
      #expect(request.body == expected.body)
      #expect(request.minorVersion == expected.minorVersion)
      #expect(request.keepsAlive == expected.keepsAlive)
      if let headers = expected.headers { #expect(request.headers == headers) }
    }
  }

  @Test("gives the same result wherever the bytes are split", arguments: ParserCase.all)
  func splits(_ example: ParserCase) {
    let whole = ParserRun(example.input)
    let everywhere = ParserRun(example.input, cuts: Array(1..<max(1, example.input.count)))
    #expect(everywhere == whole, "byte by byte: \(everywhere), whole: \(whole)")
    for cut in 1..<max(2, example.input.count) {
      let split = ParserRun(example.input, cuts: [cut])
      #expect(split == whole, "split at \(cut): \(split), whole: \(whole)")
    }
  }

  @Test("gives a body in pieces with the same content, wherever the bytes are split", arguments: ParserCase.all)
  func streams(_ example: ParserCase) {
    let whole = ParserRun(example.input)
    #expect(ParserRun(example.input, streams: false) == whole)
    let everywhere = ParserRun(example.input, cuts: Array(1..<max(1, example.input.count)), streams: true)
    #expect(everywhere == whole, "byte by byte: \(everywhere), whole: \(whole)")
    for cut in 1..<max(2, example.input.count) {
      let split = ParserRun(example.input, cuts: [cut], streams: true)
      #expect(split == whole, "split at \(cut): \(split), whole: \(whole)")
    }
  }

  @Test("does not depend on earlier requests of the connection", arguments: ParserCase.all)
  func follows(_ example: ParserCase) {
    let before = Array("POST /b HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n".utf8)
    let alone = ParserRun(example.input)
    let second = ParserRun(before + example.input)
    #expect(Array(second.requests.dropFirst()) == alone.requests)
    #expect(second.ending == alone.ending)
  }

  @Test("survives mutated input, with the same result wherever it is split", arguments: 0..<8 as Range<UInt64>)
  func survivesMutations(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let corpus = ParserCase.all.map(\.input)
    for round in 0..<500 {
      var input = corpus.randomElement(using: &random) ?? []
      if Bool.random(using: &random) { input += corpus.randomElement(using: &random) ?? [] }
      let mutations = Int.random(in: 1...4, using: &random)
      for _ in 0..<mutations { Self.mutate(&input, corpus: corpus, using: &random) }
      guard input.count > 1 else { continue }
      let whole = ParserRun(input)
      let pieces = Int.random(in: 2...7, using: &random)
      let cuts = (1..<pieces).map { _ in Int.random(in: 1..<input.count, using: &random) }.sorted()
      let split = ParserRun(input, cuts: cuts)
      #expect(
        split == whole,
        "seed \(seed), round \(round), cuts \(cuts): \(String(decoding: input, as: UTF8.self).debugDescription)")
      let streamed = ParserRun(input, cuts: cuts, streams: true)
      #expect(streamed == whole, "seed \(seed), round \(round), cuts \(cuts), in pieces")
    }
  }

  /// Changes an input in one of the ways that break framing.
  private static func mutate(_ input: inout [UInt8], corpus: [[UInt8]], using random: inout SeededRandom) {
    guard !input.isEmpty else { return }
    let place = Int.random(in: 0..<input.count, using: &random)
    let telling = Array("\r\n\t :;,0159afAF?*/\0\u{7F}[]\"%".utf8) + [0x80, 0xFF]
    switch Int.random(in: 0..<6, using: &random) {
    case 0: input[place] = UInt8.random(in: 0...255, using: &random)
    case 1: input[place] = telling.randomElement(using: &random) ?? 0
    case 2: input.insert(telling.randomElement(using: &random) ?? 0, at: place)
    case 3: input.remove(at: place)
    case 4: input.removeSubrange(place..<min(input.count, place + Int.random(in: 1...12, using: &random)))
    default:
      let other = corpus.randomElement(using: &random) ?? []
      guard !other.isEmpty else { return }
      let start = Int.random(in: 0..<other.count, using: &random)
      input.insert(contentsOf: other[start..<min(other.count, start + 16)], at: place)
    }
  }

  @Test("keeps only the data of a chunked body, however much framing it has")
  func dropsFraming() throws {
    var parser = RequestParser()
    let limits = ParserLimits.small
    var table = FieldTable(limits: limits)
    var input = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;extension\r\nx\r\n1\r\ny".utf8)
    let progress = try parser.advance(&input, input.count, limits, &table)
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(progress == .incomplete(kept: head.utf8.count + 2))
    #expect(String(decoding: input.prefix(head.utf8.count + 2), as: UTF8.self) == head + "xy")
  }

  @Test("restores its fields if another connection's request was parsed between head and body")
  func sharesTable() throws {
    let limits = ParserLimits.small
    var table = FieldTable(limits: limits)
    var (slow, other) = (RequestParser(), RequestParser())
    let head = "POST / HTTP/1.1\r\nHost: a\r\nX: slow\r\nContent-Length: 2\r\n\r\n"
    var first = Array(head.utf8)
    #expect(try slow.advance(&first, first.count, limits, &table) == .incomplete(kept: first.count))
    var between = Array("GET / HTTP/1.1\r\nHost: b\r\nX: quick\r\nY: 1\r\nZ: 2\r\n\r\n".utf8)
    _ = try other.advance(&between, between.count, limits, &table)
    var whole = Array((head + "ok").utf8)
    let headers = try whole.withUnsafeMutableBufferPointer { bytes in
      let memory = try #require(bytes.baseAddress)
      guard case .complete(let body, _) = try slow.advance(memory, bytes.count, limits, &table) else {
        return ["incomplete"]
      }
      let request = HTTPRequest(
        bytes: memory, head: slow.head, slots: table.slots, slotCount: table.count,
        body: UnsafeRawBufferPointer(start: memory + body.lowerBound, count: body.count), descriptor: -1)
      return ParsedRequest(request, keepsAlive: true).headers
    }
    #expect(headers == ["Host: a", "X: slow", "Content-Length: 2"])
  }

  @Test("asks for 100 Continue only while no byte of a body has arrived")
  func asksForContinue() throws {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    for (text, expected) in [(head, true), (head + "o", false)] {
      var parser = RequestParser()
      var table = FieldTable(limits: .small)
      var input = Array(text.utf8)
      _ = try parser.advance(&input, input.count, .small, &table)
      #expect(parser.awaitsContinue == expected)
    }
  }
}
