import Foundation
import RedialCore
import RedialModel
import RedialSQLite
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("Attempts that are packed with their calls")
struct PackedColumnTests {
  let database = TestDatabase()
  private let first = StoreConformance.firstAttempts

  private func openStore(keptResponses: Int = 20) throws -> AwaitedStore {
    AwaitedStore(
      try PostgresStore(
        database.settings, payloads: PayloadRule(keptResponses: keptResponses), sharing: .alone))
  }

  private func rows() throws -> Int64 { try database.number("SELECT count(*) FROM attempts") }
  private func packed() throws -> Int64 { try database.number("SELECT count(*) FROM done WHERE past IS NOT NULL") }

  @Test("are those with which calls end at once, if they are short")
  func choice() throws {
    let store = try openStore()
    defer { store.close() }
    try StoreConformance.end(first, in: store)
    let large = first.filter { ($0.response?.body.count ?? 0) > 1500 }.count
    #expect(large == 3)
    #expect(try rows() == 3)
    #expect(try packed() == Int64(first.count - large))
    #expect(try database.number("SELECT max(length(past)) FROM done") <= Int64(PackedColumn.largest))
    // A second attempt is a row, and so is a first one with which no call ends.
    var call = Sample.call(100, .running)
    try store.commit([.insert(call)])
    for number in 1...2 {
      call.progress.attempts = number
      call.progress.state = number == 1 ? .held : .succeeded
      call.progress.finishedAt = number == 1 ? nil : Sample.time(9)
      try store.commit([.update(call.id, call.progress, Sample.attempt(number))])
    }
    #expect(try rows() == 5 && database.number("SELECT count(*) FROM live WHERE past IS NOT NULL") == 0)
  }

  @Test("lose their bodies when the call has enough newer attempts")
  func forgetting() throws {
    let store = try openStore(keptResponses: 2)
    defer { store.close() }
    let reader = try PostgresReader(database.settings, connections: 1)
    var calls = try StoreConformance.end(first, in: store)
    for number in 2...4 {
      for index in calls.indices {
        calls[index].progress.attempts = number
        calls[index].progress.state = number == 3 ? .failed : .held
        calls[index].progress.failure = number == 3 ? .notRetryable : nil
        calls[index].progress.finishedAt = number == 3 ? Sample.time(50) : nil
      }
      try store.commit(calls.map { .update($0.id, $0.progress, Sample.attempt(number)) })
      for (call, attempt) in zip(calls, first) {
        var old = StoredAttempt(attempt, of: call.id, compressMinBytes: .max, .none)
        if number > 2 { old.forgetBody() }
        let found = try #require(try reader.call(call.id, allResponses: true)).attempts
        let expected = try old.record(of: call.id, .none)
        #expect(found.first == expected && found.count == number)
      }
    }
    #expect(try database.number("SELECT count(*) FROM live WHERE past IS NOT NULL") == Int64(first.count - 3))
  }

  @Test("that are damaged are reported, and keep nothing else from being done")
  func damage() throws {
    let store = try openStore(keptResponses: 1)
    defer { store.close() }
    let reader = try PostgresReader(database.settings, connections: 1)
    let calls = try StoreConformance.end(Array(first.prefix(8)), in: store)
    let damages = [
      "''", "'\\x01'", "'\\x01010000'", "'\\x0101ffffff'", "'\\x02' || substr(past, 2)",
      "substr(past, 1, length(past) - 1)", "set_byte(past, 12, get_byte(past, 12) # 1)",
    ]
    for (call, damage) in zip(calls, damages) {
      _ = try database.rows("UPDATE done SET past = \(damage) WHERE id = \(call.id.rawValue) AND past IS NOT NULL")
    }
    let broken = try packed()
    #expect(broken == 7, "one call has a large response")
    let inspection = try PostgresInspection(
      database.settings, limits: ServerInspection.Limits(), clock: { Sample.time(1) })
    let findings = try inspection.report(at: Sample.time(1)).findings.filter { $0.check == .damaged }
    #expect(findings.map(\.count) == [Int(broken)], "\(findings)")
    let export = try PostgresExport(database.settings, state: nil)
    var reported: Set<CallID> = []
    try export.forEach { _ in
    } damage: {
      if let id = $0.call { reported.insert(id) }
    }
    #expect(reported.count == Int(broken))
    for call in calls
    where try database.number("SELECT count(*) FROM done WHERE past IS NOT NULL AND id = \(call.id.rawValue)") == 1 {
      let error = #expect(throws: StoreError.self) { try reader.call(call.id, allResponses: true) }
      #expect(error?.kind == .corrupt && error?.message.contains("its packed attempts") == true)
      #expect(reported.contains(call.id))
    }
    // Another attempt, the end, an erasure and the removal need nothing of it.
    for var call in calls {
      call.progress.attempts = 2
      try store.commit([.update(call.id, call.progress, Sample.attempt(2))])
      try store.commit([.erase(call.id, call.spec.erased(at: Sample.start))])
      try store.commit([.discard(call.id)])
    }
    #expect(try reader.calls(CallQuery()).calls.isEmpty)
  }

  @Test("leave nothing for retention to look up, and others are removed")
  func retention() throws {
    let store = try openStore()
    defer { store.close() }
    let calls = try StoreConformance.end(first, in: store)
    var again = calls[1]
    again.progress.attempts = 2
    try store.commit([.update(again.id, again.progress, Sample.attempt(2))])
    #expect(try rows() == 4)
    while try !store.tidy(Retention(time: .seconds(1)), at: Sample.time(10_000), within: .seconds(1)).isDone {}
    #expect(try rows() == 0 && database.number("SELECT count(*) FROM done") == 0)
  }

  @Test("are the same attempts in every store to which they are moved", arguments: [false, true])
  func migration(viaFile: Bool) throws {
    let store = try openStore()
    let calls = try StoreConformance.end(first, in: store)
    try store.commit([.erase(calls[3].id, calls[3].spec.erased(at: Sample.start))])
    let before = try PostgresReader(database.settings, connections: 1)
    let attempts = try calls.map { try before.call($0.id, allResponses: true)?.attempts }
    store.close()
    _ = try database.rows("UPDATE beats SET expires_at = 0")
    let other = TestDatabase()
    let folder = NSTemporaryDirectory() + "redial-packed-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func move(_ source: any MigrationSource, _ destination: any MigrationDestination) throws {
      defer {
        source.close()
        destination.close()
      }
      let outcome = try StoreMigration(from: source, to: destination, at: Sample.start).run()
      #expect(outcome.differences.count == 0, "\(outcome.differences.examples)")
      #expect(outcome.attempts == calls.count)
    }
    if viaFile {
      try move(
        PostgresSource(database.settings), SQLiteArchiveDestination(filling: "\(folder)/a.db", payloads: PayloadRule()))
      try move(
        SQLiteSource(path: "\(folder)/a.db"),
        PostgresArchiveDestination(other.settings, payloads: PayloadRule(), isFilling: true))
    } else {
      try move(
        PostgresSource(database.settings),
        PostgresArchiveDestination(other.settings, payloads: PayloadRule(), isFilling: true))
    }
    let after = try PostgresReader(other.settings, connections: 1)
    #expect(try calls.map { try after.call($0.id, allResponses: true)?.attempts } == attempts)
    #expect(try other.number("SELECT count(*) FROM done WHERE last_outcome IS NULL") == 0)
  }
}
