import RedialCore
import RedialJSON
import StoreConformance
import Testing

@testable import RedialStore

@Suite("The lines of an archive")
struct ArchiveLineTests {
  private static func read(_ line: [UInt8]) throws -> ArchiveLine {
    try line.withUnsafeBufferPointer { try ArchiveLine.read($0, at: Sample.start) }
  }

  private static let end = ArchiveLine.end(
    {
      var totals = ArchiveLine.Totals()
      (totals.items, totals.calls) = (7, 1 << 30)
      return totals
    }())

  @Test("are read as they were written, and each is one line")
  func roundTrip() throws {
    let lines = [.header, Self.end] + ArchiveSamples.items.map { .item($0) } + ArchiveSamples.calls.map { .call($0) }
    for line in lines {
      let read = try Self.read(line.json)
      #expect(read.json == line.json && !line.json.contains(UInt8(ascii: "\n")))
      if case .item(let item) = line, case .item(let found) = read { #expect(found == item) }
    }
  }

  @Test("of which a bit has changed are refused", arguments: 0..<3)
  func changedBits(seed: UInt64) throws {
    var random = RandomSource(seed: seed)
    for line in [.header, Self.end] + ArchiveSamples.items.map({ ArchiveLine.item($0) }) {
      for _ in 0..<40 {
        var damaged = line.json
        let place = Int.random(in: 0..<damaged.count, using: &random)
        damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        #expect(throws: JSONError.self, "byte \(place) of \(line.text), seed \(seed)") { try Self.read(damaged) }
      }
    }
  }

  @Test(
    "that mean nothing are refused with the reason",
    arguments: [
      ("", "end"), ("[]", "object"), ("{}", "id is missing"), (#"{"archive":2}"#, "format 2"),
      (#"{"setting":"a"}"#, "value is missing"), (#"{"setting":"a","value":"b","more":1}"#, "more"),
      (#"{"document":"other","id":"a","content":{}}"#, "document"), (#"{"document":"policy","id":"a"}"#, "content"),
      (#"{"target":"a","record":{"breaker":3}}"#, ""), (#"{"counts":"day"}"#, "counts"),
      (#"{"counts":"hour","namespace":"A B","start":1,"numbers":[]}"#, "namespace"),
      (#"{"counts":"hour","namespace":"a","start":1,"numbers":[1.5]}"#, ""), (#"{"end":{"lines":1}}"#, "lines"),
      (#"{"end":{"calls":-1}}"#, "calls"),
    ])
  func refusals(_ line: (text: String, reason: String)) {
    let error = #expect(throws: JSONError.self) { try Self.read(Array(line.text.utf8)) }
    #expect(line.reason.isEmpty || error?.reason.contains(line.reason) == true, "\(error?.reason ?? "")")
  }

  @Test("are in the same order, whatever the order in the store")
  func order() {
    #expect(ArchiveSamples.items.reversed().ordered() == ArchiveSamples.items)
    #expect(ArchiveSamples.items.shuffled().ordered() == ArchiveSamples.items)
  }
}
