import RedialCore
import Testing

@Suite("Breakers: how many probes, and clocks that step back")
struct ProbeTests {
  private static let start = Timestamp(microseconds: 1_790_000_000_000_000)

  /// A breaker that has just become half-open, and how many probes it then lets through at once.
  private func halfOpen(_ settings: CircuitBreakerSettings) -> (CircuitBreaker, [CircuitBreaker.Permit], Timestamp) {
    var breaker = CircuitBreaker(settings: settings)
    breaker.trip(at: Self.start)
    let now = Self.start + settings.openInterval
    var permits: [CircuitBreaker.Permit] = []
    while permits.count < 2000, case .permitted(let permit) = breaker.acquire(at: now) { permits.append(permit) }
    return (breaker, permits, now)
  }

  @Test("resilience4j's preset lets ten probes through, and no eleventh, whatever their results")
  func resilience4j() {
    for successes in 0...9 {
      var (breaker, permits, now) = halfOpen(.resilience4j)
      #expect(permits.count == 10)
      // Six successes close it, five failures open it: one of the two happens by the tenth.
      for (index, permit) in permits.enumerated() {
        #expect(!breaker.admits(at: now), "after \(index) of ten")
        breaker.record(index < successes ? .success : .failure, of: permit, at: now)
        guard case .halfOpen = breaker.state else { break }
      }
      #expect((breaker.state == .closed) == (successes >= 6), "\(successes) successes")
    }
  }

  @Test(
    "as many probes go at a time as halfOpenProbes says, also where fewer successes close it",
    arguments: [(10, 3, 0), (4, 3, 1), (2, 1, 0), (1, 5, 0), (7, nil, 2)] as [(Int, Int?, Int)])
  func atATime(probes: Int, successes: Int?, failures: Int) {
    let settings = CircuitBreakerSettings(
      halfOpenProbes: probes, successesToClose: successes, halfOpenFailuresAllowed: failures)
    #expect(halfOpen(settings).1.count == probes)
  }

  @Test("a half-open breaker with nothing in flight always lets a probe through")
  func neverStuck() {
    for seed in UInt64(0)..<500 {
      var random = RandomSource(seed: seed)
      func pick(_ count: UInt64) -> Int { Int(random.next() % count) }
      let settings = CircuitBreakerSettings(
        halfOpenProbes: 1 + pick(5), successesToClose: pick(2) == 0 ? nil : 1 + pick(8),
        halfOpenFailuresAllowed: pick(6))
      var breaker = CircuitBreaker(settings: settings)
      breaker.trip(at: Self.start)
      let now = Self.start + settings.openInterval
      for _ in 0..<20 {
        guard case .permitted(let permit) = breaker.acquire(at: now) else {
          Issue.record("seed \(seed): stuck in \(breaker.state)")
          break
        }
        breaker.record(pick(3) == 0 ? .success : pick(2) == 0 ? .failure : .ignored, of: permit, at: now)
        guard case .halfOpen = breaker.state else { break }
      }
    }
  }

  @Test("absurd numbers do not trap")
  func hostile() {
    let numbers = [Int.min, -1, 0, 1, Int.max]
    for probes in numbers {
      for successes in numbers {
        for failures in numbers {
          let settings = CircuitBreakerSettings(
            consecutiveFailures: failures, halfOpenProbes: probes, successesToClose: successes,
            halfOpenFailuresAllowed: failures)
          var breaker = CircuitBreaker(settings: settings, openUntil: Self.start, trips: probes)
          for _ in 0..<3 {
            guard case .permitted(let permit) = breaker.acquire(at: Self.start) else { break }
            breaker.record(.failure, of: permit, at: Self.start)
          }
          breaker.trip(at: Self.start)
        }
      }
    }
  }

  @Test("a clock that steps back does not keep a breaker open until its old time")
  func openAndBack() {
    var breaker = CircuitBreaker(settings: CircuitBreakerSettings(openInterval: .seconds(5)))
    breaker.trip(at: Self.start)
    let earlier = Self.start + .seconds(-86_400)
    #expect(breaker.acquire(at: earlier) == .rejected(until: earlier + .seconds(5)))
    #expect(breaker.acquire(at: earlier + .seconds(4)) == .rejected(until: earlier + .seconds(5)))
    guard case .permitted = breaker.acquire(at: earlier + .seconds(5)) else {
      Issue.record("still \(breaker.state) after its interval")
      return
    }
    // One that was open when its process ended knows the time from when it was first looked at.
    var restored = CircuitBreaker(
      settings: CircuitBreakerSettings(), openUntil: Self.start + .seconds(60), trips: 3)
    #expect(restored.acquire(at: Self.start) == .rejected(until: Self.start + .seconds(60)))
    #expect(restored.acquire(at: earlier) == .rejected(until: earlier + .seconds(60)))
  }

  @Test("times that are slightly out of order change little")
  func outOfOrder() {
    var breaker = CircuitBreaker(settings: CircuitBreakerSettings(openInterval: .seconds(5)))
    breaker.trip(at: Self.start)
    for step in 0..<10_000 { _ = breaker.acquire(at: Self.start + .microseconds(step.isMultiple(of: 2) ? 500 : -50)) }
    #expect(breaker.acquire(at: Self.start) == .rejected(until: Self.start + .microseconds(4_999_950)))
  }

  @Test("a clock that steps back does not keep the places of probes that never return")
  func halfOpenAndBack() {
    var (breaker, permits, _) = halfOpen(CircuitBreakerSettings(probeTimeout: .seconds(120)))
    #expect(permits.count == 1)
    let earlier = Self.start + .seconds(-86_400)
    #expect(breaker.acquire(at: earlier) == .rejected(until: earlier + .seconds(120)))
    breaker.advance(to: earlier + .seconds(120))
    guard case .open = breaker.state else {
      Issue.record("still \(breaker.state) after the probes' time")
      return
    }
  }

  @Test("a slow start whose clock has stepped back far gives the full load")
  func slowStart() {
    var ramp = SlowStart(duration: .seconds(30))
    ramp.start(at: Self.start)
    #expect(ramp.share(at: Self.start + .seconds(-1)) == 0.1)
    #expect(ramp.share(at: Self.start + .seconds(-3600)) == 1)
  }
}
