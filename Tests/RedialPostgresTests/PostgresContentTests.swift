import Foundation
import RedialCore
import RedialModel
import RedialSQLite
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("The contents of a store on PostgreSQL")
struct PostgresContentTests {
  let from = TestDatabase()
  let to = TestDatabase()

  var conformance: ContentConformance {
    let (from, to) = (from.settings, to.settings)
    return ContentConformance(
      openSource: { () throws(StoreError) in try PostgresSource(from) },
      openFilling: { () throws(StoreError) in try PostgresDestination(from) },
      openDestination: { () throws(StoreError) in try PostgresDestination(to) },
      openResult: { () throws(StoreError) in try PostgresSource(to) })
  }

  @Test("each rule", arguments: ContentConformance.cases)
  func conforms(_ rule: ConformanceCase<ContentConformance>) throws { try rule.run(conformance) }

  @Test("a migration goes from a file to a database and back", arguments: [0, 1, 3])
  func files(interruptedAfter page: Int) throws {
    let folder = NSTemporaryDirectory() + "redial-contents-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let settings = [from.settings, to.settings]
    let there = ContentConformance(
      openSource: { () throws(StoreError) in try SQLiteSource(path: "\(folder)/a.db") },
      openFilling: { () throws(StoreError) in try SQLiteDestination(path: "\(folder)/a.db") },
      openDestination: { () throws(StoreError) in try PostgresDestination(settings[0]) },
      openResult: { () throws(StoreError) in try PostgresSource(settings[0]) })
    let back = ContentConformance(
      openSource: { () throws(StoreError) in try PostgresSource(settings[1]) },
      openFilling: { () throws(StoreError) in try PostgresDestination(settings[1]) },
      openDestination: { () throws(StoreError) in try SQLiteDestination(path: "\(folder)/b.db") },
      openResult: { () throws(StoreError) in try SQLiteSource(path: "\(folder)/b.db") })
    for conformance in [there, back] {
      if page == 0 { try conformance.migration() } else { try conformance.interruptions(after: page) }
    }
  }

  @Test("every column of every table is moved, except for leases and what follows from other rows")
  func columns() throws {
    try PostgresStore(from.settings, sharing: .alone).close()
    let rows = try from.rows(
      """
      SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'redial'
        AND table_name NOT IN ('schema_version', 'sessions', 'beats', 'commits', 'claims', 'leases', 'control', 'versions',
          'unfinished', 'calls')
      """)
    let stored = Set(rows.map { rows.text($0, 0) })
    let moved = ContentSection.allCases.flatMap { section in
      (section == .calls ? ["live", "done"] : [section.rawValue]).flatMap { table in
        section.columns.map { "\(table).\($0.name)" }
      }
    }
    let ofCalls = ["shard", "callback", "last_outcome", "last_status"]
    let derived =
      ["live", "done"].flatMap { table in ofCalls.map { "\(table).\($0)" } }
      // Packed attempts are moved as rows of attempts.
      + [
        "live.past", "done.past", "live.due", "done.spared_until", "targets.shard", "turns.shard", "turns.offered",
        "turns.place",
        "statistics.session",
      ]
    #expect(stored == Set(moved).union(derived))
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
    #expect(try to.number("SELECT count(*) FROM redial.calls WHERE callback <> (id % 3 = 0)") == 0)
    #expect(
      try to.number(
        "SELECT count(*) FROM redial.calls c JOIN redial.targets t ON t.id = c.target_id WHERE c.shard <> t.shard") == 0
    )
    #expect(
      try to.number("SELECT sum(n) FROM redial.unfinished u CROSS JOIN LATERAL unnest(u.counts) n")
        == to.number("SELECT count(*) FROM redial.live"))
    for target in ContentSamples.rows(of: .targets) {
      guard let id = target[0].integer, let key = target[1].content else { continue }
      let shard = ShardSet.shard(of: TargetKey(qualified: String(decoding: key, as: UTF8.self)))
      #expect(try to.number("SELECT shard FROM redial.targets WHERE id = \(id)") == Int64(shard))
    }
  }

  @Test("new targets and namespaces get other numbers than those that were moved")
  func numbers() throws {
    try conformance.migration()
    let store = AwaitedStore(try PostgresStore(to.settings, sharing: .alone))
    defer { store.close() }
    let call = Sample.call(1000, target: TargetKey("new", in: try #require(Namespace("new"))))
    try store.commit([.insert(call)])
    #expect(try to.number("SELECT id FROM redial.targets WHERE key LIKE '%new'") == 12)
    #expect(try to.number("SELECT id FROM redial.namespaces WHERE name = 'new'") == 8)
  }

  @Test("a store is not copied or filled while an instance uses it, and no instance joins meanwhile")
  func use() throws {
    let store = try PostgresStore(from.settings, sharing: .alone)
    for open in [{ _ = try PostgresSource(from.settings) }, { _ = try PostgresDestination(from.settings) }]
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
    let destination = try PostgresDestination(to.settings)
    let mark = MigrationMark(source: "a", state: "b", section: .calls)
    try destination.begin(mark)
    let refused = #expect(throws: StoreError.self) {
      try store.lease(LeaseRequest(duration: .seconds(3)), renewing: nil)
    }
    #expect(refused?.message.contains("only partly filled") == true)
    #expect(try to.number("SELECT count(*) FROM redial.sessions") == 0)
    #expect(try to.number("SELECT count(*) FROM redial.commits") == 0)
    try destination.finish(mark)
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

  @Test("of two migrations into one store, one stops")
  func twice() throws {
    let (one, other) = (try PostgresDestination(to.settings), try PostgresDestination(to.settings))
    let mark = MigrationMark(source: "a", state: "b", section: .calls)
    try one.begin(mark)
    var next = mark
    next.section = .documents
    try one.add([], to: .calls, from: mark, to: next)
    let refused = #expect(throws: StoreError.self) { try other.add([], to: .calls, from: mark, to: next) }
    #expect(refused?.message.contains("Another `redial migrate`") == true)
  }

  @Test("a database without tables is not a store to copy")
  func nothing() throws {
    let refused = #expect(throws: StoreError.self) { try PostgresSource(from.settings) }
    #expect(refused?.message.contains("There are no tables of Redial") == true)
    #expect(try from.number("SELECT count(*) FROM pg_namespace WHERE nspname = 'redial'") == 0)
  }
}
