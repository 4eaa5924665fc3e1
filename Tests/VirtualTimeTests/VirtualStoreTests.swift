import RedialCore
import RedialModel
import Testing

@testable import VirtualTime

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
}
