import RedialCore
import Testing

@Suite("Policies with very many attempts do not spin")
struct ManyAttemptsTests {
  /// How many attempts that fail at once a policy makes in a time.
  private func attempts(of policy: RetryPolicy, within time: Duration) -> Int {
    var random = RandomSource(seed: 1)
    var now = Timestamp.epoch
    var waits = WaitHistory.none
    for attempt in 1...2_000_000 {
      let end = AttemptEnd(outcome: .notSent, attempts: attempt, startedAt: .epoch, waits: waits)
      let decision = policy.decide(end, at: now, using: &random)
      guard case .retry(let wait) = decision.action else { return attempt }
      waits = decision.waits
      now = now + wait
      if now > .epoch + time { return attempt }
    }
    return .max
  }

  @Test("a million attempts without waits are a hundred at once, and then a hundred a second")
  func million() {
    let policy = RetryPolicy(maxAttempts: 1_000_000, backoff: .constant(.zero))
    #expect(attempts(of: policy, within: .milliseconds(100)) == 111)
    #expect(attempts(of: policy, within: .seconds(10)) == 1101)
    let quick = RetryPolicy(maxAttempts: 1_000_000, backoff: Backoff(.schedule([.microseconds(3)], then: .repeatLast)))
    #expect(attempts(of: quick, within: .seconds(10)) <= 1102)
  }

  @Test("a hundred retries are as quick as their policy says")
  func hundred() {
    let policy = RetryPolicy(maxAttempts: 101, backoff: .constant(.zero))
    #expect(attempts(of: policy, within: .microseconds(1)) == 101)
    var random = RandomSource(seed: 1)
    let end = AttemptEnd(outcome: .notSent, attempts: 101, startedAt: .epoch)
    let later = RetryPolicy(maxAttempts: 1000, backoff: .constant(.zero)).decide(end, at: .epoch, using: &random)
    #expect(later.action == .retry(after: .milliseconds(10)) && later.clamps == .minimum)
    let slow = RetryPolicy(maxAttempts: 1000, backoff: .constant(.milliseconds(20)))
    #expect(slow.decide(end, at: .epoch, using: &random).action == .retry(after: .milliseconds(20)))
  }

  @Test("a target that asks for less than the shortest wait does not shorten it")
  func asked() {
    var random = RandomSource(seed: 1)
    let policy = RetryPolicy(maxAttempts: 1000, backoff: .constant(.zero))
    let end = AttemptEnd(
      outcome: .answered, status: 503, retryAfter: .microseconds(5), attempts: 500, startedAt: .epoch)
    let decision = policy.decide(end, at: .epoch, using: &random)
    #expect(decision.action == .retry(after: .milliseconds(10)) && decision.clamps.contains(.minimum))
  }

  @Test("the plan contains the shortest wait")
  func plan() {
    let plan = RetryPolicy(maxAttempts: 1000, backoff: .constant(.zero)).plan(limit: 200)
    #expect(plan.attempts[100].start.latest == .zero)
    #expect(plan.attempts[101].wait == .milliseconds(10) ... .milliseconds(10))
    #expect(plan.attempts[199].start.median == .milliseconds(990))
    let unbounded = RetryPolicy(
      maxAttempts: RetryPolicy.unlimited, backoff: Backoff(.constant(.milliseconds(2)), jitter: .full)
    ).plan(limit: 3)
    #expect(unbounded.attempts[1].wait == .milliseconds(1) ... .milliseconds(2))
    #expect(!unbounded.attempts[1].start.isExact, "half of the waits are the shortest")
    #expect(unbounded.attempts[1].start.earliest == .milliseconds(1))
  }

  @Test(
    "warnings are found at once, however many attempts and however short the waits",
    arguments: [1000, 1_000_000, RetryPolicy.unlimited])
  func warnings(attempts: Int) {
    for wait in [Duration.zero, .microseconds(1), .milliseconds(20)] {
      for deadline in [Duration.seconds(60), .seconds(366 * 86_400), .seconds(Int64.max / 2_000_000)] {
        let policy = RetryPolicy(maxAttempts: attempts, deadline: deadline, backoff: .constant(wait))
        // The waits add up to this: 100 of the length that the policy says, the others of 10 ms at least.
        let total = 100 * wait.inSeconds + Double(attempts - 101) * max(0.01, wait.inSeconds)
        let isEarly = policy.warnings.contains { if case .attemptsEndEarly = $0 { true } else { false } }
        #expect(isEarly == (total < deadline.inSeconds / 10), "\(attempts) attempts, \(wait), \(deadline)")
      }
    }
  }
}
