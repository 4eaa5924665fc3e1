import RedialCore
import Testing

@Suite("How a target's Retry-After is followed")
struct AskedWaitTests {
  private func decide(
    _ rule: RetryAfterRule, asked: Duration, backoff: Duration = .milliseconds(500), deadline: Duration = .seconds(900),
    seed: UInt64 = 1
  ) -> RetryDecision {
    var random = RandomSource(seed: seed)
    let policy = RetryPolicy(deadline: deadline, backoff: .constant(backoff), retryAfter: rule)
    let end = AttemptEnd(outcome: .answered, status: 429, retryAfter: asked, attempts: 1, startedAt: .epoch)
    return policy.decide(end, at: .epoch, using: &random)
  }

  @Test("a wait beyond the maximum can be shortened to it; the decision says so")
  func clamp() {
    let rule = RetryAfterRule(maximum: .seconds(30), beyond: .clamp)
    for asked in [Duration.seconds(31), .seconds(86_400), .longest] {
      #expect(
        decide(rule, asked: asked)
          == RetryDecision(.retry(after: .seconds(30)), rule: .retryAfter, clamps: .maximum))
    }
    #expect(decide(rule, asked: .seconds(30)) == RetryDecision(.retry(after: .seconds(30)), rule: .retryAfter))
    #expect(decide(rule, asked: .seconds(60), backoff: .seconds(40)).action == .retry(after: .seconds(40)))
    #expect(decide(rule, asked: .seconds(60), deadline: .seconds(20)).action == .stop(.deadlineExceeded))
    let nothing = RetryAfterRule(maximum: .seconds(-4), beyond: .clamp)
    #expect(decide(nothing, asked: .seconds(60)).action == .retry(after: .milliseconds(500)))
  }

  @Test("it counts for the statuses that give it a meaning, and for those that are retried for its sake")
  func statuses() {
    func wait(_ status: Int, _ policy: RetryPolicy = RetryPolicy(), _ directive: RetryDirective? = nil) -> Duration? {
      var random = RandomSource(seed: 1)
      let end = AttemptEnd(
        outcome: .answered, status: status, retryAfter: .seconds(40), directive: directive, attempts: 1,
        startedAt: .epoch)
      guard case .retry(let wait) = policy.decide(end, at: .epoch, using: &random).action else { return nil }
      #expect((wait == .seconds(40)) == (policy.askedWait(of: end) != nil))
      return wait
    }
    for status in [409, 413, 423, 429, 503] { #expect(wait(status) == .seconds(40), "\(status)") }
    for status in [408, 425, 500, 502, 504, 507, 599] { #expect(wait(status) ?? .zero < .seconds(1), "\(status)") }
    // Redirects are not retried, whatever they say.
    for status in [301, 302, 307, 308, 404] { #expect(wait(status) == nil, "\(status)") }
    // Unless the target itself says to come back.
    for status in [307, 404, 500] { #expect(wait(status, RetryPolicy(), .retry) == .seconds(40), "\(status)") }

    let all = RetryPolicy(retryAfter: RetryAfterRule(statuses: StatusSet([500...599])))
    #expect(wait(502, all) == .seconds(40) && wait(429, all) ?? .zero < .seconds(1))
    #expect(wait(409, all) == .seconds(40), "retried for its sake alone")
    for status in [413, 429, 503] {
      #expect(wait(status, RetryPolicy(retryAfter: RetryAfterRule(isRespected: false))) ?? .zero < .seconds(1))
    }
    var calls = RetryPolicy(retryAfter: RetryAfterRule(statuses: .none))
    calls.retryOn.statusesWithRetryAfter = .none
    #expect(wait(503, calls) ?? .zero < .seconds(1) && wait(409, calls) == nil)
  }

  @Test("a spread lengthens the wait, never shortens it, and the decision explains it")
  func spread() throws {
    let rule = RetryAfterRule(spread: 0.2)
    var waits: Set<Duration> = []
    for seed in UInt64(0)..<200 {
      let decision = decide(rule, asked: .seconds(10), seed: seed)
      guard case .retry(let wait) = decision.action else {
        Issue.record("seed \(seed): \(decision)")
        continue
      }
      #expect(wait >= .seconds(10) && wait < .seconds(12), "seed \(seed)")
      #expect(decision.rule == .retryAfter && decision.computed == .seconds(10), "seed \(seed)")
      #expect(abs(wait.inSeconds - 10 * (try #require(decision.jitter))) < 0.000_002, "seed \(seed)")
      waits.insert(wait)
    }
    #expect(waits.count > 190)
    let mean = waits.reduce(0) { $0 + $1.inSeconds } / Double(waits.count)
    #expect(abs(mean - 11) < 0.1)
  }

  @Test("without a spread no number is drawn for it, and a wait of nothing is not spread")
  func draws() {
    for (rule, asked) in [(RetryAfterRule(), Duration.seconds(9)), (RetryAfterRule(spread: 0.5), .zero)] {
      var random = RandomSource(seed: 3)
      var once = random
      _ = once.next()
      let end = AttemptEnd(outcome: .answered, status: 503, retryAfter: asked, attempts: 1, startedAt: .epoch)
      _ = RetryPolicy(retryAfter: rule).decide(end, at: .epoch, using: &random)
      #expect(random == once, "the backoff's draw and no other")
    }
  }

  @Test("no spread makes a decision trap", arguments: [-1, .nan, .infinity, 1, 1e300] as [Double])
  func hostile(spread: Double) {
    for asked in [Duration.zero, .microseconds(1), .seconds(3000), .longest, .seconds(Int64.max) * 18] {
      for beyond in RetryAfterRule.Beyond.allCases {
        let rule = RetryAfterRule(maximum: .seconds(3600), beyond: beyond, spread: spread)
        let decision = decide(rule, asked: asked, deadline: .longest)
        if case .retry(let wait) = decision.action { #expect(wait >= min(asked, .seconds(3600))) }
        if case .park(let time) = decision.action { #expect(time >= .epoch + asked) }
      }
    }
  }
}
