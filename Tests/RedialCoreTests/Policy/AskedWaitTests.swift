import RedialCore
import Testing

@Suite("What is made of a target's Retry-After")
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

  @Test("one beyond the maximum can be cut to it; the decision says so")
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
