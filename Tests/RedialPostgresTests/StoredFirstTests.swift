import Dispatch
import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Synchronization
import Testing

@testable import RedialPostgres

@Suite("A call that two instances store is stored once")
struct StoredFirstTests {
  let database = TestDatabase()

  /// The owner of all shards, and an instance without any.
  private func pair() throws -> (owner: Instance, other: Instance) {
    let owner = try Instance(database.settings, meets: false)
    _ = try owner.lease()
    let other = try Instance(database.settings, meets: false)
    _ = try other.lease()
    return (owner, other)
  }

  private static func call(_ number: Int, _ state: StoredState, isGiven: Bool) -> CallRecord {
    var call = Sample.call(number, state, due: Sample.time(1), target: "t")
    call.progress.attempts = state == .running ? 1 : 0
    call.mayBeStored = isGiven
    return call
  }

  private func error(_ store: AwaitedStore, _ writes: [StoreWrite]) -> StoreError? {
    do throws(StoreError) {
      try store.commit(writes)
      return nil
    } catch {
      return error
    }
  }

  private func rows(_ table: String) throws -> Int64 { try database.number("SELECT count(*) FROM \(table)") }

  @Test("the owner second: its commit is refused as a whole, and says which calls wait there and which have begun")
  func ownerSecond() throws {
    let (owner, other) = try pair()
    defer { for one in [owner, other] { one.kill() } }
    try other.works.commit((1...2).map { .insert(Self.call($0, .scheduled, isGiven: true)) })
    // The owner has claimed and started the second one meanwhile.
    #expect(try owner.works.claimDue(before: Sample.time(9), limit: 9).calls.count == 2)
    try owner.works.commit([.update(Sample.id(2), Self.call(2, .running, isGiven: false).progress, nil)])
    let again = (1...3).map { StoreWrite.insert(Self.call($0, .running, isGiven: true)) }
    let refused = try #require(error(owner.works, again))
    #expect(refused.kind == .callStored)
    #expect(refused.stored == StoredFirst(waiting: [Sample.id(1)], begun: [Sample.id(2)]))
    #expect(try rows("live") == 2 && rows("requests") == 2)
    // As the engine then does.
    try owner.works.commit([
      .update(Sample.id(1), Self.call(1, .running, isGiven: true).progress, nil), again[2],
    ])
    #expect(try rows("live") == 3 && rows("requests") == 3)
    #expect(try database.number("SELECT count(*) FROM live WHERE attempts = 1") == 3)
  }

  @Test("the owner first: the other one changes nothing, whether the call runs or has ended")
  func ownerFirst() throws {
    let (owner, other) = try pair()
    defer { for one in [owner, other] { one.kill() } }
    try owner.works.commit((1...2).map { .insert(Self.call($0, .running, isGiven: true)) })
    var ended = Self.call(2, .running, isGiven: true).progress
    (ended.state, ended.finishedAt) = (.succeeded, Sample.time(2))
    try owner.works.commit([.update(Sample.id(2), ended, nil)])
    try other.works.commit((1...2).map { .insert(Self.call($0, .scheduled, isGiven: true)) })
    #expect(try rows("live") == 1 && rows("done") == 1 && rows("requests") == 2)
    #expect(try database.number("SELECT count(*) FROM live WHERE attempts = 1") == 1)
    #expect(
      try database.number("SELECT coalesce(sum(n), 0)::int8 FROM (SELECT unnest(counts) AS n FROM unfinished) u") == 1)
  }

  @Test("both at the same time, again and again: one of them stores it, and the owner knows which")
  func race() throws {
    let owner = try Instance(database.settings, meets: false)
    defer { owner.kill() }
    _ = try owner.lease()
    let settings = database.settings
    let rounds = 300
    let isReady = (0..<2).map { _ in DispatchSemaphore(value: 0) }
    let failure = Mutex<String?>(nil)
    let group = DispatchGroup()
    DispatchQueue(label: "other").async(group: group) {
      let other = try? Instance(settings, meets: false)
      defer { other?.kill() }
      if (try? other?.lease()) == nil { failure.withLock { $0 = "the other instance has no lease" } }
      for round in 0..<rounds {
        isReady[0].signal()
        isReady[1].wait()
        do {
          try other?.works.commit((0..<3).map { .insert(Self.call(3 * round + $0, .scheduled, isGiven: true)) })
        } catch {
          failure.withLock { $0 = $0 ?? "\(error)" }
        }
      }
    }
    var first = 0
    for round in 0..<rounds {
      isReady[1].signal()
      isReady[0].wait()
      let calls = (0..<3).map { Self.call(3 * round + $0, .running, isGiven: true) }
      guard let refused = error(owner.works, calls.map { .insert($0) }) else {
        first += 1
        continue
      }
      #expect(refused.kind == .callStored && refused.stored.waiting.count == 3, "\(refused)")
      try owner.works.commit(calls.map { .update($0.id, $0.progress, nil) })
    }
    group.wait()
    #expect(failure.withLock { $0 } == nil)
    #expect(try rows("live") == Int64(3 * rounds) && rows("requests") == Int64(3 * rounds))
    #expect(try database.number("SELECT count(*) FROM live WHERE attempts = 1") == Int64(3 * rounds))
    #expect((1..<rounds).contains(first), "the owner was first in \(first) of \(rounds) rounds")
  }

  @Test("a call that is there although nobody else can have stored it is still a fault")
  func fault() throws {
    let (owner, other) = try pair()
    defer { for one in [owner, other] { one.kill() } }
    try owner.works.commit([.insert(Self.call(1, .running, isGiven: false))])
    #expect(error(owner.works, [.insert(Self.call(1, .running, isGiven: false))])?.kind == .corrupt)
  }
}
