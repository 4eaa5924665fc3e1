/// How often memory has been asked for; see support.c.
@_extern(c, "allocations") func allocations() -> UInt32

extension Checks {
  /// What is decided for each attempt allocates nothing, as its documentation says.
  static func memory() {
    var random = RandomSource(seed: 1)
    let policy = RetryPolicy.service
    let throttled = RetryPolicy(retryAfter: RetryAfterRule(beyond: .clamp, spread: 0.1))
    var breaker = CircuitBreaker(settings: .resilience4j)
    var timed = CircuitBreaker()
    var budget = RetryBudget(.finagle)
    var limiter = RateLimiter(permits: 100, burst: 10)
    var pace = AdaptivePace()
    var time = now
    let before = allocations()
    for attempt in 1...1000 {
      time = time + .milliseconds(5)
      let end = AttemptEnd(outcome: .answered, status: 503, attempts: attempt % 50, startedAt: time)
      _ = policy.decide(end, at: time, using: &random)
      var asked = end
      asked.retryAfter = .seconds(attempt)
      _ = throttled.decide(asked, at: time, using: &random)
      let result: CircuitBreaker.Result = attempt % 2 == 0 ? .success : .failure
      if case .permitted(let permit) = breaker.acquire(at: time) { breaker.record(result, of: permit, at: time) }
      if case .permitted(let permit) = timed.acquire(at: time) { timed.record(result, of: permit, at: time) }
      budget.begin(at: time)
      budget.end(.failure, of: budget.withdraw(for: .transient, at: time), at: time)
      _ = limiter.acquire(at: time)
      _ = limiter.reserve(at: time, within: .seconds(1))
      if pace.wait(at: time) == nil {
        pace.end(pace.start(at: time), attempt % 3 == 0 ? .refused : .delivered(after: .milliseconds(3)), at: time)
      }
    }
    expect(allocations() == before)
  }
}
