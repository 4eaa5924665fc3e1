@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Calls in memory, with their phases and timers")
struct CallsTests {
  private static let now = Timestamp(microseconds: 1_796_083_200_000_000)

  private static func record(_ id: Int64) -> CallRecord {
    CallRecord(
      id: CallID(rawValue: id), kind: .call, spec: .test(), body: [], createdAt: now,
      progress: CallProgress(state: .held, due: now, roundStartedAt: now))
  }

  @Test("a timer fires only in the phase in which it was set")
  func phases() throws {
    var calls = Calls()
    calls.insert(Self.record(1), of: 0)
    calls.insert(Self.record(2), of: 0)
    calls.wait(CallID(rawValue: 1), until: Self.now)
    calls.wait(CallID(rawValue: 2), until: Self.now + .seconds(1))
    calls.enter(.ready, at: try #require(calls.place(of: CallID(rawValue: 1))))
    #expect(calls.nextFired(at: Self.now) == nil)
    guard case .call(let id, _)? = calls.nextFired(at: Self.now + .seconds(1)) else {
      Issue.record("the second timer has not fired")
      return
    }
    #expect(id == CallID(rawValue: 2))
  }

  @Test("a call that comes back does not meet timers of its earlier stay, even in a new table")
  func comesBack() {
    var calls = Calls()
    calls.insert(Self.record(1), of: 0)
    calls.wait(CallID(rawValue: 1), until: Self.now)
    let earlier = calls.remove(CallID(rawValue: 1))?.stamp
    calls.insert(Self.record(1), of: 0)
    #expect(calls.nextFired(at: Self.now) == nil)
    var next = Calls(after: calls)
    next.insert(Self.record(1), of: 0)
    let stamps = [earlier, calls[CallID(rawValue: 1)]?.stamp, next[CallID(rawValue: 1)]?.stamp].compactMap { $0 }
    #expect(Set(stamps).count == 3)
  }

  @Test("timers of targets fire, and void ones do not grow without bound")
  func pruning() {
    var calls = Calls()
    calls.lookAgain(3, at: Self.now + .seconds(2))
    calls.insert(Self.record(1), of: 0)
    for _ in 0..<2000 {
      calls.wait(CallID(rawValue: 1), until: Self.now + .seconds(1))
      calls.enter(.waiting, at: 0)
    }
    calls.dropVoidTimers(targets: 1)
    #expect(calls.earliest == Self.now + .seconds(2))
    guard case .target(3)? = calls.nextFired(at: Self.now + .seconds(2)) else {
      Issue.record("the target's timer has not fired")
      return
    }
  }
}
