extension Checks {
  static func budgets() {
    // A fifth of a thousand requests and 100 more; then a million a second over a day, which is beyond 32 bits of tokens.
    var budget = RetryBudget(.finagle)
    for _ in 0..<1000 { budget.begin(at: now) }
    expect(budget.balance(at: now) == 300)
    budget = RetryBudget(.ratio(share: 100, minimumPerSecond: .max, window: .seconds(86_400)))
    for _ in 0..<100 { budget.begin(at: now) }
    expect(budget.balance(at: now) == 86_400_010_000)
    budget = RetryBudget(.envoy)
    for _ in 0..<100_000 { budget.begin(at: now) }
    expect(budget.balance(at: now) == 20_000)
    for integer in integers {
      for number in numbers {
        for span in spans {
          for rule in [
            RetryBudget.Rule.concurrent(share: number, minimum: integer),
            .ratio(share: number, minimumPerSecond: integer, window: span),
            .tokens(.gRPC(capacity: Tokens(number), tokenRatio: Tokens(number))),
          ] {
            var budget = RetryBudget(rule)
            for time in times {
              budget.begin(at: time)
              let withdrawal = budget.withdraw(for: .throttling, at: time)
              for outcome in RetryBudget.Outcome.allCases { budget.end(outcome, of: withdrawal, at: time) }
              expect(budget.balance(at: time) >= 0)
            }
          }
        }
      }
    }
  }

  static func limiters() {
    var limiter = RateLimiter(permits: 3)
    var time = now
    for _ in 0..<3000 {
      guard case .permitted = limiter.acquire(at: time), case .rejected(let until) = limiter.acquire(at: time) else {
        return expect(false)
      }
      time = until
    }
    expect(time == now + .seconds(1000))
    limiter = RateLimiter(permits: RateLimiter.most, burst: RateLimiter.most)
    expect(limiter.acquire(RateLimiter.most, at: now) == .permitted)
    expect(limiter.available(at: now + .milliseconds(500)) == RateLimiter.most / 2)
    expect(limiter.reserve(RateLimiter.most, at: now) == .seconds(1))
    for permits in integers {
      for span in spans {
        var limiter = RateLimiter(permits: permits, per: span, burst: permits)
        for time in times {
          _ = limiter.acquire(limiter.burst, at: time)
          let available = limiter.available(at: time)
          expect(available >= 0 && available <= limiter.burst)
          if let wait = limiter.reserve(at: time) { expect(wait >= .zero) }
        }
      }
    }
    slowStarts()
    paces()
  }

  private static func slowStarts() {
    var ramp = SlowStart()
    for time in times {
      ramp.start(at: time)
      for other in times {
        for full in integers {
          let limit = ramp.limit(of: full, at: other)
          expect(limit >= 1 && limit <= max(1, full))
        }
      }
    }
  }

  private static func paces() {
    var pace = AdaptivePace()
    for time in times {
      for span in spans {
        for sign in [AdaptivePace.Sign.delivered(after: span), .refused, .silent, .none] {
          pace.end(pace.start(at: time), sign, at: time)
          expect(pace.rate.map { $0 >= AdaptivePace.slowest && $0.isFinite } ?? true)
        }
      }
      pace.suspend(at: time)
      pace.recover(at: time)
      for integer in integers where integer > 0 {
        let places = pace.concurrency(within: integer)
        expect(places >= 1 && places <= integer)
      }
    }
  }
}
