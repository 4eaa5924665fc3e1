import Dispatch
import RedialModel
import RedialStore
import StoreConformance
import Synchronization
import Testing

@testable import RedialPostgres

@Suite("Turns of ordering keys that instances share")
struct TurnTests {
  let database = TestDatabase()

  private static func ordered(_ number: Int, key: String = "k") -> [StoreWrite] {
    var call = Sample.call(number, .queued, due: Sample.time(1000), target: "t", orderingKey: key)
    call.progress.waiting = .ordering
    return [.insert(call), .awaitTurn(call.id, target: call.spec.target, orderingKey: key)]
  }

  @Test("come in the order of the commits, whatever ids the clocks of the instances have given")
  func order() throws {
    let owner = try Instance(database.settings, meets: false)
    let session = try owner.lease().session
    let other = try Instance(database.settings, meets: false)
    _ = try other.lease()
    defer { for one in [owner, other] { one.kill() } }
    func due() throws -> [CallID] {
      try owner.works.claimDue(before: Sample.time(9), limit: 9).calls.map(\.id)
    }
    // Within one commit the ids of its instance say which was first.
    for (instance, calls) in [(owner, [60]), (other, [50]), (owner, [8, 7]), (other, [40]), (owner, [6])] {
      try instance.works.commit(calls.flatMap { Self.ordered($0) })
    }
    for (ended, next) in zip([60, 50, 7, 60, 8], [50, 7, 60, 8, 40]) {
      #expect(try due() == [Sample.id(ended)])
      try owner.works.commit([.passTurn(Sample.id(ended))])
      if ended == 50 {
        // One that runs again was accepted before the others.
        try owner.works.commit([.awaitTurn(Sample.id(60), target: "t", orderingKey: "k")])
      }
      #expect(try database.number("SELECT call_id FROM turns WHERE has_turn") == Sample.id(next).rawValue)
    }
    // Those that others have stored get their turns with the owner's next lease.
    for number in [30, 20] { try other.works.commit(Self.ordered(number, key: "l")) }
    _ = try owner.lease(session)
    #expect(try due().contains(Sample.id(30)))
  }

  @Test("a call keeps the turn that its owner gives it, while another instance stores a call behind it")
  func givenMeanwhile() throws {
    let owner = try Instance(database.settings, meets: false)
    let session = try owner.lease().session
    let other = try Instance(database.settings, meets: false)
    _ = try other.lease()
    defer { for one in [owner, other] { one.kill() } }
    try other.works.commit(Self.ordered(1))
    // The owner gives the turn and has not committed.
    let giving = try PostgresConnection(database.settings)
    var give = PostgresStatement(TurnQueries.grantFree)
    give.add(session.id)
    give.add([Int64]())
    let given = try giving.run([PostgresStatement(LeaseQueries.begin), give], within: .seconds(60))
    #expect(given[1].count == 1)
    // So another instance still finds the turn free when it stores the next call.
    let failure = Mutex<String?>(nil)
    let stored = DispatchSemaphore(value: 0)
    let settings = database.settings
    DispatchQueue.global().async {
      do {
        let third = try Instance(settings, meets: false)
        defer { third.kill() }
        _ = try third.lease()
        try third.works.commit(Self.ordered(2))
      } catch {
        failure.withLock { $0 = "\(error)" }
      }
      stored.signal()
    }
    try database.awaitBlockedStatement()
    _ = try giving.run([PostgresStatement(LeaseQueries.commit)], within: .seconds(60))
    stored.wait()
    #expect(failure.withLock { $0 } == nil)
    #expect(try database.number("SELECT call_id FROM turns WHERE has_turn") == Sample.id(1).rawValue)
    let claimed = try owner.works.claimDue(before: Sample.time(9), limit: 9).calls.map(\.id)
    #expect(claimed == [Sample.id(1)], "the second one waits for the first")
  }
}
