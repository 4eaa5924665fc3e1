import Dispatch
import Polling
import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Synchronization
import Testing

@testable import RedialPostgres

@Suite("Instances that meet in one database")
struct HeartbeatTests {
  let database = TestDatabase()

  @Test("a lease is renewed by heartbeats alone")
  func renewal() throws {
    let one = try Instance(database.settings)
    defer { one.kill() }
    let grant = try one.lease(for: .seconds(60))
    let before = try database.number("SELECT expires_at FROM beats")
    #expect(one.news.wait { if case .renewed(grant.session.id, _) = $0 { true } else { false } })
    // The first of them may have come before the look above.
    try poll { try database.number("SELECT expires_at FROM beats") > before }
    // A session that has ended is not renewed, and its instance learns that.
    _ = try database.rows("WITH b AS (DELETE FROM beats) DELETE FROM sessions")
    #expect(one.news.wait { $0 == .changed })
  }

  @Test("instances see each other, with address, version and shards")
  func peers() throws {
    let one = try Instance(database.settings, address: "http://10.0.0.1:8080")
    let two = try Instance(database.settings)
    defer { for instance in [one, two] { instance.kill() } }
    let first = try one.lease()
    let second = try two.lease()
    func sees(_ instance: Instance, _ own: LeaseSession) -> Bool {
      instance.news.wait { news in
        guard case .peers(let peers) = news, peers.count == 2 else { return false }
        return peers.map(\.session) == [first.session, second.session]
          && peers.map(\.shards) == [.all, .none]
          && peers.map(\.address) == ["http://10.0.0.1:8080", nil]
          && peers.map(\.version) == ["1.2.3", "1.2.3"]
          && peers.map(\.isSelf) == [own == first.session, own == second.session]
      }
    }
    #expect(sees(one, first.session) && sees(two, second.session))
    // The first has more than its share.
    #expect(one.news.wait { $0 == .changed })
  }

  @Test("what a killed instance had is taken when its lease is over")
  func takeover() throws {
    let killed = try Instance(database.settings)
    let other = try Instance(database.settings)
    defer { other.kill() }
    _ = try killed.lease(for: .milliseconds(1500))
    let joined = try other.lease()
    #expect(joined.shards.isEmpty)
    killed.kill()
    var grant = joined
    while grant.shards != .all {
      try #require(other.news.wait { $0 == .changed }, "it gets news of the session that is over")
      other.news.clear()
      grant = try other.lease(joined.session)
    }
  }

  @Test("what an instance leaves is free at once, and the others get a message")
  func resigning() throws {
    let one = try Instance(database.settings, meets: false)
    let other = try Instance(database.settings)
    defer { for instance in [one, other] { instance.kill() } }
    _ = try one.lease()
    let joined = try other.lease()
    try one.store.resign(at: Sample.time(1))
    #expect(other.news.wait { $0 == .changed })
    #expect(try other.lease(joined.session).shards == .all)
  }

  @Test("the owner of a shard hears that calls were stored for it")
  func hints() throws {
    let owner = try Instance(database.settings)
    let other = try Instance(database.settings)
    defer { for instance in [owner, other] { instance.kill() } }
    let grant = try owner.lease()
    _ = try other.lease()
    #expect(other.news.wait { if case .peers(let peers) = $0 { peers.count == 2 } else { false } })
    // It is asked to give back its surplus with each heartbeat; a lease for one instance ends that.
    #expect(
      try owner.works.lease(
        LeaseRequest(duration: .seconds(60), giveBack: ShardSet(32..<64)),
        renewing: grant.session.id
      ).shards.size == 32)
    let taken = try #require(try leaseUntil(other, has: 32))
    #expect(taken.shards.size == 32)
    #expect(
      owner.news.wait { news in
        if case .peers(let peers) = news {
          peers.allSatisfy { $0.shards.size == 32 }
        } else {
          false
        }
      })
    owner.news.clear()
    other.store.tellOwners(of: ShardSet([3]))
    #expect(owner.news.wait { $0 == .callsStored })
    // Its own shards need no message.
    #expect(!owner.news.all.contains { if case .peers = $0 { true } else { false } })
  }

  private func leaseUntil(_ instance: Instance, has size: Int) throws -> LeaseGrant? {
    let session = instance.store.lane.standing.withLock { $0.session }
    for _ in 0..<600 {
      let grant = try instance.lease(session)
      if grant.shards.size == size { return grant }
    }
    return nil
  }

  /// The first heartbeat of a connection reports all documents.
  private func tells(_ news: PeerNews, of kind: StoredDocument.Kind) -> Bool {
    if case .documentsChanged(let kinds) = news { kinds.contains(kind) } else { false }
  }

  @Test("an instance gets news of documents that another has changed")
  func documents() throws {
    let reader = try Instance(database.settings)
    let writer = try Instance(database.settings, meets: false)
    defer { for instance in [reader, writer] { instance.kill() } }
    try writer.store.commit([.put(StoredDocument(.apiKey, id: "a", [1]))])
    #expect(reader.news.wait { tells($0, of: .apiKey) })
    reader.news.clear()
    try writer.store.commit([.remove(.webhookEndpoint, id: "a")])
    #expect(reader.news.wait { tells($0, of: .webhookEndpoint) })
    try writer.store.commit([.add(StoredDocument(.policy, id: "p", [1]))])
    #expect(reader.news.wait { tells($0, of: .policy) })
  }

  @Test(
    "after another server has taken over, nobody is ended and no shard is given for a whole lease")
  func failover() throws {
    let clock = StoreClock()
    func instance() throws -> Instance {
      try Instance(database.settings, meets: false, clock: { clock.time })
    }
    let (one, two) = (try instance(), try instance())
    defer { for instance in [one, two] { instance.kill() } }
    let first = try one.lease(for: .seconds(10))
    clock.time = Sample.time(20)
    // Another server: it has the tables of the one before.
    _ = try database.rows("UPDATE control SET server = server - 1")
    let second = try two.lease(for: .seconds(10))
    #expect(second.shards.isEmpty, "the first is over, but the server may have lost its renewal")
    #expect(try database.number("SELECT count(*) FROM sessions") == 2)
    clock.time = Sample.time(29)
    #expect(try two.lease(second.session, for: .seconds(10)).shards.isEmpty)
    // Who was thought to be over can go on.
    #expect(try one.lease(first.session, for: .seconds(10)).shards == .all)
    try one.works.commit([.insert(Sample.call(1))])
    // Free shards are not given either.
    let back = try one.works.lease(
      LeaseRequest(duration: .seconds(10), giveBack: ShardSet(0..<32), takesShards: false),
      renewing: first.session.id)
    #expect(back.shards.size == 32)
    #expect(try two.lease(second.session, for: .seconds(10)).shards.isEmpty)
    clock.time = Sample.time(31)
    #expect(try two.lease(second.session, for: .seconds(10)).shards == ShardSet(0..<32))
  }

  @Test("an instance that stalls while it divides the shards delays no other's lease or commit")
  func stalledDivision() throws {
    let one = try Instance(database.settings, meets: false)
    defer { one.kill() }
    let grant = try one.lease()
    let stalled = try PostgresConnection(database.settings)
    let lock = [PostgresStatement(LeaseQueries.begin), PostgresStatement(LeaseQueries.lock)]
    _ = try stalled.run(lock, within: .seconds(60))
    let two = try Instance(database.settings, meets: false)
    defer { two.kill() }
    #expect(try two.lease().shards.isEmpty)
    #expect(
      try one.works.lease(
        LeaseRequest(duration: .seconds(60), giveBack: ShardSet(0..<32)), renewing: grant.session.id
      ).shards.size == 32)
    try one.works.commit([.insert(Sample.call(1))])
    let session = two.store.lane.standing.withLock { $0.session }
    #expect(try two.lease(session).shards.isEmpty)
    _ = try stalled.run([PostgresStatement(LeaseQueries.rollBack)], within: .seconds(60))
    #expect(try two.lease(session).shards.size == 32)
  }

  @Test("ten instances that join at once have numbers of their own")
  func joins() throws {
    let settings = database.settings
    let numbers = Mutex<[Int]>([])
    DispatchQueue.concurrentPerform(iterations: 10) { _ in
      guard let instance = try? Instance(settings, meets: false) else { return }
      if let grant = try? instance.lease() {
        numbers.withLock { $0.append(grant.session.instance) }
      }
      instance.kill()
    }
    #expect(numbers.withLock { $0.sorted() } == Array(0..<10))
  }
}
