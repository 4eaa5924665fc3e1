extension Checks {
  static func waits() {
    var random = RandomSource(seed: 1)
    expect(Duration.longest.wholeMicroseconds == .max)
    expect((Duration.seconds(Int64.min) * 10).wholeMicroseconds == .min)
    expect(Duration(clampingSeconds: 1e30) == .longest && Duration(clampingSeconds: .nan) == .zero)
    let backoff = Backoff(initial: .milliseconds(500), multiplier: 2, maximum: .seconds(600))
    for retry in [0, 1, 5, 40, 1000, Int.max] {
      for _ in 0..<100 {
        guard let wait = backoff.wait(beforeRetry: retry, using: &random) else { return expect(false) }
        expect(wait.duration >= .zero && wait.duration <= .seconds(600))
      }
    }
    expect(Backoff(jitter: .none).wait(beforeRetry: 2, using: &random)?.duration == .milliseconds(1125))
    for curve in curves {
      for jitter in [Jitter.none, .full, .equal, .proportional(factor: .nan), .additivePerRetry(.longest)] {
        for cap in CapMode.allCases {
          for integer in integers {
            let backoff = Backoff(curve, maximum: .seconds(86_400), jitter: jitter, cap: cap)
            if let wait = backoff.wait(beforeRetry: integer, using: &random) { expect(wait.duration >= .zero) }
            if let range = backoff.range(beforeRetry: integer) { expect(range.lowerBound >= .zero) }
          }
        }
      }
    }
  }

  private static var curves: [BackoffCurve] {
    var curves: [BackoffCurve] = [
      .exponential(initial: .longest, multiplier: 1e30), .polynomial(unit: .longest, exponent: 10, first: .max),
      .schedule([.seconds(5), .longest], then: .repeatLast), .schedule([], then: .stop),
    ]
    for span in [Duration.seconds(Int64.min), .zero, .milliseconds(500), .seconds(7200), .longest] {
      curves += [
        .constant(span), .linear(initial: span, increment: span), .exponential(initial: span, multiplier: 2),
        .polynomial(unit: span, exponent: 4, offset: span), .fibonacci(initial: span), .power(base: span),
        .doublingsThenLinear(initial: span, doublings: .max), .decorrelated(base: span),
        .decorrelatedSmooth(median: span),
      ]
    }
    return curves
  }

  static func decisions() {
    var random = RandomSource(seed: 1)
    // A day of a target that is down, by the service's policy.
    var time = now
    var waits = WaitHistory.none
    var attempts = 0
    while attempts < 1000 {
      attempts += 1
      let end = AttemptEnd(outcome: .answered, status: 503, attempts: attempts, startedAt: now, waits: waits)
      let decision = RetryPolicy.service.decide(end, at: time, using: &random)
      waits = decision.waits
      guard case .retry(let wait) = decision.action else {
        expect(decision.action == .stop(.deadlineExceeded))
        break
      }
      time = time + wait
    }
    expect(attempts > 100 && attempts < 400 && time < now + .seconds(86_400))
    for span in spans {
      for attempts in integers {
        for start in times {
          for now in times {
            let policy = RetryPolicy(
              maxAttempts: RetryPolicy.unlimited, deadline: span, attemptTimeout: span, initialDelay: .fixed(span),
              retryAfter: RetryAfterRule(beyond: .clamp, spread: 0.5))
            let end = AttemptEnd(
              outcome: .answered, status: 429, retryAfter: span, attempts: attempts, startedAt: start,
              waits: WaitHistory(previous: span, total: span))
            if case .retry(let wait) = policy.decide(end, at: now, using: &random).action { expect(wait >= .zero) }
            _ = policy.initialWait(using: &random)
          }
        }
      }
    }
  }

  static func plans() {
    let plan = RetryPolicy.svix.plan()
    expect(plan.attempts.count == 8 && plan.isComplete)
    expect(plan.attempts[3].start.median == .seconds(2105))
    expect(RetryPolicy.service.plan(limit: 10).attempts.count == 10)
    expect(RetryPolicy(maxAttempts: .max, backoff: .constant(.zero)).warnings.count > 0)
    let sampled = RetryPolicy(maxAttempts: 3, backoff: Backoff(.decorrelated(base: .seconds(1)))).plan()
    expect(sampled.attempts.count == 3 && sampled.attempts[2].start.latest <= .seconds(12))
  }
}
