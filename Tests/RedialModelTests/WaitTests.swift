import RedialCore
import RedialModel
import Testing

@Suite("Why a call waits")
struct WaitTests {
  private static let now = Timestamp(microseconds: 1_796_083_200_000_000)

  private static func at(_ seconds: Int) -> Timestamp { now + .seconds(seconds) }

  private func call(
    _ waiting: WaitReason? = nil, due: Int = 0, state: StoredState = .held, attempts: Int = 0, deadline: Int = 900
  ) -> CallRecord {
    CallRecord(
      id: CallID(rawValue: 1), kind: .call,
      spec: CallSpec(
        url: "http://a", method: "GET", headers: [], target: "a",
        policy: RetryPolicy(deadline: .seconds(deadline)), captureLimit: 0),
      body: [], createdAt: Self.now,
      progress: CallProgress(
        state: state, due: Self.at(due), waiting: waiting, attempts: attempts, roundStartedAt: Self.now))
  }

  private func wait(_ call: CallRecord, _ target: TargetStanding = TargetStanding()) -> CallView.Wait? {
    CallView.Wait(of: call, for: target, at: Self.now)
  }

  private func expected(_ reason: WaitReason, _ seconds: Int?) -> CallView.Wait {
    CallView.Wait(reason: reason, until: seconds.map(Self.at))
  }

  @Test(
    "its own time: its start, its backoff, or the Retry-After of its target",
    arguments: [
      WaitReason.startTime, .backoff, .retryAfter,
    ])
  func own(reason: WaitReason) {
    #expect(wait(call(reason, due: 5)) == expected(reason, 5))
    #expect(wait(call(reason, due: 5, state: .scheduled)) == expected(reason, 5))
    #expect(wait(call(reason, due: 0)) == expected(.concurrency, nil))
  }

  @Test("its target's reasons: breaker, Retry-After, rate, retry budget, pause; and otherwise its place in the queue")
  func targets() {
    #expect(wait(call(), .init(breaker: .open(until: Self.at(3)))) == expected(.breaker, 3))
    #expect(wait(call(), .init(breaker: .open(until: Self.at(-3)))) == expected(.breaker, 0))
    #expect(wait(call(), .init(breaker: .halfOpen)) == expected(.breaker, nil))
    #expect(wait(call(), .init(breaker: .tripped)) == expected(.breaker, nil))
    #expect(wait(call(), .init(retryAfterUntil: Self.at(4))) == expected(.retryAfter, 4))
    #expect(wait(call(), .init(rateUntil: Self.at(1))) == expected(.rateLimit, 1))
    #expect(wait(call(attempts: 1), .init(retriesUntil: Self.at(2))) == expected(.retryBudget, 2))
    #expect(wait(call(), .init(retriesUntil: Self.at(2))) == expected(.concurrency, nil))
    #expect(wait(call(), .init(isPaused: true)) == expected(.paused, nil))
    #expect(wait(call()) == expected(.concurrency, nil))
    #expect(wait(call(), .init(isPaced: true, paceUntil: Self.at(2))) == expected(.pace, 2))
    #expect(wait(call(), .init(isPaced: true, paceUntil: Self.at(-2))) == expected(.pace, 0))
    // Another instance has the target.
    #expect(wait(call(), .init(isPaced: true)) == expected(.pace, nil))
    let past = TargetStanding(retryAfterUntil: Self.at(-1), rateUntil: Self.at(0), retriesUntil: Self.at(-5))
    #expect(wait(call(attempts: 1), past) == expected(.concurrency, nil))
  }

  @Test("a call in its target's queue in the store is due at its deadline, and does not wait for that")
  func queued() {
    #expect(wait(call(.concurrency, due: 900, state: .queued)) == expected(.concurrency, nil))
    #expect(wait(call(.breaker, due: 900, state: .queued)) == expected(.concurrency, nil))
  }

  @Test("its turn among the calls of its ordering key, before all other reasons")
  func ordering() {
    let everything = TargetStanding(breaker: .open(until: Self.at(3)), isPaused: true, retryAfterUntil: Self.at(9))
    #expect(wait(call(.ordering, due: 900, state: .queued), everything) == expected(.ordering, nil))
  }

  @Test("of several reasons the one that lasts longest, and those without an end first")
  func overlapping() {
    var target = TargetStanding(
      breaker: .open(until: Self.at(30)), retryAfterUntil: Self.at(40), rateUntil: Self.at(1), retriesUntil: Self.at(7))
    #expect(wait(call(.backoff, due: 5, attempts: 1), target) == expected(.retryAfter, 40))
    target.retryAfterUntil = Self.at(20)
    #expect(wait(call(.backoff, due: 5, attempts: 1), target) == expected(.breaker, 30))
    #expect(wait(call(.startTime, due: 60), target) == expected(.startTime, 60))
    target.breaker = .halfOpen
    target.retryAfterUntil = nil
    #expect(wait(call(.backoff, due: 5, attempts: 1), target) == expected(.retryBudget, 7))
    #expect(wait(call(.backoff, due: 8, attempts: 1), target) == expected(.backoff, 8))
    target.retriesUntil = nil
    target.rateUntil = nil
    target.isPaced = true
    target.paceUntil = Self.at(3)
    #expect(wait(call(.backoff, due: 0), target) == expected(.breaker, nil))
    target.breaker = .closed
    #expect(wait(call(.backoff, due: 2, attempts: 1), target) == expected(.pace, 3))
    #expect(wait(call(.backoff, due: 4, attempts: 1), target) == expected(.backoff, 4))
    target.isPaused = true
    #expect(wait(call(.startTime, due: 60), target) == expected(.paused, nil))
  }

  @Test("no shown time is after the deadline")
  func deadline() {
    #expect(wait(call(deadline: 10), .init(retryAfterUntil: Self.at(10))) == expected(.retryAfter, nil))
    #expect(wait(call(deadline: 10), .init(retryAfterUntil: Self.at(9))) == expected(.retryAfter, 9))
  }

  @Test(
    "a call that runs or has ended waits for nothing",
    arguments: [
      StoredState.running, .succeeded, .failed, .cancelled,
    ])
  func notWaiting(state: StoredState) {
    #expect(wait(call(.backoff, due: 5, state: state), .init(isPaused: true)) == nil)
  }
}
