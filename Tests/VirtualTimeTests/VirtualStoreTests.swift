import RedialCore
import RedialModel
import Testing

@testable import RedialForecast

@Suite("The store of an engine in virtual time")
struct VirtualStoreTests {
  private static let target = TargetKey("t", in: .default)
  private static let start = Timestamp(microseconds: 1_000_000_000)

  private static func call(
    _ state: StoredState, due: Duration, createdAt: Duration = .zero, id: Int64 = 0
  ) -> CallRecord {
    CallRecord(
      id: CallID(rawValue: id), kind: .call, spec: CallSpec(simulated: .service, to: target), body: [],
      createdAt: start + createdAt,
      progress: CallProgress(state: state, due: start + due, roundStartedAt: start + createdAt))
  }

  private static func batch(_ state: StoredState, due: Duration, count: Int) -> VirtualStore.Batch {
    VirtualStore.Batch(call: call(state, due: due), count: count)
  }

  @Test(
    "calls of batches are made when they are claimed: those of the queue in their order, the others when they are due")
  func batches() {
    var store = VirtualStore([
      Self.batch(.queued, due: .seconds(100), count: 3), Self.batch(.scheduled, due: .seconds(10), count: 2),
      Self.batch(.queued, due: .seconds(50), count: 1_000_000),
    ])
    let state = store.recover(Self.target, TargetRecord())
    #expect(state.queued.map(\.count) == [1_000_003] && state.unfinished == 1_000_005)
    #expect(state.nextDue == Self.start + .seconds(10))
    let queued = store.claimQueued(4)
    #expect(queued.map { $0.progress.due - Self.start } == [.seconds(100), .seconds(100), .seconds(100), .seconds(50)])
    #expect(queued.allSatisfy { $0.progress.state == .held } && Set(queued.map(\.id)).count == 4)
    #expect(store.overdue(at: Self.start + .seconds(10)) == 2 && store.overdue(at: Self.start + .seconds(9)) == 0)
    let due = store.claimDue(before: Self.start + .seconds(10), limit: 256)
    #expect(due.calls.count == 2 && due.nextDue == Self.start + .seconds(50))
    // Those whose deadline comes are claimed, too, as many as are wanted.
    #expect(store.claimDue(before: Self.start + .seconds(50), limit: 256).calls.count == 256)
  }

  @Test("a call that the engine puts back comes again, by its age or its time, and no more once it has ended")
  func puttingBack() {
    var store = VirtualStore()
    let (old, young) = (
      Self.call(.held, due: .zero, id: 1), Self.call(.held, due: .zero, createdAt: .seconds(1), id: 2)
    )
    #expect(store.commit([.insert(old), .insert(young)]).isEmpty)
    func put(_ call: CallRecord, _ state: StoredState, due: Duration) {
      var progress = call.progress
      (progress.state, progress.due) = (state, Self.start + due)
      _ = store.commit([.update(call.id, progress, nil)])
    }
    put(young, .queued, due: .seconds(100))
    put(old, .queued, due: .seconds(100))
    #expect(store.claimQueued(1).map(\.id) == [old.id])
    put(old, .scheduled, due: .seconds(5))
    #expect(store.claimDue(before: Self.start + .seconds(4), limit: 9).nextDue == Self.start + .seconds(5))
    #expect(store.claimDue(before: Self.start + .seconds(5), limit: 9).calls.map(\.id) == [old.id])
    var ended = young.progress
    (ended.state, ended.failure) = (.failed, .deadlineExceeded)
    #expect(store.commit([.update(young.id, ended, nil)]).map(\.failure) == [.deadlineExceeded])
    #expect(store.claimQueued(9).isEmpty && Set(store.calls.keys) == [old.id])
  }

  @Test("calls miss their deadlines that the rate does not reach in time")
  func late() {
    let store = VirtualStore([
      Self.batch(.queued, due: .seconds(10), count: 150), Self.batch(.scheduled, due: .seconds(1), count: 9),
      Self.batch(.queued, due: .seconds(20), count: 100),
    ])
    // Ten a second: 100 of the first are in time; the others of the queue come after all of them.
    #expect(store.late(at: Self.start, perSecond: 10) == 50 + 50)
    #expect(store.late(at: Self.start, perSecond: 100) == 0)
  }
}
