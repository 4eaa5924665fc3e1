import Dispatch
import RedialModel
import RedialStore
import StoreConformance
import Synchronization
import Testing

@testable import RedialPostgres

@Suite("Each work of the lane gets its own answer")
struct LaneAnswerTests {
  let database = TestDatabase()

  // In every thousandth work the ledger is shortened, too: its claim found nothing, and the call was held by nobody.
  @Test("a claim finds its call, also when the ledger is shortened by it")
  func trimming() throws {
    let instance = try Instance(database.settings, meets: false)
    defer { instance.kill() }
    _ = try instance.lease()
    let call = Sample.call(1)
    try instance.works.commit([.insert(call)])
    var missed = 0
    for _ in 0..<1000 where try instance.works.claim(call.id, in: .default) == nil { missed += 1 }
    #expect(missed == 0)
    #expect(try database.number("SELECT count(*) FROM commits WHERE seq > 0") < 1010)
  }

  @Test("a lease is renewed while a damaged call is set aside")
  func settingAside() throws {
    let store = try PostgresStore(database.settings)
    defer { store.close() }
    let outcomes = Mutex<[StoreOutcome]>([])
    let arrived = DispatchSemaphore(value: 0)
    store.report { outcome in
      outcomes.withLock { $0.append(outcome) }
      arrived.signal()
    }
    func outcome() -> StoreOutcome? {
      guard arrived.wait(timeout: .now() + .seconds(60)) == .success else { return nil }
      return outcomes.withLock { $0.removeFirst() }
    }
    let request = LeaseRequest(duration: .seconds(60))
    _ = store.submit(.lease(request, renewing: nil), as: 1, StoreTrial())
    guard case .made(.leased(let grant)) = outcome() else {
      Issue.record("no lease")
      return
    }
    _ = store.submit(.commit((1...2).map { .insert(Sample.call($0, due: Sample.time(1))) }), as: 2, StoreTrial())
    _ = outcome()
    _ = try database.rows("UPDATE requests SET spec = '\\x7b00' WHERE id = \(Sample.id(1).rawValue)")
    // So that setting the call aside takes until the lease is requested.
    let other = try PostgresConnection(database.settings)
    try other.execute(["BEGIN", "LOCK TABLE finished"], purpose: "prepare the test", within: .seconds(60))
    _ = store.submit(.claimDue(before: Sample.time(9), limit: 9), as: 3, StoreTrial())
    guard case .made(.due(let claim)) = outcome() else {
      Issue.record("no claim")
      return
    }
    #expect(claim.calls.map(\.id) == [Sample.id(2)])
    try database.awaitBlockedStatement()
    _ = store.submit(.lease(request, renewing: grant.session.id), as: 4, StoreTrial())
    try other.execute(["COMMIT"], purpose: "prepare the test", within: .seconds(60))
    guard case .made(.leased(let again)) = outcome() else {
      Issue.record("the lease was not renewed")
      return
    }
    #expect(again.session == grant.session)
    #expect(try database.number("SELECT count(*) FROM done WHERE id = \(Sample.id(1).rawValue)") == 1)
  }

  // The listener was wrapped once more for each outcome, until a report needed more stack than a thread has: an instance
  // ended after 29,000 transactions.
  @Test("a report of an outcome costs no more after many of them")
  func manyOutcomes() throws {
    let store = try PostgresStore(database.settings)
    defer { store.close() }
    let arrived = DispatchSemaphore(value: 0)
    store.report { _ in arrived.signal() }
    for _ in 0..<60 {
      for _ in 0..<1000 { _ = store.submit(.prove, as: 0, StoreTrial()) }
      for _ in 0..<1000 where arrived.wait(timeout: .now() + .seconds(60)) != .success {
        Issue.record("no outcome")
        return
      }
    }
  }
}
