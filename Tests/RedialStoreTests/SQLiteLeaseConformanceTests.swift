import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Testing

@testable import RedialSQLite

@Suite("SQLite shared by several instances fulfils the conformance suite")
struct SQLiteLeaseConformanceTests {
  let folder = TemporaryFolder()

  var conformance: LeaseConformance {
    let path = folder.file("calls.db")
    let clock = StoreClock()
    return LeaseConformance(
      openStore: { try SQLiteStore(path: path, sharing: .shared, clock: { clock.time }) },
      setTime: { clock.time = $0 })
  }

  @Test("each rule", arguments: LeaseConformance.cases)
  func conforms(_ rule: ConformanceCase<LeaseConformance>) throws { try rule.run(conformance) }

  @Test("calls of a process that had the store alone are counted by the first instance that shares it")
  func countsAnew() throws {
    let path = folder.file("calls.db")
    func shared(_ body: (SQLiteStore, LeaseGrant) throws -> Void) throws {
      let store = try SQLiteStore(path: path, sharing: .shared)
      defer { store.close() }
      try body(store, try store.lease(LeaseRequest(duration: .seconds(10)), renewing: nil))
      try store.resign(at: Sample.time(1))
    }
    let ended = CallProgress(
      state: .succeeded, due: Sample.time(3), roundStartedAt: Sample.time(3), finishedAt: Sample.time(3))
    try shared { store, _ in
      try store.commit([.insert(Sample.call(1, .held, due: Sample.time(3)))])
    }
    let alone = try SQLiteStore(path: path)
    _ = try alone.recover(at: Sample.start)
    try alone.commit([.insert(Sample.call(2, .held, due: Sample.time(3))), .update(Sample.id(1), ended, nil)])
    try alone.commit([.insert(Sample.call(3, .held, due: Sample.time(3)))])
    try alone.resign(at: Sample.time(1))
    alone.close()
    try shared { _, grant in #expect(grant.state.unfinished + grant.elsewhere.reduce(0) { $0 + $1.unfinished } == 2) }
    // A wrong count is found.
    func miscounted() throws -> [String] {
      let inspection = try SQLiteInspection(path: path)
      defer { inspection.close() }
      return try inspection.report(at: Sample.time(1)).findings.filter { $0.check == .keptCounts }.flatMap(\.examples)
    }
    #expect(try miscounted().isEmpty)
    let connection = try SQLiteConnection(path: path, role: .writer)
    try connection.execute("miscount", "UPDATE unfinished_counts SET count = count + 1 WHERE shard >= 0")
    connection.close()
    #expect(try miscounted().count == 1)
  }

  @Test("a store of a single process is not shared, and takes over everything at once")
  func alone() throws {
    let path = folder.file("calls.db")
    let shared = try SQLiteStore(path: path, sharing: .shared)
    _ = try shared.lease(LeaseRequest(duration: .seconds(1000)), renewing: nil)
    #expect(throws: StoreError.self) { _ = try SQLiteStore(path: path) }
    try shared.commit([.insert(Sample.call(1, .held, due: Sample.time(3)))])
    shared.close()
    let alone = try SQLiteStore(path: path)
    defer { alone.close() }
    #expect(throws: StoreError.self) {
      _ = try alone.lease(LeaseRequest(duration: .seconds(1)), renewing: nil)
    }
    _ = try alone.recover(at: Sample.start)
    #expect(try alone.claimDue(before: Sample.time(5), limit: 9).calls.map(\.id) == [Sample.id(1)])
  }
}
