import Polling
import Dispatch
import Glibc
import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Synchronization
import Testing

@testable import RedialPostgres

@Suite("A shard has one owner, also when instances stall")
struct StallTests {
  let database = TestDatabase()

  @Test("when an instance stalls beyond its lease: what it had sent is refused when it arrives")
  func stall() throws {
    let stall = try Stall(database)
    defer { stall.end() }
    let (clock, proxy, pipeline, other) = (stall.clock, stall.proxy, stall.pipeline, stall.other)
    proxy.mode = .freeze
    try pipeline.commit([1])
    try pipeline.commit([2])
    clock.time = Sample.time(11)
    #expect(try other.lease(for: .seconds(1000)).shards == .all)
    proxy.mode = .pass
    pipeline.waitForResults()
    #expect(pipeline.failures == [.leaseLost: 2] && pipeline.refused == [1, 2])
    try pipeline.check(database)
  }

  @Test(
    "when an instance stalls in the middle of a commit, its server process is ended two seconds after its lease"
  )
  func halfSent() throws {
    let stall = try Stall(database)
    defer { stall.end() }
    let (clock, proxy, pipeline, other) = (stall.clock, stall.proxy, stall.pipeline, stall.other)
    proxy.mode = .holdSync
    try pipeline.commit([1])
    let locked =
      "SELECT count(*) FROM pg_locks WHERE relation = 'sessions'::regclass AND mode = 'RowShareLock' AND granted"
    try poll { try database.number(locked) > 0 }
    proxy.mode = .freeze
    clock.time = Sample.time(11)
    let joined = try other.lease(for: .seconds(1000))
    #expect(joined.shards.isEmpty, "the row of the session is locked by its commit")
    clock.time = Sample.time(13)
    var grant = try other.lease(joined.session, for: .seconds(1000))
    try poll {
      if grant.shards.isEmpty { grant = try other.lease(joined.session, for: .seconds(1000)) }
      return !grant.shards.isEmpty
    }
    #expect(grant.shards == .all)
    proxy.mode = .pass
    pipeline.waitForResults()
    #expect(pipeline.refused == [1] && pipeline.failures[.leaseLost] == 1)
    try pipeline.check(database)
  }

  @Test("instances that take and give shards at once never have one at the same time")
  func racing() throws {
    let settings = database.settings
    let owners = Mutex<[Int: Int]>([:])
    let problems = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { me in
      var random = RandomSource(seed: UInt64(me))
      do {
        let instance = try Instance(settings, meets: false)
        defer { instance.kill() }
        var grant = try instance.lease()
        func recordOwner(of gained: ShardSet) {
          owners.withLock { owners in
            for shard in gained.shards {
              if let owner = owners[shard] {
                problems.withLock { $0.append("\(shard) of \(owner) was given to \(me)") }
              }
              owners[shard] = me
            }
          }
        }
        recordOwner(of: grant.gained)
        for _ in 0..<60 {
          let back = ShardSet(
            grant.shards.shards.filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
          owners.withLock { owners in for shard in back.shards { owners[shard] = nil } }
          let request = LeaseRequest(duration: .seconds(600), giveBack: back, takesShards: true)
          grant = try instance.works.lease(request, renewing: grant.session.id)
          recordOwner(of: grant.gained)
        }
        owners.withLock { owners in for shard in grant.shards.shards { owners[shard] = nil } }
        try instance.store.resign(at: Sample.time(1))
      } catch {
        problems.withLock { $0.append("\(error)") }
      }
    }
    #expect(problems.withLock { $0 } == [])
    #expect(try database.number("SELECT count(*) FROM leases WHERE owner IS NULL") == 64)
  }

  @Test("an instance that stalls in the middle of its own lease request stops nobody for long")
  func stalledRequest() throws {
    let one = try Instance(database.settings, meets: false)
    defer { one.kill() }
    let grant = try one.lease()
    let stalled = try PostgresConnection(database.settings)
    _ = try stalled.run(
      [PostgresStatement(LeaseQueries.begin), PostgresStatement(LeaseQueries.limit)],
      within: .seconds(60))
    _ = try stalled.run([PostgresStatement(LeaseQueries.lock)], within: .seconds(60))
    let two = try Instance(database.settings, meets: false)
    defer { two.kill() }
    let joined = try two.lease()
    _ = try one.works.lease(
      LeaseRequest(duration: .seconds(600), giveBack: ShardSet(0..<32)), renewing: grant.session.id)
    #expect(joined.shards.isEmpty)
    // Nobody rolls its transaction back but the server, after two seconds.
    var shards = ShardSet.none
    try poll {
      shards = try two.lease(joined.session).shards
      return !shards.isEmpty
    }
    #expect(shards.size == 32)
    #expect(throws: PostgresFailure.self) {
      try stalled.run([PostgresStatement(LeaseQueries.rollBack)], within: .seconds(60))
    }
  }
}
