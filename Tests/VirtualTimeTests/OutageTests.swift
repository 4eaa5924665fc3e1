import RedialCore
import RedialModel
import Testing

@testable import VirtualTime

@Suite("Simulated outages")
struct OutageTests {
  private static let none = OutageScenario.Outage(from: .seconds(60), to: .seconds(60))

  private func accounted(_ figures: OutageFigures) -> Bool {
    let totals = figures.totals
    return totals.calls == totals.succeeded + totals.failed.values.reduce(0, +) + totals.unfinished
      && totals.calls == figures.steps.reduce(0) { $0 + $1.calls }
      && totals.attempts == figures.steps.reduce(0) { $0 + $1.attempts }
      && totals.succeeded == figures.steps.reduce(0) { $0 + $1.succeeded }
  }

  @Test("without an outage there is one attempt per call, and every call succeeds")
  func calm() {
    let figures = OutageScenario(rate: 10, duration: .seconds(300), outage: Self.none).figures()
    #expect(figures.totals.amplification == 1)
    #expect(figures.totals.failed.isEmpty)
    // A Poisson process of mean 3,000: four standard deviations are 219.
    #expect(abs(figures.totals.calls - 3000) < 220)
    #expect(accounted(figures))
    #expect(figures.recovery == .zero || (figures.recovery ?? .longest) < .seconds(1))
  }

  @Test("the same scenario has the same figures, another seed another")
  func deterministic() {
    var scenario = OutageScenario(
      rate: 5, duration: .seconds(600), target: .init(capacity: 10),
      outage: .init(from: .seconds(60), to: .seconds(180)))
    let first = scenario.figures()
    #expect(first == scenario.figures())
    scenario.seed = 2
    #expect(first.totals != scenario.figures().totals)
  }

  @Test("new calls do not wait for the backlog of an outage, and the recovery takes as long as without shares")
  func newCalls() throws {
    func figures(_ share: Double) -> OutageFigures {
      OutageScenario(
        rate: 8, duration: .seconds(1100), target: .init(capacity: 10),
        outage: .init(from: .seconds(30), to: .seconds(180)), newCallShare: share
      ).figures()
    }
    let (byAge, shared, half) = (figures(0), figures(0.85), figures(0.5))
    #expect(accounted(shared) && accounted(half))
    #expect(byAge.recovery == shared.recovery && byAge.recovery == half.recovery)
    #expect(try #require(byAge.latencyInRecovery).median > .seconds(20))
    #expect(try #require(shared.latencyInRecovery).p90 < .seconds(10))
    // More come than half of the capacity: the others wait with the backlog.
    #expect(try #require(half.latencyInRecovery).median < .seconds(15))
    #expect(try #require(half.latencyInRecovery).p99 > .seconds(20))
  }

  // A sender that took these for silence slowed down until every call was at its deadline, and never recovered.
  @Test("attempts that a call's deadline cuts off say nothing about the load", arguments: [0, 0.5, 0.8])
  func cutOff(share: Double) throws {
    let figures = OutageScenario(
      policy: RetryPolicy(maxAttempts: 1000, deadline: .seconds(30)), rate: 10, duration: .seconds(600),
      outage: .init(from: .seconds(100), to: .seconds(300)), breaker: .service, newCallShare: share
    ).figures()
    #expect(try #require(figures.recovery) < .seconds(60))
    // All calls of the last 30 seconds of the outage, and later ones, could be delivered.
    #expect(figures.totals.failed[.deadlineExceeded] ?? 0 < 2300, "\(figures.totals.failed)")
  }

  @Test("a policy without waits floods a target that is down; backoff and a breaker do not")
  func amplification() {
    let outage = OutageScenario.Outage(from: .seconds(60), to: .seconds(120))
    func amplification(_ policy: RetryPolicy, rate: Double = 10, breaker: Bool) -> Double {
      OutageScenario(
        policy: policy, rate: rate, duration: .seconds(300), outage: outage,
        breaker: breaker ? CircuitBreakerSettings() : nil
      ).figures().totals.amplification
    }
    let hasty = RetryPolicy(maxRetries: 100, backoff: Backoff(.constant(.milliseconds(10)), jitter: .none))
    let patient = RetryPolicy(maxRetries: 20)
    // Each call of the outage makes all of its 101 attempts: few calls show it.
    let flood = amplification(hasty, rate: 1, breaker: false)
    #expect(flood > 3)
    #expect(amplification(patient, breaker: false) < flood / 2)
    #expect(amplification(hasty, breaker: true) < 1.5)
  }

  @Test("while the breaker is open the target receives only probes")
  func probes() {
    let scenario = OutageScenario(
      rate: 10, duration: .seconds(600), outage: .init(from: .seconds(60), to: .seconds(360)))
    let figures = scenario.figures()
    let during = figures.steps.enumerated().filter {
      let start = figures.step * $0.offset
      return start >= .seconds(120) && start + figures.step <= .seconds(360)
    }
    #expect(during.allSatisfy { $0.element.attempts <= 2 })
    #expect(during.contains { $0.element.isOpen })
    #expect(during.reduce(0) { $0 + $1.element.attempts } > 0)
    #expect(accounted(figures))
  }

  @Test("calls that cannot outlast the outage fail by the deadline, and are counted by reason")
  func deadline() {
    let policy = RetryPolicy(maxAttempts: 1000, deadline: .seconds(30))
    let figures = OutageScenario(
      policy: policy, rate: 10, duration: .seconds(600), outage: .init(from: .seconds(100), to: .seconds(300))
    ).figures()
    let failed = figures.totals.failed[.deadlineExceeded] ?? 0
    // Those of 170 of the outage's 200 seconds cannot succeed; nor can those that wait for the breaker afterwards,
    // which may be a minute and more.
    #expect(failed > 1700 && failed < 3000, "\(failed)")
    #expect(figures.totals.failed.count == 1)
  }

  @Test("a policy that does not wait for an open breaker fails its calls as tripped")
  func tripped() {
    var policy = RetryPolicy(maxRetries: 0)
    policy.onTrip = .fail
    let figures = OutageScenario(
      policy: policy, rate: 10, duration: .seconds(300), outage: .init(from: .seconds(60), to: .seconds(120))
    ).figures()
    #expect((figures.totals.failed[.tripped] ?? 0) > 300)
    #expect((figures.totals.failed[.attemptsExhausted] ?? 0) > 0)
  }

  @Test("requests beyond the capacity are refused, and more of them without backoff")
  func overload() {
    let outage = OutageScenario.Outage(from: .seconds(60), to: .seconds(180))
    let hasty = RetryPolicy(maxRetries: 50, backoff: Backoff(.constant(.milliseconds(500)), jitter: .none))
    let figures = OutageScenario(
      policy: hasty, rate: 10, duration: .seconds(400), target: .init(capacity: 12), outage: outage, breaker: nil,
      concurrency: 10_000, pace: .fixed
    ).figures()
    #expect(figures.totals.overload > 250)
    #expect(figures.peak > 125)
    #expect(accounted(figures))
  }

  @Test("the speed of a slow target depends on the maximum attempts in flight")
  func slow() {
    let figures = OutageScenario(
      rate: 20, duration: .seconds(300),
      outage: .init(from: .seconds(60), to: .seconds(120), errorRate: 0, latency: .seconds(4)), concurrency: 8
    ).figures()
    let during = figures.steps.enumerated().filter {
      (.seconds(70)..<(.seconds(115))).contains(figures.step * $0.offset)
    }
    let rate = Double(during.reduce(0) { $0 + $1.element.attempts }) / (Double(during.count) * figures.step.inSeconds)
    #expect(rate > 1 && rate < 3.5)
    #expect((figures.steps.map(\.unfinished).max() ?? 0) > 600)
  }

  @Test("one of too many attempts ends early, and says so")
  func cutShort() {
    let hasty = RetryPolicy(
      maxAttempts: .max, deadline: .seconds(86_400), backoff: Backoff(.constant(.milliseconds(1)), jitter: .none))
    var simulation = OutageSimulation(
      OutageScenario(
        policy: hasty, rate: 50, duration: .seconds(1000), outage: .init(from: .zero, to: .seconds(1000)), breaker: nil,
        concurrency: 100_000, pace: .fixed), mostAttempts: 5000)
    let figures = simulation.run()
    #expect(figures.isCutShort)
    // A step of the engine may start several.
    #expect((5000..<6000).contains(figures.totals.attempts))
    #expect(figures.steps.count < 240)
  }

  @Test("a target with little capacity to spare recovers with a slow start or an adaptive pace, and never without")
  func slowStart() {
    var scenario = OutageScenario(
      rate: 10, duration: .seconds(900), target: .init(capacity: 25),
      outage: .init(from: .seconds(60), to: .seconds(180)), pace: .fixed)
    #expect(scenario.figures().recovery != nil)
    scenario.slowStart = .zero
    #expect(scenario.figures().recovery == nil)
    scenario.pace = .adaptive
    #expect(scenario.figures().recovery != nil)
  }
}
