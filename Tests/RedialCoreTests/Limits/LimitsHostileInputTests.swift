import RedialCore
import Testing

/// Settings and times that nobody means, of which none may trap or lead out of bounds.
@Suite("Limits with hostile arguments")
struct LimitsHostileInputTests {
  private static let numbers: [Double] = [
    .nan, .signalingNaN, .infinity, -.infinity, -1, -0.0, 0, .leastNonzeroMagnitude, 0.5, 1, 1e30,
    .greatestFiniteMagnitude,
  ]
  private static let integers = [Int.min, Int.min + 1, -1, 0, 1, 2, 1_000_000_007, Int.max - 1, Int.max]
  private static let spans: [Duration] = [
    Duration(secondsComponent: .min, attosecondsComponent: 0), .seconds(-1), .zero, .nanoseconds(1), .microseconds(1),
    .milliseconds(10), .seconds(10), .longest, Duration(secondsComponent: .max, attosecondsComponent: 0),
  ]
  private static let times = [Int64.min, .min + 1, -1, 0, 1, 1_790_000_000_000_000, .max - 1, .max]
    .map(Timestamp.init(microseconds:))

  /// Every pair of times, so that each jump happens, forth and back.
  private func forEachJump(_ body: (Timestamp) -> Void) {
    for from in Self.times {
      for to in Self.times {
        body(from)
        body(to)
      }
    }
  }

  @Test("retry budgets")
  func budgets() {
    var rules: [RetryBudget.Rule] = [.gRPC, .aws, .finagle, .envoy, .unlimited]
    for number in Self.numbers {
      for integer in Self.integers { rules.append(.concurrent(share: number, minimum: integer)) }
      for span in Self.spans { rules.append(.ratio(share: number, minimumPerSecond: .max, window: span)) }
      for span in Self.spans { rules.append(.ratio(share: number, minimumPerSecond: .min, window: span)) }
      rules.append(.tokens(.gRPC(capacity: Tokens(number), tokenRatio: Tokens(number))))
    }
    for rule in rules {
      var budget = RetryBudget(rule)
      forEachJump { now in
        budget.begin(at: now)
        let withdrawal = budget.withdraw(for: .transient, at: now)
        for outcome in RetryBudget.Outcome.allCases { budget.end(outcome, of: withdrawal, at: now) }
        #expect(budget.balance(at: now) >= 0)
      }
      let copy = budget
      #expect(copy == budget, "no setting is unequal to itself")
    }
  }

  @Test("rate limiters")
  func rates() {
    for permits in Self.integers {
      for burst in Self.integers {
        for span in Self.spans {
          var limiter = RateLimiter(permits: permits, per: span, burst: burst)
          #expect((1...RateLimiter.most).contains(limiter.permits))
          #expect((1...RateLimiter.most).contains(limiter.burst))
          forEachJump { now in
            for cost in [1, limiter.burst, .max] {
              _ = limiter.acquire(cost, at: now)
              if let wait = limiter.reserve(cost, at: now) { #expect(wait >= .zero) }
            }
            let available = limiter.available(at: now)
            #expect(available >= 0 && available <= limiter.burst)
          }
        }
      }
    }
  }

  @Test("adaptive paces")
  func paces() {
    for number in Self.numbers {
      var pace = AdaptivePace()
      forEachJump { now in
        var learned = AdaptivePace(delivered: number, limitedAt: now, at: now)
        for span in Self.spans {
          for sign in [AdaptivePace.Sign.delivered(after: span), .refused, .silent, .none] {
            pace.end(pace.start(at: now), sign, at: now)
            learned.end(learned.start(at: now), sign, at: now)
          }
        }
        pace.recover(at: now)
        for pace in [pace, learned] {
          #expect(pace.rate.map { $0 >= AdaptivePace.slowest && $0.isFinite } ?? true)
          #expect(pace.delivered >= 0 && pace.delivered.isFinite)
          for integer in Self.integers where integer > 0 {
            #expect((1...integer).contains(pace.concurrency(within: integer)))
          }
        }
        pace.suspend(at: now)
      }
      let copy = pace
      #expect(copy == pace, "no state is unequal to itself")
    }
  }

  @Test("slow starts")
  func slowStarts() {
    for number in Self.numbers {
      for span in Self.spans {
        var ramp = SlowStart(duration: span, initialShare: number, aggression: number)
        for start in Self.times {
          ramp.start(at: start)
          for now in Self.times {
            let share = ramp.share(at: now)
            #expect(share >= 0 && share <= 1)
            for full in Self.integers {
              let limit = ramp.limit(of: full, at: now)
              #expect(limit >= 1 && limit <= max(1, full))
            }
          }
        }
      }
    }
  }
}
