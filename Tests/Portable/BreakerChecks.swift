extension Checks {
  static func breakers() {
    daysOfClock()
    ratesAndIntervals()
    hostileBreakers()
  }

  /// A breaker by its defaults, over a week: 32 bits of microseconds end after 35 minutes.
  private static func daysOfClock() {
    var breaker = CircuitBreaker()
    var time = Timestamp.epoch
    for _ in 0..<10_080 {
      time = time + .seconds(60)
      guard case .permitted(let permit) = breaker.acquire(at: time) else { return expect(false) }
      breaker.record(.success, of: permit, took: .milliseconds(20), at: time)
    }
    expect(breaker.counts(at: time).total == 1 && breaker.state == .closed)
    for _ in 0..<10 {
      guard case .permitted(let permit) = breaker.acquire(at: time) else { return expect(false) }
      breaker.record(.failure, of: permit, at: time)
    }
    expect(breaker.acquire(at: time) == .rejected(until: time + .seconds(5)))
    guard case .permitted(let probe) = breaker.acquire(at: time + .seconds(5)) else { return expect(false) }
    breaker.record(.success, of: probe, at: time + .seconds(6))
    expect(breaker.state == .closed)
  }

  private static func ratesAndIntervals() {
    // A day's window, full: the sum of its buckets is beyond 32 bits of microseconds, not of calls.
    var settings = CircuitBreakerSettings(
      consecutiveFailures: 0, failureRate: 0.5, window: .time(.seconds(86_400)), minimumCalls: 1000)
    var breaker = CircuitBreaker(settings: settings)
    for call in 0..<1000 {
      guard case .permitted(let permit) = breaker.acquire(at: now) else { return expect(false) }
      breaker.record(call < 500 ? .success : .failure, of: permit, at: now)
    }
    expect(breaker.counts(at: now).failures == 500)
    guard case .open = breaker.state else { return expect(false) }
    // The open interval doubles up to its maximum, forever.
    settings = CircuitBreakerSettings(consecutiveFailures: 1)
    breaker = CircuitBreaker(settings: settings)
    var time = now
    for _ in 0..<100 {
      guard case .permitted(let permit) = breaker.acquire(at: time) else { return expect(false) }
      breaker.record(.failure, of: permit, at: time)
      guard case .open(let until, _) = breaker.state else { return expect(false) }
      expect(until - time <= .seconds(60))
      time = until
    }
    var probes = 0
    breaker = CircuitBreaker(settings: .resilience4j)
    breaker.trip(at: now)
    while probes < 20, case .permitted = breaker.acquire(at: now + .seconds(60)) { probes += 1 }
    expect(probes == 10)
  }

  private static func hostileBreakers() {
    for integer in integers {
      for span in spans {
        for other in [0, Int.max] {
          let settings = CircuitBreakerSettings(
            consecutiveFailures: other, failureRate: 0.5, slowCallRate: 0.5, slowCallDuration: span,
            window: .time(span), minimumCalls: integer, openInterval: span, openMultiplier: 1e30,
            maximumOpenInterval: span, openJitter: 2, halfOpenProbes: integer, successesToClose: integer,
            halfOpenFailuresAllowed: integer, probeTimeout: span, permitLease: span)
          var breaker = CircuitBreaker(settings: settings, openUntil: now, trips: integer)
          for time in times {
            if case .permitted(let permit) = breaker.acquire(at: time) {
              breaker.record(.failure, of: permit, took: span, at: time)
            }
            breaker.trip(at: time)
          }
        }
      }
    }
    var window = SlidingWindow(.calls(.max))
    for _ in 0..<100_001 { window.record(isFailure: true, isSlow: true, at: now) }
    expect(window.counts(at: now).total == CircuitBreakerSettings.largestWindow)
  }
}
