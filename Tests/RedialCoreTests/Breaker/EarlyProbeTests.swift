@testable import RedialCore
import Testing

@Suite("Probes of calls that tell more")
struct EarlyProbeTests {
  private static let settings = CircuitBreakerSettings(
    consecutiveFailures: 2, significance: 1, openInterval: .seconds(10), openMultiplier: 2)
  private let start = Timestamp(microseconds: 1_000_000_000)

  /// A breaker that has opened at the start.
  private func open(_ settings: CircuitBreakerSettings = settings) -> CircuitBreaker {
    var breaker = CircuitBreaker(settings: settings)
    for call in 0..<2 { fail(&breaker, UInt64(call), at: start) }
    return breaker
  }

  private func fail(_ breaker: inout CircuitBreaker, _ call: UInt64, at now: Timestamp) {
    if case .permitted(let permit) = breaker.acquire(at: now) {
      breaker.record(.failure, of: permit, call: call, at: now)
    }
  }

  private func permit(_ admission: CircuitBreaker.Admission) -> CircuitBreaker.Permit? {
    if case .permitted(let permit) = admission { permit } else { nil }
  }

  @Test("one does not wait for the interval, and its success closes the breaker")
  func success() throws {
    var breaker = open()
    #expect(permit(breaker.acquire(at: start)) == nil)
    let early = try #require(permit(breaker.acquireEarly(at: start)))
    #expect(early.isProbe)
    breaker.record(.success, of: early, at: start + .milliseconds(1))
    #expect(breaker.state == .closed)
  }

  @Test("one that fails changes neither the interval nor its growth, and the next begins half a second after it")
  func failure() throws {
    var breaker = open()
    let before = breaker.state
    var begun = 0
    for step in 0..<95 {
      let now = start + .milliseconds(100 * step)
      guard let early = permit(breaker.acquireEarly(at: now)) else { continue }
      begun += 1
      breaker.record(.failure, of: early, at: now)
    }
    #expect(begun == 19 && breaker.state == before)
    // The probe at the end of the interval is not beside it.
    let end = start + .milliseconds(9900)
    let last = try #require(permit(breaker.acquireEarly(at: end)))
    breaker.record(.failure, of: last, at: end)
    #expect(breaker.acquire(at: start + .seconds(10)) == .rejected(until: end + .milliseconds(500)))
    let usual = try #require(permit(breaker.acquire(at: end + .milliseconds(500))))
    breaker.record(.failure, of: usual, at: end + .milliseconds(500))
    #expect(breaker.state == .open(until: end + .milliseconds(500) + .seconds(20), trips: 2))
  }

  // With a path that hangs, a breaker was half-open for as long as its attempt took, and nothing else was sent.
  @Test("a probe that gets no answer keeps others from going beside it for two seconds, and these end the outage")
  func beside() throws {
    var breaker = open()
    let end = start + .seconds(10)
    #expect(permit(breaker.acquireBeside(at: end)) != nil)
    #expect(!breaker.admitsBeside(at: end + .milliseconds(1999)))
    #expect(breaker.acquireBeside(at: end + .seconds(1)) == .rejected(until: end + .seconds(2)))
    #expect(!breaker.admits(at: end + .seconds(3)) && permit(breaker.acquire(at: end + .seconds(3))) == nil)
    let failing = try #require(permit(breaker.acquireBeside(at: end + .seconds(3))))
    breaker.record(.failure, of: failing, at: end + .seconds(3))
    guard case .halfOpen = breaker.state else { return #expect(Bool(false), "\(breaker.state)") }
    #expect(permit(breaker.acquireBeside(at: end + .milliseconds(4999))) == nil)
    let other = try #require(permit(breaker.acquireBeside(at: end + .seconds(5))))
    breaker.record(.success, of: other, at: end + .milliseconds(5001))
    #expect(breaker.state == .closed)
  }

  @Test("while one is in flight no other begins for two seconds, and no more than sixteen are in flight")
  func hanging() {
    var breaker = open()
    var begun: [Duration] = []
    for step in 0..<1000 {
      let now = start + .milliseconds(100 * step)
      if case .permitted(let early) = breaker.acquireEarly(at: now), early.isEarly { begun.append(now - start) }
    }
    #expect(zip(begun.dropFirst(), begun).allSatisfy { $0 - $1 >= .seconds(2) })
    #expect(begun.count == EarlyProbes.most)
  }

  @Test("its success counts before the time is over of a probe that hangs")
  func besideOneThatHangs() throws {
    var settings = Self.settings
    settings.halfOpenProbes = 3
    settings.probeTimeout = .seconds(60)
    var breaker = open(settings)
    let end = start + .seconds(10)
    _ = try #require(permit(breaker.acquire(at: end)))
    for _ in 0..<2 {
      let usual = try #require(permit(breaker.acquire(at: end)))
      breaker.record(.success, of: usual, at: end)
    }
    let early = try #require(permit(breaker.acquireEarly(at: end + .seconds(59))))
    #expect(early.isEarly)
    breaker.record(.success, of: early, at: end + .seconds(61))
    #expect(breaker.state == .closed)
  }

  @Test("what began before an outage does not say that it is over")
  func older() throws {
    var breaker = open()
    let early = try #require(permit(breaker.acquireEarly(at: start)))
    let other = try #require(permit(breaker.acquireEarly(at: start + .seconds(3))))
    breaker.record(.success, of: other, at: start + .seconds(3))
    for call in 0..<2 { fail(&breaker, UInt64(call), at: start + .seconds(4)) }
    let state = breaker.state
    breaker.record(.success, of: early, at: start + .seconds(5))
    #expect(breaker.state == state && state != .closed)
  }

  @Test("it counts as one of the successes that are needed")
  func several() throws {
    var settings = Self.settings
    (settings.halfOpenProbes, settings.successesToClose) = (2, 2)
    var breaker = open(settings)
    for step in 0..<2 {
      let now = start + .seconds(step)
      let early = try #require(permit(breaker.acquireEarly(at: now)))
      #expect(breaker.state != .closed)
      breaker.record(.success, of: early, at: now)
    }
    #expect(breaker.state == .closed)
  }

  @Test("settings by which it would not have opened close a breaker, others give it their interval")
  func change() {
    func after(_ change: (inout CircuitBreakerSettings) -> Void) -> CircuitBreaker.State {
      var breaker = open()
      breaker.advance(to: start)
      var settings = Self.settings
      change(&settings)
      breaker.change(to: settings)
      return breaker.state
    }
    #expect(after { $0.consecutiveFailures = 0 } == .closed)
    #expect(after { $0.consecutiveFailures = 3 } == .closed)
    #expect(after { $0.failureTime = .seconds(1) } == .closed)
    #expect(after { $0.consecutiveFailures = 1 } == .open(until: start + .seconds(10), trips: 1))
    #expect(after { $0.openInterval = .seconds(2) } == .open(until: start + .seconds(2), trips: 1))
  }
}
