@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Breakers")
struct BreakerTests {
  /// A target whose breaker has just opened for five seconds, after two calls failed.
  private func tripped(_ settings: EngineSettings = .tripsAfterTwo(), waitingFor wait: Int = 20) -> EngineProbe {
    var probe = EngineProbe(settings)
    let ids = (0..<2).map { _ in probe.submit() }
    for id in ids { probe.end(id, status: 502, head: "Retry-After: \(wait)\r\n") }
    return probe
  }

  private func state(_ probe: inout EngineProbe) -> TargetSnapshot.BreakerState? {
    probe.report()?.targets.first { $0.key == EngineProbe.target }?.breaker
  }

  @Test("failures in a row open it, which is on disk and told")
  func opens() {
    var probe = tripped()
    let until = probe.now + .seconds(5)
    #expect(
      probe.notices.first
        == .breakerOpened(target: EngineProbe.target, until: until, trips: 1, failures: 2, usualShare: 0))
    #expect(state(&probe) == .open)
    #expect(probe.stored(of: EngineProbe.target)?.breaker == OpenBreaker(until: until, trips: 1))
  }

  @Test("a call for an open breaker is accepted and parked, without being charged an attempt")
  func parks() {
    var probe = tripped()
    let id = probe.submit()
    #expect(probe.progress(id)?.waiting == .breaker)
    probe.advance(.milliseconds(4999))
    #expect(probe.starts(of: id) == 0)
    #expect(probe.progress(id)?.attempts == 0)
  }

  @Test("a half-open breaker lets exactly its permitted probes through", arguments: 1...3)
  func halfOpen(probes: Int) {
    var probe = tripped(.tripsAfterTwo(probes: probes))
    for _ in 0..<5 { probe.submit() }
    let before = probe.starts.count
    probe.advance(.seconds(5))
    #expect(probe.starts.count - before == probes)
    probe.advance(.seconds(1))
    #expect(probe.starts.count - before == probes)
    #expect(state(&probe) == .halfOpen)
  }

  @Test("a probe that succeeds closes it and releases the parked calls, in order")
  func closes() {
    var settings = EngineSettings.tripsAfterTwo()
    settings.target.pace = .fixed
    var probe = tripped(settings)
    let ids = (0..<4).map { _ in probe.submit() }
    probe.advance(.seconds(5))
    #expect(probe.starts.last?.call.id == ids[0])
    probe.end(ids[0], status: 200)
    #expect(state(&probe) == .closed)
    #expect(probe.starts.suffix(4).map(\.call.id) == ids)
    #expect(probe.stored(of: EngineProbe.target)?.breaker == .some(nil))
  }

  @Test("a probe that fails opens it for longer")
  func opensAgain() {
    var probe = tripped()
    let id = probe.submit()
    probe.advance(.seconds(5))
    probe.end(id, status: 502, head: "Retry-After: 1\r\n")
    let until = probe.now + .seconds(10)
    #expect(
      probe.notices.last
        == .breakerOpened(target: EngineProbe.target, until: until, trips: 2, failures: 2, usualShare: 0))
    probe.advance(.milliseconds(9999))
    #expect(probe.starts(of: id) == 1)
    probe.advance(.milliseconds(1))
    #expect(probe.starts(of: id) == 2)
  }

  @Test("a probe that says nothing about the target makes room for another")
  func ignoredProbe() {
    var probe = tripped()
    let ids = (0..<2).map { _ in probe.submit() }
    probe.advance(.seconds(5))
    probe.end(ids[0], .localFault)
    #expect(probe.starts.last?.call.id == ids[1])
    #expect(state(&probe) == .halfOpen)
  }

  @Test("a fault of this side in the middle of a request that may not be made twice ends its call, and blames nobody")
  func faultInTheMiddle() throws {
    var unsafe = RetryPolicy.test
    unsafe.retryOn = .nonIdempotent
    for (policy, phase, isRetried) in [
      (unsafe, ExchangeFigures.Phase.request, false), (unsafe, .connect, true), (.test, .request, true),
    ] {
      var probe = EngineProbe()
      let id = probe.submit(policy)
      let start = try #require(probe.starts.last)
      var result = AttemptResult(outcome: .localFault, duration: .seconds(1))
      result.failure = AttemptFailure(code: "bodyUnreadable", message: "")
      result.figures = ExchangeFigures(phase: phase)
      probe.hear(.attemptEnded(id, number: start.number, result))
      probe.commit()
      #expect((probe.progress(id)?.failure == .notRetryable) == !isRetried, "\(phase)")
      probe.advance(.seconds(3600))
      #expect(probe.starts(of: id) == (isRetried ? 2 : 1), "\(phase)")
      #expect(!probe.notices.contains { if case .breakerOpened = $0 { true } else { false } })
    }
  }

  @Test("a call that is not to wait for a breaker ends as tripped when it comes to an open one")
  func tripsOnArrival() {
    var probe = tripped()
    let id = probe.submit(.tripping, callback: true)
    #expect(probe.progress(id)?.failure == .tripped)
    #expect(probe.progress(id)?.attempts == 0)
    #expect(String(decoding: probe.webhooks[0].body, as: UTF8.self).contains("call.tripped"))
  }

  @Test("calls that are not to wait end as tripped when the breaker opens above them, and the others go on waiting")
  func tripsWaiting() {
    var settings = EngineSettings.tripsAfterTwo()
    settings.target.maxInFlight = 2
    settings.target.pace = .fixed
    var probe = EngineProbe(settings)
    let running = (0..<2).map { _ in probe.submit() }
    let tripping = probe.submit(.tripping)
    let patient = probe.submit()
    probe.end(running[0], status: 200)
    #expect(probe.starts(of: tripping) == 1)
    let second = probe.submit(.tripping)
    probe.end(tripping, status: 503, thenCommit: false)
    probe.end(running[1], status: 503)
    #expect(probe.progress(tripping)?.failure == nil)
    #expect(probe.progress(second)?.failure == .tripped)
    #expect(probe.state(patient) == .running)
  }

  @Test("a breaker that was open when the process ended is open in the next one")
  func recovers() {
    let until = Timestamp(microseconds: 1_796_083_205_000_000)
    var probe = EngineProbe(
      .tripsAfterTwo(),
      recovered: RecoveredState(
        targets: [(EngineProbe.target, TargetRecord(breaker: OpenBreaker(until: until, trips: 3)))]))
    let id = probe.submit()
    probe.advance(.milliseconds(4999))
    #expect(probe.starts(of: id) == 0)
    probe.advance(.milliseconds(1))
    #expect(probe.starts(of: id) == 1)
  }

  @Test("one target's open breaker stops no other target")
  func otherTargets() {
    var probe = tripped()
    let other = probe.submit(to: "http://other.example")
    #expect(probe.starts(of: other) == 1)
  }
}
