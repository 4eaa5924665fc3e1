// Nanoseconds and allocations of each decision, measured in rounds; the median round counts.

import Measurement
import RedialCore

let start = Timestamp(microseconds: 1_790_000_000_000_000)
var random = RandomSource(seed: 1)

for (name, backoff) in [
  ("backoff draw, exponential", Backoff()), ("backoff draw, Fibonacci", Backoff(.fibonacci(initial: .seconds(1)))),
  ("backoff draw, decorrelated smooth", Backoff(.decorrelatedSmooth(median: .seconds(1)))),
  ("backoff draw, schedule", RetryPolicy.svix.backoff),
] {
  measure(name, count: 1_000_000) { index in
    Int(backoff.wait(beforeRetry: index % 7, using: &random)?.duration.wholeMicroseconds ?? 0)
  }
}

let policy = RetryPolicy()
measure("decision, 503", count: 1_000_000) { index in
  let end = AttemptEnd(outcome: .answered, status: 503, attempts: 1 + index % 20, startedAt: start)
  return Int(policy.decide(end, at: start, using: &random).rule.rawValue)
}

for (name, window) in [
  ("breaker permit and result, window of time", CircuitBreakerSettings.Window.time(.seconds(60))),
  ("breaker permit and result, window of calls", .calls(100)),
] {
  var breaker = CircuitBreaker(settings: CircuitBreakerSettings(window: window))
  var now = start
  measure(name, count: 1_000_000) { index in
    now = now + .microseconds(100)
    guard case .permitted(let permit) = breaker.acquire(at: now) else { return 0 }
    breaker.record(index % 10 == 0 ? .failure : .success, of: permit, took: .milliseconds(5), at: now)
    return 1
  }
}

for (name, rule) in [
  ("budget, tokens", RetryBudget.Rule.aws), ("budget, ratio", .finagle), ("budget, concurrent", .envoy),
] {
  var budget = RetryBudget(rule)
  var now = start
  measure(name, count: 1_000_000) { _ in
    now = now + .microseconds(100)
    budget.begin(at: now)
    budget.end(.failure, at: now)
    guard let withdrawal = budget.withdraw(for: .transient, at: now) else { return 0 }
    budget.end(.success, of: withdrawal, at: now)
    return 1
  }
}

var limiter = RateLimiter(permits: 1000, burst: 10)
var limiterTime = start
measure("rate limiter", count: 1_000_000) { _ in
  limiterTime = limiterTime + .microseconds(500)
  if case .permitted = limiter.acquire(at: limiterTime) { return 1 } else { return 0 }
}

var pace = AdaptivePace()
var paceTime = start
measure("adaptive pace", count: 1_000_000) { index in
  paceTime = paceTime + .microseconds(500)
  guard pace.wait(at: paceTime) == nil else { return 0 }
  pace.end(pace.start(at: paceTime), index % 300 == 0 ? .refused : .delivered(after: .milliseconds(5)), at: paceTime)
  return 1
}

measure("plan, 10 attempts in closed form", count: 20) { index in
  RetryPolicy(maxAttempts: 10).plan(seed: UInt64(index)).attempts.count
}
measure("plan, 25 attempts, sampled", count: 20) { index in
  RetryPolicy(maxAttempts: 25).plan(seed: UInt64(index)).attempts.count
}
