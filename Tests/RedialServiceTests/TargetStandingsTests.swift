import RedialCore
import RedialEngine
import RedialModel
import RedialStore
import Testing

@testable import RedialService

@Suite("The reasons of waiting calls")
struct TargetStandingsTests {
  private let now = Timestamp(microseconds: 1_000_000)
  private let standings = TargetStandings()

  private func waits(_ target: TargetKey) -> WaitReason? {
    standings.wait(of: call(target, .concurrency, due: now), at: now)?.reason
  }

  private func call(_ target: TargetKey, _ waiting: WaitReason?, due: Timestamp) -> CallRecord {
    CallRecord(
      id: CallID(rawValue: 1), kind: .call,
      spec: CallSpec(
        url: "http://a", method: "GET", headers: [], target: target, policy: .service, captureLimit: 0), body: [],
      createdAt: now, progress: CallProgress(state: .scheduled, due: due, waiting: waiting, roundStartedAt: now))
  }

  @Test("are forgotten when another instance gets the shards of their targets", arguments: [true, false])
  func released(isAll: Bool) {
    let targets: [TargetKey] = ["a", "b", "c", "d"]
    for target in targets { standings.record(.targetStands(target: target, TargetStanding(isPaused: true)), at: now) }
    #expect(targets.allSatisfy { waits($0) == .paused })
    let given = ShardSet([ShardSet.shard(of: targets[0])])
    standings.record(isAll ? .leaseLost(reason: "") : .shardsReleased(given), at: now)
    for target in targets {
      #expect(waits(target) == (isAll || given.contains(target: target) ? nil : .paused))
    }
    standings.record(.shardsGained(given), at: now)
    #expect(waits(targets[0]) == .concurrency)
  }

  @Test("are left out for a target that another instance has")
  func foreign() {
    let shared = TargetStandings(isShared: true)
    func reason(_ waiting: WaitReason?, due: Timestamp) -> WaitReason? {
      shared.wait(of: call("a", waiting, due: due), at: now)?.reason
    }
    #expect(reason(.concurrency, due: now) == nil)
    #expect(reason(.backoff, due: now + .seconds(5)) == .backoff && reason(.ordering, due: now) == .ordering)
    shared.record(.shardsGained(.all), at: now)
    #expect(reason(.concurrency, due: now) == .concurrency)
  }

  @Test("of a target that another instance has are those that the store knows")
  func stored() {
    let shared = TargetStandings(isShared: true)
    let backoff = call("a", .backoff, due: now + .seconds(5))
    func wait(_ stored: TargetRecord, _ call: CallRecord? = nil) -> CallView.Wait? {
      let call = call ?? self.call("a", .concurrency, due: now)
      return shared.wait(of: StoredCall(record: call, attempts: [], target: stored), at: now)
    }
    #expect(wait(TargetRecord()) == nil && wait(TargetRecord(), backoff)?.reason == .backoff)
    let paused = TargetRecord(controls: TargetControls(isPaused: true))
    #expect(wait(paused, backoff) == CallView.Wait(reason: .paused, until: nil))
    let open = TargetRecord(breaker: OpenBreaker(until: now + .seconds(9), trips: 1))
    #expect(wait(open) == CallView.Wait(reason: .breaker, until: now + .seconds(9)))
    #expect(wait(open, backoff) == CallView.Wait(reason: .breaker, until: now + .seconds(9)))
    let asked = TargetRecord(askedUntil: now + .seconds(9))
    #expect(wait(asked) == CallView.Wait(reason: .retryAfter, until: now + .seconds(9)))
    // What this instance knows itself counts, when it has the target.
    shared.record(.shardsGained(.all), at: now)
    #expect(wait(open)?.reason == .concurrency && wait(open, backoff)?.reason == .backoff)
  }
}
