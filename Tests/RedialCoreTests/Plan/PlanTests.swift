import RedialCore
import Testing

@Suite("Plans")
struct PlanTests {
  @Test("without jitter every time is certain")
  func certain() {
    let plan = RetryPolicy(maxAttempts: 4, deadline: .seconds(100), backoff: .constant(.seconds(10)))
      .plan(attemptDuration: .seconds(1))
    #expect(plan.attempts.map(\.start.median) == [.zero, .seconds(11), .seconds(22), .seconds(33)])
    #expect(plan.attempts.allSatisfy { $0.start.isExact && $0.start.earliest == $0.start.latest && $0.chance == 1 })
    #expect(plan.isComplete && plan.chanceOfAllAttempts == 1)
    // Three waits of 10 s and four attempts of up to 30 s, bounded by the deadline.
    #expect(plan.latestEnd == .seconds(100))
    #expect(plan.warnings == [.noJitter])
  }

  @Test("one uniform wait, and the sum of two equal ones, have the quantiles of the textbook")
  func exact() {
    let plan = RetryPolicy(
      maxAttempts: 3, deadline: .longest,
      backoff: Backoff(.constant(.seconds(10)), maximum: .longest, jitter: .full)
    ).plan()
    let one = plan.attempts[1].start
    #expect(one.isExact && abs(one.p10.inSeconds - 1) < 1e-5 && abs(one.p99.inSeconds - 9.9) < 1e-5)
    // Irwin–Hall of two: F(x) = x²/2 below the middle; 10·√(2·0.1) at one in ten, 20 less 10·√(2·0.1) at nine.
    let two = plan.attempts[2].start
    #expect(two.isExact && abs(two.p10.inSeconds - 4.472_136) < 1e-5 && abs(two.median.inSeconds - 10) < 1e-5)
    #expect(abs(two.p90.inSeconds - 15.527_864) < 1e-5 && two.latest == .seconds(20))
  }

  @Test("the closed form agrees with drawn waits, for very different widths")
  func agreement() throws {
    let policy = RetryPolicy(maxAttempts: 11, deadline: .longest)
    let plan = policy.plan()
    var random = RandomSource(seed: 9)
    var starts = [[Double]](repeating: [], count: 11)
    for _ in 0..<20_000 {
      var time = 0.0
      for retry in 0..<10 {
        time += try #require(policy.backoff.wait(beforeRetry: retry, using: &random)).duration.inSeconds
        starts[retry + 1].append(time)
      }
    }
    for index in 1...10 {
      let sorted = starts[index].sorted()
      let start = plan.attempts[index].start
      #expect(start.isExact)
      for (p, time) in [(0.1, start.p10), (0.5, start.median), (0.9, start.p90), (0.99, start.p99)] {
        let drawn = sorted[Int(p * 20_000)]
        #expect(abs(time.inSeconds - drawn) < 0.02 * drawn + 0.01, "attempt \(index + 1), \(p): \(time) and \(drawn)")
      }
    }
  }

  @Test("beyond the closed form the waits are sampled, without a step between")
  func sampled() {
    let plan = RetryPolicy(maxAttempts: 20, deadline: .longest).plan(seed: 4)
    #expect(plan.attempts[10].start.isExact && !plan.attempts[12].start.isExact)
    let medians = plan.attempts.map(\.start.median)
    #expect(zip(medians, medians.dropFirst()).allSatisfy { $0 < $1 })
    #expect(plan == RetryPolicy(maxAttempts: 20, deadline: .longest).plan(seed: 4))
    let decorrelated = RetryPolicy.awsDecorrelated.plan()
    #expect(decorrelated.attempts.map(\.start.isExact) == [true, true, false])
    let capped = RetryPolicy(
      maxAttempts: 3, backoff: Backoff(initial: .seconds(50), maximum: .seconds(60), cap: .afterJitter)
    ).plan()
    #expect(capped.attempts.map(\.start.isExact) == [true, false, false])
    #expect(capped.attempts[2].start.latest <= .seconds(120))
  }

  @Test("if the closed form would lose precision, the waits are sampled")
  func digits() {
    for policy in [
      RetryPolicy.happn,
      RetryPolicy(
        maxAttempts: 9, deadline: .longest,
        backoff: Backoff(
          .schedule([.milliseconds(10), .seconds(1), .seconds(86_400), .seconds(86_400)], then: .repeatLast),
          maximum: .longest, jitter: .full)),
    ] {
      for attempt in policy.plan(limit: 12).attempts {
        let start = attempt.start
        #expect(start.p10 <= start.median && start.median <= start.p90 && start.p90 <= start.p99, "\(attempt)")
        #expect(start.p99 <= start.latest && start.earliest <= start.p10, "\(attempt)")
      }
    }
    let last = RetryPolicy.happn.plan(limit: 11).attempts[10]
    #expect(!last.start.isExact && abs(last.start.median.inSeconds / 34_287 - 1) < 0.05)
    let capped = RetryPolicy(
      maxAttempts: 2, backoff: Backoff(.decorrelated(base: .seconds(10)), maximum: .seconds(12), jitter: .none)
    ).plan()
    #expect(!capped.attempts[1].start.isExact && capped.attempts[1].start.median == .seconds(12))
  }

  @Test("the deadline's probability is that of the draws, and attempts after it are not listed")
  func chance() {
    let policy = RetryPolicy(
      maxAttempts: 3, deadline: .seconds(10),
      backoff: Backoff(.constant(.seconds(10)), maximum: .longest, jitter: .full))
    let plan = policy.plan()
    #expect(plan.attempts[1].chance == 1 && abs(plan.chanceOfAllAttempts - 0.5) < 1e-6)
    var pulled = policy
    pulled.deadlineRule.lastAttempt = .pullForward
    #expect(pulled.plan().chanceOfAllAttempts == 1)
    let late = RetryPolicy(maxAttempts: 9, deadline: .seconds(30), backoff: .constant(.seconds(10))).plan()
    #expect(late.attempts.count == 3 && late.isComplete && late.chanceOfAllAttempts == 0)
    #expect(late.warnings.contains(.unreachableAttempts(from: 4)))
  }

  @Test("ExponentialBackOff's plan: 25 runs, the last after 908,746 ms")
  func sumOfWaits() throws {
    var policy = RetryPolicy.exponentialBackOff
    policy.backoff.jitter = .none
    let plan = policy.plan()
    #expect(plan.attempts.count == 25 && plan.isComplete)
    #expect(Int(try #require(plan.attempts.last).start.median.inSeconds * 1000) == 908_746)
  }

  @Test("Svix's plan: the median of the fourth attempt is 2105 s")
  func svix() {
    let plan = RetryPolicy.svix.plan()
    #expect(abs(plan.attempts[3].start.median.inSeconds - 2105) < 0.001 && plan.attempts.count == 8)
  }

  @Test("endless policies are listed up to the requested number")
  func endless() {
    let plan = RetryPolicy.temporal.plan(limit: 12)
    #expect(plan.attempts.count == 12 && !plan.isComplete && plan.latestEnd >= .longest)
  }

  @Test("each warning of the linter, with a policy that causes it")
  func lint() {
    func warnings(_ change: (inout RetryPolicy) -> Void) -> [PolicyWarning] {
      var policy = RetryPolicy(maxAttempts: 25, deadline: .seconds(900))
      change(&policy)
      return policy.warnings
    }
    #expect(warnings { _ in } == [])
    for policy in [RetryPolicy(), RetryPolicy(maxAttempts: 7), RetryPolicy(maxRetries: 3), .http, .service] {
      #expect(policy.warnings == [], "a default deserves none")
    }
    #expect(warnings { $0.backoff.jitter = .none } == [.noJitter])
    #expect(warnings { $0.backoff.jitter = .proportional(factor: 0) } == [.noJitter])
    #expect(warnings { $0.backoff.jitter = .proportional(factor: 2) } == [.factorOutOfRange])
    #expect(warnings { $0.attemptTimeout = .seconds(1000) } == [.timeoutBeyondDeadline])
    #expect(
      warnings {
        $0.maxAttempts = RetryPolicy.unlimited
        $0.deadline = .longest
      } == [.unbounded])
    #expect(warnings { $0.backoff = .constant(.zero) } == [.attemptsEndEarly(after: .zero), .noWait])
    #expect(warnings { $0.backoff.cap = .afterJitter } == [.jitterLostAtMaximum])
    #expect(warnings { $0.backoff.cap = .beforeJitter } == [.waitBeyondMaximum(.seconds(90))])
    #expect(warnings { $0.backoff.curve = .constant(.seconds(90)) } == [.initialBeyondMaximum])
    #expect(
      warnings { $0.backoff.curve = .exponential(initial: .seconds(1), multiplier: 0.5) }
        == [.attemptsEndEarly(after: .seconds(36)), .multiplierBelowOne])
    #expect(warnings { $0 = .service } == [], "nor does the service's")
    #expect(
      warnings {
        $0 = .service
        $0.maxAttempts = 3
      } == [.attemptsEndEarly(after: .milliseconds(2250))])
    #expect(warnings { $0.maxAttempts = 1 } == [.noRetry])
    #expect(warnings { $0.stopOn = StatusSet(statuses: [503]) } == [.contradictoryStatus(503)])
    #expect(warnings { $0.retryOn.statuses = StatusSet(statuses: [400, 503]) } == [.permanentStatusRetried(400)])
    #expect(
      warnings { $0.deadlineRule.minimumAttemptTime = .seconds(900) } == [.minimumAttemptTimeBeyondDeadline])
    #expect(warnings { $0.deadlineRule.lastAttempt = .pullForward } == [.noTimeForLastAttempt])
    #expect(warnings { $0.retryAfter.beyond = .park } == [.retryAfterBeyondDeadline])
  }
}
