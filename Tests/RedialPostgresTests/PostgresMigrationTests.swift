import Foundation
import RedialCore
import RedialModel
import RedialSQLite
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("A migration of a store on PostgreSQL")
struct PostgresMigrationTests {
  let from = TestDatabase()
  let to = TestDatabase()

  var conformance: MigrationConformance {
    let (from, to) = (from.settings, to.settings)
    return MigrationConformance(
      openSource: { () throws(StoreError) in try PostgresSource(from) },
      openFilling: { () throws(StoreError) in try filling(from) },
      openDestination: { () throws(StoreError) in try filling(to) },
      openResult: { () throws(StoreError) in try PostgresSource(to) })
  }

  private func filling(_ settings: PostgresSettings) throws(StoreError) -> any MigrationDestination {
    try PostgresArchiveDestination(settings, payloads: PayloadRule(), isFilling: true)
  }

  private static func file(_ path: String) throws(StoreError) -> any MigrationDestination {
    try SQLiteArchiveDestination(filling: path, payloads: PayloadRule())
  }

  @Test("each rule", arguments: MigrationConformance.cases)
  func conforms(_ rule: ConformanceCase<MigrationConformance>) throws { try rule.run(conformance) }

  @Test("a migration goes from a file to a database and back", arguments: [0, 1, 2])
  func files(interruptedAfter count: Int) throws {
    let folder = NSTemporaryDirectory() + "redial-contents-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let settings = [from.settings, to.settings]
    let there = MigrationConformance(
      openSource: { () throws(StoreError) in try SQLiteSource(path: "\(folder)/a.db") },
      openFilling: { () throws(StoreError) in try Self.file("\(folder)/a.db") },
      openDestination: { () throws(StoreError) in try filling(settings[0]) },
      openResult: { () throws(StoreError) in try PostgresSource(settings[0]) })
    let back = MigrationConformance(
      openSource: { () throws(StoreError) in try PostgresSource(settings[1]) },
      openFilling: { () throws(StoreError) in try filling(settings[1]) },
      openDestination: { () throws(StoreError) in try Self.file("\(folder)/b.db") },
      openResult: { () throws(StoreError) in try SQLiteSource(path: "\(folder)/b.db") })
    for conformance in [there, back] {
      if count == 0 { try conformance.migration() } else { try conformance.interruptions(after: count) }
    }
  }

  @Test("what the tables derive from other rows is as the store itself writes it")
  func derived() throws {
    try conformance.migration()
    // A call that waits for its turn has its own state; and a call's row has the result of its last attempt.
    let waiting = "SELECT count(*) FROM redial.live WHERE state = 3"
    #expect(try to.number(waiting) > 0)
    #expect(try to.number(waiting + " AND waiting IS DISTINCT FROM 8") == 0)
    #expect(try to.number("SELECT count(*) FROM redial.live WHERE state = 1 AND waiting = 8") == 0)
    #expect(
      try to.number(
        """
        SELECT count(*) FROM redial.calls c LEFT JOIN LATERAL (SELECT outcome, status FROM redial.attempts a
          WHERE a.call_id = c.id ORDER BY number DESC LIMIT 1) l ON true
        WHERE (c.last_outcome, c.last_status) IS DISTINCT FROM (l.outcome, l.status)
        """) == 0)
    let callbacks = ArchiveSamples.calls.filter { $0.record.spec.callback != nil }.count
    #expect(try to.number("SELECT count(*) FROM redial.calls WHERE callback") == Int64(callbacks))
    #expect(
      try to.number(
        "SELECT count(*) FROM redial.calls c JOIN redial.targets t ON t.id = c.target_id WHERE c.shard <> t.shard") == 0
    )
    #expect(
      try to.number("SELECT sum(n) FROM redial.unfinished u CROSS JOIN LATERAL unnest(u.counts) n")
        == to.number("SELECT count(*) FROM redial.live"))
    for number in 0..<7 {
      let key = TargetKey("t\(number)", in: .default)
      let shard = try to.number("SELECT shard FROM redial.targets WHERE key = '\(key.text)'")
      #expect(shard == Int64(ShardSet.shard(of: key)))
    }
  }

  @Test("a store is not copied or filled while an instance uses it, and no instance joins meanwhile")
  func use() throws {
    let store = try PostgresStore(from.settings, sharing: .alone)
    for open in [{ _ = try PostgresSource(from.settings) }, { _ = try filling(from.settings) }]
      as [() throws -> Void]
    {
      let refused = #expect(throws: StoreError.self) { try open() }
      #expect(refused?.message.contains("in use by instances") == true)
    }
    try store.resign(at: Sample.time(1))
    store.close()
    let source = try PostgresSource(from.settings)
    let refused = #expect(throws: StoreError.self) { try PostgresStore(from.settings, sharing: .alone) }
    #expect(refused?.message.contains("is copying") == true)
    source.close()
    try PostgresStore(from.settings, sharing: .alone).close()
  }

  @Test("an instance that has opened a store before a migration into it cannot join before its end")
  func join() throws {
    let store = AwaitedStore(try PostgresStore(to.settings))
    defer { store.close() }
    let interrupted = try filling(to.settings)
    try interrupted.begin(MigrationMark(source: "a", state: "b"))
    interrupted.close()
    let refused = #expect(throws: StoreError.self) {
      try store.lease(LeaseRequest(duration: .seconds(3)), renewing: nil)
    }
    #expect(refused?.message.contains("only partly filled") == true)
    #expect(try to.number("SELECT count(*) FROM redial.sessions") == 0)
    #expect(try to.number("SELECT count(*) FROM redial.commits") == 0)
    let destination = try filling(to.settings)
    try destination.end()
    destination.close()
    #expect(try store.lease(LeaseRequest(duration: .seconds(3)), renewing: nil).shards == .all)
  }

  @Test("an instance that died is waited for until its lease ends")
  func death() throws {
    let store = AwaitedStore(try PostgresStore(from.settings))
    _ = try store.lease(LeaseRequest(duration: .seconds(1)), renewing: nil)
    // It leaves nothing.
    store.close()
    try PostgresSource(from.settings).close()
  }

  @Test("of two migrations into one store, the second is refused")
  func twice() throws {
    let one = try filling(to.settings)
    let refused = #expect(throws: StoreError.self) { try filling(to.settings) }
    #expect(refused?.message.contains("A migration or an import has") == true)
    one.close()
    try filling(to.settings).close()
  }

  @Test("a database without tables is not a store to copy")
  func nothing() throws {
    let refused = #expect(throws: StoreError.self) { try PostgresSource(from.settings) }
    #expect(refused?.message.contains("There are no tables of Redial") == true)
    #expect(try from.number("SELECT count(*) FROM pg_namespace WHERE nspname = 'redial'") == 0)
  }
}
