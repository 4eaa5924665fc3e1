@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Limits of a target")
struct LimitTests {
  private let target = EngineProbe.target

  /// Ends what was started first and has not ended.
  private func endOldest(_ probe: inout EngineProbe, _ ended: inout Int, status: Int = 200) {
    probe.end(probe.starts[ended].call.id, status: status)
    ended += 1
  }

  // MARK: The pace

  @Test("a call waits for the pace of its target as long as that is limited, and not when the limit was lifted")
  func pace() throws {
    var settings = EngineSettings.tripsAfterTwo()
    settings.target.maxInFlight = 2
    var probe = EngineProbe(settings)
    for _ in 0..<2 { probe.end(probe.submit(), status: 500) }
    // No outage of seconds.
    probe.advance(.seconds(6))
    for start in probe.starts.suffix(1) { probe.end(start.call.id) }
    probe.advance(.seconds(5))
    for start in probe.starts.suffix(1) { probe.end(start.call.id) }
    let waiting = (0..<5).map { _ in probe.submit(.patient()) }
    #expect(probe.wait(of: waiting[4])?.reason == .pace)
    // It says when the next call can start, and none does before.
    let (until, begun) = (try #require(probe.wait(of: waiting[4])?.until), probe.starts.count)
    #expect(until > probe.now)
    probe.advance(until - probe.now - .microseconds(1))
    #expect(probe.starts.count == begun)
    probe.advance(.microseconds(1))
    #expect(probe.starts.count == begun + 1)
    for _ in 0..<60 {
      probe.advance(.milliseconds(500))
      for id in waiting where probe.state(id) == .running { probe.end(id) }
    }
    // The limit has no effect for long enough.
    for _ in 0..<400 {
      let id = probe.submit(.patient())
      probe.advance(.milliseconds(10))
      probe.end(id)
      probe.advance(.milliseconds(990))
    }
    let later = (0..<5).map { _ in probe.submit(.patient()) }
    #expect(probe.wait(of: later[4])?.reason == .concurrency)
  }

  // MARK: Rate and concurrency

  @Test("attempts to a target begin no faster than its rate, after a burst, and those of others are not held up")
  func rate() {
    var settings = EngineSettings()
    settings.target.ratePerSecond = 10
    settings.target.rateBurst = 3
    var probe = EngineProbe(settings)
    let ids = (0..<6).map { _ in probe.submit(.patient()) }
    #expect(probe.starts.count == 3)
    probe.submit(to: "http://other.example")
    #expect(probe.starts.count == 4)
    probe.advance(.milliseconds(99))
    #expect(probe.starts.count == 4)
    probe.advance(.milliseconds(1))
    #expect(probe.starts.last?.call.id == ids[3])
    probe.advance(.milliseconds(200))
    #expect(probe.starts.suffix(2).map(\.call.id) == Array(ids[4...]))
  }

  @Test("less than one attempt a second can be asked for")
  func slowRate() {
    var settings = EngineSettings()
    settings.target.ratePerSecond = 0.1
    settings.target.rateBurst = 1
    var probe = EngineProbe(settings)
    for _ in 0..<2 { probe.submit(.patient()) }
    probe.advance(.milliseconds(9999))
    #expect(probe.starts.count == 1)
    probe.advance(.milliseconds(1))
    #expect(probe.starts.count == 2)
  }

  @Test("a changed limit on attempts in flight holds at once, for the calls that wait, too")
  func concurrency() {
    var probe = EngineProbe(EngineSettings(maxInFlightPerTarget: 1))
    for _ in 0..<5 { probe.submit(.patient()) }
    #expect(probe.starts.count == 1)
    var overrides = TargetOverrides()
    overrides.maxInFlight = 3
    probe.control(.configure(overrides))
    #expect(probe.starts.count == 3)
    overrides.maxInFlight = 1
    probe.control(.configure(overrides))
    var ended = 0
    for running in [2, 1, 1, 1] {
      endOldest(&probe, &ended)
      #expect(probe.starts.count - ended == running)
    }
  }

  @Test("targets take turns at the service's bound, however many calls each has")
  func fairness() {
    var settings = EngineSettings(maxInFlight: 2)
    settings.targetShare = 1
    var probe = EngineProbe(settings)
    for _ in 0..<20 { probe.submit(.patient(), to: "http://busy.example") }
    for name in ["a", "b"] {
      for _ in 0..<4 { probe.submit(.patient(), to: "http://\(name).example") }
    }
    var ended = 0
    while ended < 15 { endOldest(&probe, &ended) }
    let order = probe.starts[2..<14].map { $0.call.spec.target }
    for name in ["a", "b", "busy"] {
      #expect(order.count { $0 == "http://\(name).example" } == 4, "\(order)")
    }
  }

  // MARK: Retries

  private func budgeted(share: Double = 0) -> EngineProbe {
    var settings = EngineSettings()
    settings.target.retryShare = share
    settings.target.retriesPerSecond = 1
    settings.target.breaker.consecutiveFailures = 0
    settings.target.breaker.failureRate = 2
    return EngineProbe(settings)
  }

  @Test("retries beyond the budget wait for it, in no first try's way")
  func retryBudget() {
    var probe = budgeted()
    let ids = (0..<15).map { _ in probe.submit(.patient()) }
    for id in ids { probe.end(id, status: 500) }
    probe.advance(.seconds(1))
    // Ten in ten seconds.
    #expect(probe.starts.count == 25)
    let waiting = ids[12]
    #expect(probe.wait(of: waiting)?.reason == .retryBudget)
    let fresh = probe.submit(.patient())
    #expect(probe.starts(of: fresh) == 1)
    let until = probe.wait(of: waiting)?.until ?? probe.now
    probe.advance(until - probe.now - .microseconds(1))
    #expect(probe.starts(of: waiting) == 1)
    probe.advance(.microseconds(1))
    #expect(probe.starts(of: waiting) == 2)
  }

  @Test("retries are never more than the budget allows in any ten seconds")
  func retryBudgetHolds() {
    var probe = budgeted()
    for _ in 0..<40 { probe.submit(.patient()) }
    var times: [Timestamp] = []
    var ended = 0
    for _ in 0..<600 {
      while ended < probe.starts.count {
        let start = probe.starts[ended]
        if start.number > 1 { times.append(probe.now) }
        probe.end(start.call.id, status: 500)
        ended += 1
      }
      probe.advance(.milliseconds(100))
    }
    #expect(times.count > 40)
    for time in times { #expect(times.count { $0 >= time && $0 - time < .seconds(9) } <= 10) }
  }

  @Test("when all fails and no new calls come, the budget goes on with its retries per second")
  func retryBudgetWithoutFirstAttempts() {
    var probe = budgeted(share: 0.2)
    var policy = RetryPolicy.patient()
    policy.maxAttempts = 1000
    for _ in 0..<40 { probe.submit(policy) }
    var ended = 0
    var retries = 0
    for second in 0..<120 {
      while ended < probe.starts.count {
        if second >= 30 { retries += 1 }
        probe.end(probe.starts[ended].call.id, status: 500)
        ended += 1
      }
      probe.advance(.seconds(1))
    }
    #expect(retries >= 80)
  }

  @Test("an attempt that could not be written costs the budget nothing")
  func retryRefund() {
    var settings = EngineSettings()
    settings.target.retryShare = 0
    settings.target.retriesPerSecond = 1
    var probe = EngineProbe(settings)
    var policy = RetryPolicy.patient()
    policy.maxAttempts = 100
    let id = probe.submit(policy)
    // More often than the budget has retries.
    for _ in 0..<12 {
      probe.end(id, .localFault)
      probe.now = probe.now + .seconds(1)
      probe.hear()
      probe.fail()
      probe.now = probe.now + .seconds(9)
      probe.hear()
      probe.commit()
    }
    #expect(probe.starts(of: id) == 13)
  }

  @Test("retries that wait in memory for their budget do not keep first tries in the store")
  func retriesLeaveRoom() {
    var settings = EngineSettings(maxInFlightPerTarget: 1)
    settings.target.retryShare = 0
    settings.target.retriesPerSecond = 1
    settings.maxReadyPerTarget = 40
    settings.target.breaker.consecutiveFailures = 0
    settings.target.breaker.failureRate = 2
    var probe = EngineProbe(settings)
    // Ten spend the budget at once, and five are left to wait.
    var ended = 0
    for _ in 0..<15 { probe.submit(.patient()) }
    while ended < 15 { endOldest(&probe, &ended, status: 500) }
    probe.advance(.seconds(1))
    while ended < 25 { endOldest(&probe, &ended, status: 200) }
    #expect(probe.report()?.targets.first?.waiting == 5)
    probe.requests = []
    let first = CallRecord(
      id: CallID(rawValue: .max), kind: .call, spec: .test(.patient()), body: [], createdAt: probe.now,
      progress: CallProgress(state: .held, due: probe.now, waiting: .concurrency, roundStartedAt: probe.now))
    let index = probe.engine.target(target)
    probe.engine.queuedInStore(index, due: first.deadline, priority: 5)
    probe.hear()
    let isAsked = probe.requests.contains { if case .claimQueued = $0.body { true } else { false } }
    #expect(isAsked)
    probe.hear(.claimedQueued(target: target, calls: [first], complete: true))
    probe.commit()
    #expect(probe.starts.last?.call.id == first.id)
  }

  // MARK: Slow start

  @Test("a target whose breaker has closed is given its attempts step by step")
  func slowStart() {
    var settings = EngineSettings.tripsAfterTwo()
    settings.target.maxInFlight = 20
    settings.target.pace = .fixed
    settings.target.slowStart = .seconds(10)
    var probe = EngineProbe(settings)
    for id in (0..<2).map({ _ in probe.submit() }) { probe.end(id, status: 500) }
    for _ in 0..<40 { probe.submit(.patient()) }
    probe.advance(.seconds(5))
    probe.end(probe.starts.last?.call.id ?? CallID(rawValue: 0), status: 200)
    // Two that failed and a probe.
    #expect(probe.starts.count - 3 == 2)
    probe.advance(.seconds(5))
    #expect((9...11).contains(probe.starts.count - 3))
    probe.advance(.seconds(5))
    #expect(probe.starts.count - 3 == 20)
  }

  // MARK: Timeouts and deadlines

  @Test("no attempt to a target takes longer than it is allowed there, whatever the policy says")
  func attemptTimeout() {
    var probe = EngineProbe()
    var overrides = TargetOverrides()
    overrides.attemptTimeout = .seconds(2)
    probe.control(.configure(overrides))
    probe.submit()
    #expect(probe.starts.last?.timeout == .seconds(2))
  }

  @Test("a call that has waited until its deadline ends there, to the microsecond")
  func endsAtDeadline() {
    var probe = EngineProbe(EngineSettings(maxInFlightPerTarget: 1))
    probe.submit(.patient())
    let id = probe.submit()
    probe.advance(.seconds(60) - .microseconds(1))
    #expect(probe.state(id) == .held)
    probe.advance(.microseconds(1))
    #expect(probe.progress(id)?.failure == .deadlineExceeded)
    #expect(probe.progress(id)?.finishedAt == probe.record(id)?.deadline)
  }

  @Test("no attempt begins that has less time left than its policy wants")
  func minimumAttemptTime() {
    var probe = EngineProbe(EngineSettings(maxInFlightPerTarget: 1))
    let first = probe.submit(.patient())
    var policy = RetryPolicy.test
    policy.deadlineRule.minimumAttemptTime = .seconds(15)
    let id = probe.submit(policy)
    probe.advance(.seconds(44))
    #expect(probe.state(id) == .held)
    probe.advance(.seconds(1))
    #expect(probe.progress(id)?.failure == .deadlineExceeded)
    probe.end(first, status: 200)
    #expect(probe.starts(of: id) == 0)
  }

  // MARK: Bounds on what one answer and many retries may do

  @Test("retries that wait for their budget leave first tries half of what a target may have in memory")
  func firstTriesHavePlaces() {
    var settings = EngineSettings(maxInFlightPerTarget: 100, maxReadyPerTarget: 40)
    settings.target.retriesPerSecond = 1
    settings.target.retryShare = 0
    settings.target.breaker.consecutiveFailures = 0
    settings.target.breaker.failureRate = 2
    var probe = EngineProbe(settings)
    let ids = (0..<60).map { _ in probe.submit(.patient()) }
    for id in ids { probe.end(id, status: 500) }
    probe.advance(.seconds(1))
    // The budget pays for ten, ten wait in memory, and the others come back later.
    #expect(probe.starts.count == 70)
    #expect(probe.report()?.targets.first?.waiting == 10)
    let postponed = ids.filter { probe.progress($0)?.waiting == .retryBudget }
    #expect(postponed.count == 40)
    #expect(postponed.allSatisfy { (probe.progress($0)?.due ?? .epoch) > probe.now })
    let first = probe.submit(.patient())
    #expect(probe.starts(of: first) == 1)
  }
}
