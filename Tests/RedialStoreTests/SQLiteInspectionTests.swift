import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("The inspection of an SQLite store")
struct SQLiteInspectionTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("calls.db") }

  var conformance: InspectionConformance {
    InspectionConformance(
      isAtRest: true, openStore: { try SQLiteStore(path: path) }, report: { try report(at: $0) },
      execute: { try execute($0) })
  }

  private func execute(_ sql: String) throws {
    let connection = try SQLiteConnection(path: path, role: .writer)
    defer { connection.close() }
    try connection.execute("prepare the test", sql)
  }

  private func cleanStore() throws -> any CallStore { try conformance.soundStore() }

  private func report(at second: Int = 100) throws -> StoreReport {
    let inspection = try SQLiteInspection(path: path)
    defer { inspection.close() }
    return try inspection.report(at: Sample.time(second))
  }

  @Test("finds nothing wrong with a sound store, live or at rest, and changes nothing")
  func clean() throws {
    let store = try cleanStore()
    let live = try report()
    #expect(live.isLive && live.isClean, "\(live.findings)")
    #expect(live.calls == SoundStore.count)
    #expect(live.findings.map(\.check) == StoreCheck.allCases.filter { $0 != .ledger })
    store.close()
    let before = contents(of: path)
    let rest = try report(at: 1_000_000)
    #expect(!rest.isLive && rest.isClean, "\(rest.findings)")
    #expect(
      rest.findings.map(\.check)
        == StoreCheck.allCases.filter { ![.ledger, .overdue, .stuck, .expiredLeases].contains($0) })
    #expect(contents(of: path) == before)
  }

  @Test("finds late work only after a service had time for it")
  func late() throws { try conformance.late() }

  static let faults: [(String, StoreCheck)] = [
    ("UPDATE requests SET spec = x'7b00' WHERE id = ID", .damaged),
    ("UPDATE attempts SET outcome = 99 WHERE call_id = ID", .damaged),
    ("DELETE FROM calls WHERE id = ID", .orphaned),
    ("DELETE FROM requests WHERE id = ID", .orphaned),
    (
      "INSERT INTO idempotency_keys (key, call_id, fingerprint, created_at, expires_at) VALUES ('k', 5, x'01', 1, 2)",
      .orphaned
    ),
    ("UPDATE calls SET attempts = 1, sum = NULL WHERE id = ID", .miscounted),
    ("UPDATE calls SET attempts = 3, sum = NULL WHERE id = ID", .miscounted),
    ("UPDATE calls SET attempts_before = -1000, sum = NULL WHERE id = ID", .miscounted),
    ("UPDATE attempts SET duration = 2000000, sum = NULL WHERE number = 1 AND call_id = ID", .doublyLeased),
    ("UPDATE leases SET owner = 4711 WHERE shard = 7", .leases),
    ("INSERT INTO sessions (instance, expires_at) VALUES (5, 1)", .leases),
    ("UPDATE targets SET shard = 63 - shard", .leases),
    ("UPDATE targets SET shard = NULL", .leases),
    ("UPDATE leases SET owner = NULL", .unowned),
    ("DELETE FROM leases", .unowned),
    ("UPDATE calls SET finished_at = NULL, sum = NULL WHERE id = ID", .halfEnded),
    ("UPDATE calls SET failure = 1, sum = NULL WHERE id = ID", .halfEnded),
    ("UPDATE finished_counts SET count = count + 1", .keptCounts),
    ("DELETE FROM finished_counts", .keptCounts),
  ]

  @Test("finds faults, with the calls", arguments: faults)
  func damaged(sql: String, check: StoreCheck) throws { try conformance.damaged(sql, check) }

  @Test("takes attempts for no overlap that the clock, set back between them, has put in the wrong order")
  func setBack() throws {
    try cleanStore().close()
    try execute("UPDATE attempts SET started_at = started_at + 7200000000, sum = NULL WHERE number = 1")
    #expect(try report().isClean)
  }

  @Test("finds an expired lease that no instance has taken over, after others had time for it")
  func expiredLeases() throws {
    let store = try cleanStore()
    defer { store.close() }
    try execute("UPDATE sessions SET expires_at = \(Sample.time(10).microseconds)")
    #expect(try report(at: 70).findings.first { $0.check == .expiredLeases }?.count == 0)
    #expect(try report(at: 71).findings.first { $0.check == .expiredLeases }?.count == 1)
  }

  @Test("an orderly stopped store has no leases and no held calls")
  func left() throws {
    let store = try SQLiteStore(path: path)
    try store.commit([.insert(Sample.call(1, .held))])
    try store.resign(at: Sample.time(1))
    #expect(throws: StoreError.self) { try store.commit([.insert(Sample.call(2))]) }
    store.close()
    #expect(try report().isClean)
    let next = try SQLiteStore(path: path)
    defer { next.close() }
    #expect(try next.claimDue(before: Sample.time(1000), limit: 10).calls.map(\.id) == [Sample.id(1)])
  }

  static let orderFaults: [(String, Int)] = [
    ("UPDATE calls SET state = 7, finished_at = 5, waiting = NULL, sum = NULL WHERE id = ID", 21),
    ("DELETE FROM calls WHERE id = ID", 21),
    // One that waits for its turn, and one that runs with it.
    ("DELETE FROM turns WHERE call_id = ID", 21),
    ("DELETE FROM turns WHERE call_id = ID", 30),
    ("UPDATE calls SET waiting = 8, sum = NULL WHERE id = ID", 0),
    // Those behind it wait for a turn that no call has.
    ("DELETE FROM turns WHERE call_id = (SELECT min(call_id) FROM turns)", 21),
    ("UPDATE turns SET has_turn = 0 WHERE call_id = ID", 20),
    ("UPDATE calls SET state = 1, waiting = 8, sum = NULL WHERE id = ID", 20),
    ("UPDATE calls SET state = 2, waiting = 0, sum = NULL WHERE id = ID", 22),
    ("UPDATE turns SET key = 'other', has_turn = 0 WHERE call_id = ID", 30),
    ("UPDATE turns SET namespace = 9 WHERE call_id = ID", 30),
  ]

  @Test("finds ordered calls that are out of their order, and says which", arguments: orderFaults)
  func disorder(sql: String, number: Int) throws { try conformance.disorder(sql, of: number) }

  @Test("finds a webhook whose call is missing, unless retention has removed it")
  func webhooks() throws {
    let store = try SQLiteStore(path: path)
    try store.commit([.insert(SoundStore.webhook(2, of: 77, at: 0))])
    // No call that ended earlier is left.
    #expect(try report().findings.filter { $0.check == .orphanedWebhooks }.map(\.count) == [0])
    var old = Sample.call(1, .succeeded)
    old.progress.finishedAt = Sample.time(-1)
    try store.commit([.insert(old)])
    #expect(try report().findings.filter { $0.check == .orphanedWebhooks }.map(\.count) == [1])
    store.close()
  }

  private func orphanedWebhooks() throws -> Int? {
    try report().findings.first { $0.check == .orphanedWebhooks }?.count
  }

  @Test("a call that retention keeps for now does not turn the removed ones into findings")
  func webhooksBesideShown() throws {
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    for (number, second) in [(1, -100), (2, 0)] {
      var ended = Sample.call(number, .failed)
      ended.progress.finishedAt = Sample.time(second)
      try store.commit([.insert(ended)])
    }
    try store.commit([.insert(SoundStore.webhook(3, of: 2, at: 0))])
    // A client is about to change the older one.
    _ = try store.claim(Sample.id(1))
    let step = try store.tidy(Retention(time: .seconds(1)), at: Sample.time(50), within: .seconds(1))
    #expect(step.removed == 1)
    #expect(try orphanedWebhooks() == 0)
    try store.commit([.insert(SoundStore.webhook(4, of: 77, at: 10))])
    #expect(try orphanedWebhooks() == 1)
  }

  @Test("a webhook that was imported without its call is not a finding")
  func webhooksImported() throws {
    let store = try SQLiteStore(path: path)
    var ended = Sample.call(1, .failed)
    ended.progress.finishedAt = Sample.time(-100)
    try store.commit([.insert(ended)])
    store.close()
    let archive = try StoreImport(path: path, at: Sample.start)
    try archive.add(ArchivedCall(record: SoundStore.webhook(3, of: 2, at: 0), attempts: []))
    try archive.finish()
    #expect(try orphanedWebhooks() == 0)
  }

  @Test("finds an index that does not agree with its table")
  func integrity() throws {
    try cleanStore().close()
    let other = try SQLiteConnection(path: path, role: .writer)
    try other.execute(
      "prepare the test",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'state >= 5', 'state >= 6')"
        + " WHERE name = 'calls_finished'; PRAGMA writable_schema = RESET;")
    other.close()
    let report = try report()
    #expect(report.found.keys.contains(.integrity), "\(report.findings)")
  }

  @Test("continues after any damaged page")
  func damagedPages() throws {
    let store = try cleanStore()
    try store.commit((100..<300).map { .insert(Sample.call($0, .succeeded)) })
    store.close()
    let whole = try #require(contents(of: path))
    // Nothing is in free pages.
    let free = try report().usage.freeBytes / 4096
    var unnoticed = 0
    // The first page identifies the file; without it there is no store.
    for page in 1..<(whole.count / 4096) {
      var bytes = whole
      for offset in 0..<64 { bytes[page * 4096 + offset] = 0xA5 }
      writeFile(path, bytes)
      do throws(StoreError) {
        let inspection = try SQLiteInspection(path: path)
        let report = try inspection.report(at: Sample.start)
        unnoticed += report.isClean ? 1 : 0
        inspection.close()
      } catch {
        // A page of the schema, or of the stored counts, which every report contains.
        #expect(error.kind == .corrupt, "page \(page): \(error)")
      }
    }
    #expect(unnoticed <= free && free < 8)
  }

  @Test("fails for a missing file, a file that is not a store, and one of another version")
  func refusals() throws {
    #expect(throws: StoreError.self) { try SQLiteInspection(path: folder.file("none.db")) }
    #expect(contents(of: folder.file("none.db")) == nil)
    writeFile(folder.file("text.db"), Array(repeating: 0x61, count: 5000))
    #expect(throws: StoreError.self) { try SQLiteInspection(path: folder.file("text.db")) }
    try cleanStore().close()
    let other = try SQLiteConnection(path: path, role: .writer)
    try other.execute("prepare the test", "PRAGMA user_version = 1")
    other.close()
    let error = #expect(throws: StoreError.self) { try SQLiteInspection(path: path) }
    #expect(error?.message.contains("before the first release") == true)
  }
}
