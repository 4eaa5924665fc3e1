import Foundation
import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("A changed bit of a store's file")
struct FlippedBitTests {
  let folder = TemporaryFolder()
  /// How many bits each test changes; the campaign changes more.
  static let count = ProcessInfo.processInfo.environment["REDIAL_FLIPPED_BITS"].flatMap { Int($0) } ?? 60

  /// All of a call.
  private struct Call: Equatable {
    let spec: [UInt8]
    let body: [UInt8]
    let kind: CallKind
    let createdAt: Timestamp
    let progress: CallProgress
    let retries: [ManualRetry]
    let attempts: [AttemptRecord]
    let key: KeyRecord?

    init(_ call: ArchivedCall) {
      (spec, body, kind) = (call.record.spec.canonicalJSON, call.record.body, call.record.kind)
      (createdAt, progress, retries) = (call.record.createdAt, call.record.progress, call.record.retries)
      (attempts, key) = (call.attempts, call.key)
    }
  }

  /// All that a reader finds: what is about no call, each call by its id, and what is said to be damaged.
  private struct Content: Equatable {
    let items: [String]
    let calls: [CallID: Call]
    let damage: [String]

    init(_ path: String) throws(StoreError) {
      let export = try StoreExport(path: path, state: nil)
      defer { export.close() }
      var (damage, calls) = ([String](), [CallID: Call]())
      items = try export.items { damage.append($0.message) }.map { ArchiveLine.item($0).text }
      try export.forEach {
        calls[$0.record.id] = Call($0)
      } damage: {
        damage.append($0.message)
      }
      (self.calls, self.damage) = (calls, damage)
    }
  }

  /// Calls whose attempts are rows, and others whose attempts are packed.
  private func fill(_ path: String, isLogged: Bool) throws {
    let destination = try SQLiteArchiveDestination(filling: path, payloads: PayloadRule())
    _ = try destination.insert(ArchiveSamples.items)
    try destination.insert(ArchiveSamples.calls, at: Sample.start)
    destination.close()
    let store = try SQLiteStore(path: path)
    var random = RandomSource(seed: 1)
    for number in 1001..<1060 {
      // What does not become smaller is stored as it is.
      let body = (0..<(number % 7 * 700)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let call = Sample.call(number, .held, body: body)
      var progress = Sample.call(number, .succeeded).progress
      progress.attempts = 1
      try store.commit([.insert(call), .update(call.id, progress, Sample.attempt(1))])
    }
    if !isLogged { try store.fold() }
    store.file.moveLog()
    store.close()
  }

  /// Changes one bit at a time; returns those after which calls are others and nothing says so.
  private func unnoticed(in path: String, seed: UInt64, count: Int) throws -> [String] {
    let (whole, known) = (try Content(path), try findings(path))
    #expect(whole.damage.isEmpty && whole.calls.count == ArchiveSamples.calls.count + 59)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let copy = folder.file("changed.db")
    var random = RandomSource(seed: seed)
    return try (0..<count).compactMap { number in
      let (place, bit) = (Int.random(in: bytes.indices, using: &random), UInt8.random(in: 0..<8, using: &random))
      bytes[place] ^= 1 << bit
      defer { bytes[place] ^= 1 << bit }
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
      try Data(bytes).write(to: URL(fileURLWithPath: copy))
      // An index may lead elsewhere, with no row changed. The comparison of each index with its table tells that.
      guard let found = try? Content(copy), found != whole, found.damage.isEmpty, try findings(copy) == known else {
        return nil
      }
      let calls = whole.calls.keys.filter { found.calls[$0] != whole.calls[$0] }
      let items = Set(found.items).symmetricDifference(whole.items).sorted()
      return "bit \(bit) of byte \(place), number \(number) of seed \(seed): \(calls) \(items)"
    }
  }

  /// What the inspection finds, also in the samples; nil if it cannot read the file.
  private func findings(_ path: String) throws -> [StoreFinding]? {
    guard let inspection = try? SQLiteInspection(path: path) else { return nil }
    defer { inspection.close() }
    return try inspection.report(at: Sample.time(1)).findings
  }

  @Test("changes no call, and nothing else, without being told", arguments: [1, 2], [false, true])
  func flips(seed: UInt64, isLogged: Bool) throws {
    let path = folder.file("whole.db")
    try fill(path, isLogged: isLogged)
    let unnoticed = try unnoticed(in: path, seed: seed, count: Self.count)
    #expect(unnoticed.isEmpty)
  }

  @Test("may change a call of an earlier version, which has no checksums, and that is not told")
  func withoutSums() throws {
    let path = folder.file("old.db")
    try fill(path, isLogged: false)
    let connection = try SQLiteConnection(path: path, role: .writer)
    try connection.execute(
      "prepare the test",
      """
      UPDATE calls SET sum = NULL;
      UPDATE requests SET sums = NULL;
      UPDATE attempts SET sum = NULL, response_sum = NULL;
      """)
    connection.close()
    #expect(try !unnoticed(in: path, seed: 1, count: 150).isEmpty)
  }
}
