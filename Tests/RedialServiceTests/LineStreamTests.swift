import RedialCore
import RedialModel
import Testing

@testable import RedialService

@Suite("Lines that arrive in pieces")
struct LineStreamTests {
  /// The lines that a splitter finds in a text with pieces of these sizes.
  private func split(_ text: [UInt8], sizes: () -> Int, longest: Int = 20) -> [String] {
    var splitter = LineSplitter(longest: longest)
    var found: [String] = []
    // It may stop after any line, and gets the rest again.
    func collect(_ number: Int, _ line: LineSplitter.Line) -> Bool {
      switch line {
      case .whole(let bytes): found.append("\(number) \(String(decoding: bytes, as: UTF8.self))")
      case .tooLong: found.append("\(number) too long")
      }
      return number % 3 != 0
    }
    var rest = text[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(max(1, sizes())))
      rest = rest.dropFirst(piece.withUnsafeBufferPointer { splitter.take($0, collect) })
    }
    splitter.finish(collect)
    return found
  }

  @Test("lines are found wherever a piece ends, blank ones are counted and left out, and a long one harms no other")
  func pieces() {
    let (long, longest) = (String(repeating: "x", count: 21), String(repeating: "y", count: 20))
    let text = Array("a\n\n  \r\nbb\n\(long)\ncc\n\(longest)\nend".utf8)
    let expected = ["1 a", "4 bb", "5 too long", "6 cc", "7 \(longest)", "8 end"]
    for size in 1...text.count { #expect(split(text, sizes: { size }) == expected, "pieces of \(size)") }
    #expect(split([], sizes: { 1 }).isEmpty)
    #expect(split(Array("\n \n".utf8), sizes: { 1 }).isEmpty)
    #expect(split(Array(String(repeating: "x", count: 30).utf8), sizes: { 7 }) == ["1 too long"])
  }

  @Test("any text in any pieces gives the same lines as the whole text", arguments: 0..<100)
  func random(seed: UInt64) {
    var random = RandomSource(seed: seed)
    let text = (0..<200).map { _ in [0x0A, 0x20, 0x61, 0x0D].randomElement(using: &random) ?? 0x61 } as [UInt8]
    let expected = text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated().compactMap {
      number, line -> String? in
      if line.count > 20 { return "\(number + 1) too long" }
      if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) { return nil }
      return "\(number + 1) \(String(decoding: line, as: UTF8.self))"
    }
    #expect(split(text, sizes: { Int.random(in: 1...40, using: &random) }) == expected, "seed \(seed)")
  }

  @Test("answers are sent in the order of the lines, in whatever order they are added", arguments: 0..<50)
  func ordered(seed: UInt64) {
    var random = RandomSource(seed: seed)
    var (answers, given, open, held) = (OrderedAnswers(), "", [Int](), 0)
    func put(_ place: Int) {
      let index = open.remove(at: place)
      answers.put(Array("\(index)".utf8), at: index)
      held += "\(index)".utf8.count
    }
    for line in 0..<5000 {
      let index = answers.expect(line: line * 2, size: 3)
      #expect(index == line && answers.line(of: index) == line * 2)
      open.append(index)
      if open.count > 5 || Bool.random(using: &random) { put(Int.random(in: 0..<open.count, using: &random)) }
      // Unanswered lines and unsent answers count with their sizes.
      #expect(answers.bytes == open.count * 3 + held)
      if Int.random(in: 0..<4, using: &random) == 0 {
        let taken = String(decoding: answers.take(atLeast: 10), as: UTF8.self)
        held -= taken.utf8.count { $0 != 0x0A }
        given += taken
      }
    }
    while !open.isEmpty { put(0) }
    while answers.count > 0 { given += String(decoding: answers.take(atLeast: 1000), as: UTF8.self) }
    #expect(given == (0..<5000).map { "\($0)\n" }.joined(), "seed \(seed)")
    #expect(answers.bytes == 0 && answers.line(of: 0) == nil)
  }

  @Test("no more is removed than requested, and nothing after a line without an answer")
  func bounds() {
    var answers = OrderedAnswers()
    for line in 1...4 { _ = answers.expect(line: line, size: 1) }
    answers.put(Array("b".utf8), at: 1)
    #expect(answers.take(atLeast: 10).isEmpty)
    answers.put(Array("a".utf8), at: 0)
    answers.put(Array("ignored".utf8), at: 0)
    #expect(answers.take(atLeast: 1) == Array("a\n".utf8))
    #expect(answers.take(atLeast: 10) == Array("b\n".utf8))
    #expect(answers.count == 2 && answers.line(of: 1) == nil && answers.line(of: 2) == 3)
    answers.put(Array("late".utf8), at: 1)
    #expect(answers.take(atLeast: 10).isEmpty)
  }

  @Test(
    "a client can prefer a minimal answer",
    arguments: [
      ("return=minimal", true), ("wait=1, return=minimal", true), ("return=\"minimal\"; x", true),
      ("return=representation", false), ("minimal", false), ("", false),
    ])
  func preference(value: String, expected: Bool) {
    #expect(Preferences.isMinimal(value) == expected)
  }
}
