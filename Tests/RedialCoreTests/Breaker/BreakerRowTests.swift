import RedialCore
import Testing

/// The breaker's transition table, cell by cell, and what it adds to those of the field.
@Suite("Breakers: rows, leases, rates and operators")
struct BreakerRowTests {
  private typealias Breaker = CircuitBreaker
  private static let start = Timestamp(microseconds: 1_790_000_000_000_000)

  private func permit(_ breaker: inout Breaker, at now: Timestamp) throws -> Breaker.Permit {
    guard case .permitted(let permit) = breaker.acquire(at: now) else { throw Refused() }
    return permit
  }

  private struct Refused: Error {}

  private func fail(_ breaker: inout Breaker, times: Int, at now: Timestamp) throws {
    for _ in 0..<times { breaker.record(.failure, of: try permit(&breaker, at: now), at: now) }
  }

  private func isOpen(_ breaker: Breaker) -> Bool { if case .open = breaker.state { true } else { false } }
  private func isHalfOpen(_ breaker: Breaker) -> Bool { if case .halfOpen = breaker.state { true } else { false } }

  @Test("opens after maxRetries + 1 failures in a row, and lets nothing through")
  func c3() throws {
    var breaker = Breaker(settings: .fe9lix)
    try fail(&breaker, times: 2, at: Self.start)
    #expect(breaker.consecutiveFailures == 2 && breaker.state == .closed)
    try fail(&breaker, times: 1, at: Self.start)
    #expect(breaker.consecutiveFailures == 3 && isOpen(breaker))
    #expect(breaker.acquire(at: Self.start) == .rejected(until: Self.start + .seconds(10)))
  }

  @Test(
    "is half-open after the reset timeout: one probe passes, its success closes the breaker, its failure opens it again"
  )
  func c4() throws {
    for success in [true, false] {
      var breaker = Breaker(settings: .fe9lix)
      try fail(&breaker, times: 3, at: Self.start)
      let later = Self.start + .seconds(10)
      let probe = try permit(&breaker, at: later)
      #expect(isHalfOpen(breaker) && probe.isProbe && !breaker.admits(at: later))
      breaker.record(success ? .success : .failure, of: probe, at: later)
      #expect(breaker.state == (success ? .closed : .open(until: later + .seconds(10), trips: 2)))
      #expect(breaker.consecutiveFailures == (success ? 0 : 3))
    }
  }

  @Test("ignores the late report of a call that has timed out")
  func c2() throws {
    var settings = CircuitBreakerSettings.fe9lix
    settings.permitLease = .seconds(10)
    var breaker = Breaker(settings: settings)
    let slow = try permit(&breaker, at: Self.start)
    let late = Self.start + .microseconds(10_000_001)
    let before = breaker
    breaker.record(.failure, of: slow, at: late)
    #expect(breaker == before)
    try fail(&breaker, times: 2, at: late)
    breaker.record(.success, of: slow, at: late)
    #expect(breaker.consecutiveFailures == 2)
  }

  @Test("a probe whose lease has ended gives its place back, and its result changes nothing")
  func leases() throws {
    var settings = CircuitBreakerSettings.fe9lix
    settings.permitLease = .seconds(3)
    var breaker = Breaker(settings: settings)
    try fail(&breaker, times: 3, at: Self.start)
    let opened = Self.start + .seconds(10)
    let lost = try permit(&breaker, at: opened)
    #expect(!breaker.admits(at: opened + .milliseconds(2999)))
    let next = try permit(&breaker, at: opened + .seconds(3))
    breaker.record(.failure, of: lost, at: opened + .seconds(3))
    #expect(isHalfOpen(breaker))
    // The place has been taken by another: a second report of the first must not pass for its own.
    breaker.record(.success, of: next, at: opened + .seconds(4))
    #expect(breaker.state == .closed)
  }

  @Test("reporting a probe twice counts once")
  func twice() throws {
    var settings = CircuitBreakerSettings.fe9lix
    settings.halfOpenProbes = 1
    settings.successesToClose = 2
    var breaker = Breaker(settings: settings)
    try fail(&breaker, times: 3, at: Self.start)
    let later = Self.start + .seconds(10)
    let probe = try permit(&breaker, at: later)
    breaker.record(.success, of: probe, at: later)
    let other = try permit(&breaker, at: later)
    breaker.record(.success, of: probe, at: later)
    #expect(isHalfOpen(breaker), "one success so far")
    breaker.record(.success, of: other, at: later)
    #expect(breaker.state == .closed)
  }

  @Test("half-open may need several successes, and allow some failures")
  func severalProbes() throws {
    var settings = CircuitBreakerSettings.fe9lix
    settings.halfOpenProbes = 4
    settings.successesToClose = 3
    settings.halfOpenFailuresAllowed = 1
    var breaker = Breaker(settings: settings)
    try fail(&breaker, times: 3, at: Self.start)
    let later = Self.start + .seconds(10)
    let probes = try (0..<4).map { _ in try permit(&breaker, at: later) }
    #expect(!breaker.admits(at: later), "as many as the settings say")
    breaker.record(.failure, of: probes[0], at: later)
    #expect(isHalfOpen(breaker) && !breaker.admits(at: later), "the three under way can decide")
    breaker.record(.success, of: probes[1], at: later)
    breaker.record(.failure, of: probes[2], at: later)
    #expect(isOpen(breaker))
  }

  @Test("a share of slow calls opens it, although every call succeeds; a slow probe does not close it")
  func slow() throws {
    let settings = CircuitBreakerSettings(
      consecutiveFailures: 0, failureRate: 2, slowCallRate: 0.5, slowCallDuration: .seconds(1), window: .calls(4),
      minimumCalls: 4, openInterval: .seconds(5))
    var breaker = Breaker(settings: settings)
    for milliseconds in [1000, 1001, 5, 2000] {
      #expect(breaker.state == .closed)
      breaker.record(
        .success, of: try permit(&breaker, at: Self.start), took: .milliseconds(milliseconds), at: Self.start)
    }
    #expect(isOpen(breaker) && breaker.counts(at: Self.start).slow == 2)
    let later = Self.start + .seconds(5)
    breaker.record(.success, of: try permit(&breaker, at: later), took: .seconds(2), at: later)
    #expect(isOpen(breaker))
  }

  @Test("a window of calls forgets the oldest, whatever its time")
  func calls() throws {
    let settings = CircuitBreakerSettings(
      consecutiveFailures: 0, failureRate: 0.5, window: .calls(4), minimumCalls: 4)
    var breaker = Breaker(settings: settings)
    try fail(&breaker, times: 1, at: Self.start)
    let much = Self.start + .seconds(1_000_000)
    for _ in 0..<4 { breaker.record(.success, of: try permit(&breaker, at: much), at: much) }
    try fail(&breaker, times: 1, at: much)
    #expect(breaker.state == .closed)
    try fail(&breaker, times: 1, at: much)
    #expect(isOpen(breaker))
  }

  @Test("open intervals grow, are jittered by the breaker's seed, and stay below their maximum")
  func intervals() throws {
    let settings = CircuitBreakerSettings(
      consecutiveFailures: 1, openInterval: .seconds(10), maximumOpenInterval: .seconds(60), openJitter: 0.2)
    var firsts: Set<Duration> = []
    for seed in UInt64(0)..<50 {
      var breaker = Breaker(settings: settings, seed: seed)
      var now = Self.start
      for trip in 0..<8 {
        try fail(&breaker, times: 1, at: now)
        guard case .open(let until, let trips) = breaker.state else { throw Refused() }
        let base = min(10 * Double(1 << trip), 50)
        let length = (until - now).inSeconds
        #expect(length >= base * 0.8 - 0.001 && length <= min(60, base * 1.2) + 0.001, "seed \(seed), trip \(trips)")
        if trip == 0 { firsts.insert(until - now) }
        now = until
      }
    }
    #expect(firsts.count > 45)
  }

  @Test("a probe that begins late in half-open has its full time, and its success counts")
  func lateProbe() throws {
    var settings = CircuitBreakerSettings.fe9lix
    settings.successesToClose = 2
    settings.probeTimeout = .seconds(120)
    var breaker = Breaker(settings: settings)
    try fail(&breaker, times: 3, at: Self.start)
    let opened = Self.start + .seconds(10)
    breaker.advance(to: opened)
    for late in [Duration.seconds(1), .seconds(119)] {
      let probe = try permit(&breaker, at: opened + late)
      breaker.record(.success, of: probe, at: opened + late + .seconds(2))
    }
    #expect(breaker.state == .closed)
  }

  @Test("a trip never shortens the time of a breaker that is open")
  func tripOpen() throws {
    var breaker = Breaker(settings: CircuitBreakerSettings(consecutiveFailures: 1, openInterval: .seconds(5)))
    var now = Self.start
    for _ in 0..<4 {
      try fail(&breaker, times: 1, at: now)
      guard case .open(let until, _) = breaker.state else { throw Refused() }
      now = until
    }
    try fail(&breaker, times: 1, at: now)
    let before = breaker
    breaker.trip(at: now)
    #expect(breaker == before)
  }

  @Test("the number of probes is limited, whatever the settings")
  func probeBound() throws {
    var settings = CircuitBreakerSettings.fe9lix
    settings.halfOpenProbes = .max
    var breaker = Breaker(settings: settings)
    try fail(&breaker, times: 3, at: Self.start)
    let later = Self.start + .seconds(10)
    for _ in 0..<CircuitBreakerSettings.mostProbes { _ = try permit(&breaker, at: later) }
    #expect(!breaker.admits(at: later))
  }

  @Test("an operator can force it open, closed, disabled or watching, until it is reset")
  func forced() throws {
    for forced in CircuitBreaker.Forced.allCases {
      var breaker = Breaker(settings: .fe9lix)
      let early = try permit(&breaker, at: Self.start)
      breaker.force(forced)
      breaker.record(.failure, of: early, at: Self.start)
      let much = Self.start + .seconds(10_000_000)
      if forced == .open {
        #expect(breaker.acquire(at: much) == .rejected(until: .distantFuture) && !breaker.admits(at: much))
      } else {
        try fail(&breaker, times: 50, at: much)
        #expect(breaker.admits(at: much))
      }
      breaker.trip(at: much)
      #expect(breaker.state == .forced(forced))
      #expect(breaker.counts(at: much).failures == (forced == .metricsOnly ? 50 : 0))
      breaker.reset()
      #expect(breaker.state == .closed && breaker.consecutiveFailures == 0 && breaker.counts(at: much).total == 0)
    }
    var breaker = Breaker(settings: .fe9lix)
    breaker.trip(at: Self.start)
    #expect(isOpen(breaker))
  }

  static let openings: [(name: String, settings: CircuitBreakerSettings, failures: Int, successes: Int)] = [
    ("gobreaker: more than 5 in a row", .gobreaker, 6, 0), ("Hystrix: half of 20", .hystrix, 10, 10),
    ("Polly: a tenth of 100", .polly, 10, 90), ("resilience4j: half of 100", .resilience4j, 50, 50),
    ("CircuitBreaker: 3 in a row", .fe9lix, 3, 0),
  ]

  @Test("a preset opens as its documentation says", arguments: openings)
  func presets(name: String, settings: CircuitBreakerSettings, failures: Int, successes: Int) throws {
    var breaker = Breaker(settings: settings)
    for _ in 0..<successes { breaker.record(.success, of: try permit(&breaker, at: Self.start), at: Self.start) }
    try fail(&breaker, times: failures - 1, at: Self.start)
    #expect(breaker.state == .closed)
    try fail(&breaker, times: 1, at: Self.start)
    #expect(isOpen(breaker))
  }

  @Test("over seeds: permits and results in any order keep probes within their number, and leave nothing stuck")
  func interleavings() throws {
    for seed in UInt64(0)..<1000 {
      var random = RandomSource(seed: seed)
      func pick(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
      let settings = CircuitBreakerSettings(
        consecutiveFailures: pick(4), failureRate: pick(2) == 0 ? 0.5 : 2, slowCallRate: pick(3) == 0 ? 0.5 : 2,
        slowCallDuration: .seconds(1), window: pick(2) == 0 ? .calls(1 + pick(20)) : .time(.seconds(10)),
        minimumCalls: 1 + pick(6), openInterval: .seconds(1 + pick(5)), openJitter: 0.3, halfOpenProbes: 1 + pick(4),
        successesToClose: pick(2) == 0 ? nil : 1 + pick(5), halfOpenFailuresAllowed: pick(3),
        probeTimeout: .seconds(5 + pick(20)), permitLease: .seconds(1 + pick(30)))
      var breaker = Breaker(settings: settings, seed: seed)
      var now = Self.start
      var permits: [Breaker.Permit] = []
      for _ in 0..<400 {
        switch pick(5) {
        case 0: now = now + .milliseconds(pick(3000))
        case 1, 2:
          let expected = breaker.admits(at: now)
          let admission = breaker.acquire(at: now)
          if case .permitted(let permit) = admission { permits.append(permit) }
          #expect(expected == { if case .permitted = admission { true } else { false } }(), "seed \(seed)")
        default:
          guard !permits.isEmpty else { continue }
          // Some come back twice.
          let permit = pick(4) == 0 ? permits[pick(permits.count)] : permits.remove(at: pick(permits.count))
          let generation = breaker.generation
          breaker.record(
            [.success, .failure, .ignored][pick(3)], of: permit, took: .milliseconds(pick(2000)), at: now)
          if permit.generation != generation, breaker.generation != generation {
            // Only time may have moved it.
            #expect(breaker.state != .closed, "seed \(seed)")
          }
        }
        if case .halfOpen(let probing) = breaker.state {
          #expect(probing.inFlight >= 0 && probing.inFlight <= settings.halfOpenProbes, "seed \(seed)")
          #expect(probing.successes < (settings.successesToClose ?? settings.halfOpenProbes), "seed \(seed)")
        }
      }
      for _ in 0..<60 where breaker.state != .closed {
        now = now + .seconds(31)
        if case .permitted(let permit) = breaker.acquire(at: now) { breaker.record(.success, of: permit, at: now) }
      }
      #expect(breaker.state == .closed, "seed \(seed): stuck in \(breaker.state)")
    }
  }
}
