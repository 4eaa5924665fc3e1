import Foundation
import RedialCore
import RedialModel
import Testing

@testable import RedialForecast
import RedialJSON
import RedialText

@Suite("Simulated outages")
struct ForecastTests {
  private static let none = OutageScenario.Outage(from: .seconds(60), to: .seconds(60))

  private func accounted(_ forecast: OutageForecast) -> Bool {
    let totals = forecast.totals
    return totals.calls == totals.succeeded + totals.failed.values.reduce(0, +) + totals.unfinished
      && totals.calls == forecast.steps.reduce(0) { $0 + $1.calls }
      && totals.attempts == forecast.steps.reduce(0) { $0 + $1.attempts }
      && totals.succeeded == forecast.steps.reduce(0) { $0 + $1.succeeded }
  }

  @Test("without an outage there is one attempt per call, and every call succeeds")
  func calm() {
    let forecast = OutageScenario(rate: 10, duration: .seconds(300), outage: Self.none).forecast()
    #expect(forecast.totals.amplification == 1)
    #expect(forecast.totals.failed.isEmpty)
    // A Poisson process of mean 3,000: four standard deviations are 219.
    #expect(abs(forecast.totals.calls - 3000) < 220)
    #expect(accounted(forecast))
    #expect(forecast.recovery == .zero || (forecast.recovery ?? .longest) < .seconds(1))
  }

  @Test("the same scenario has the same forecast, another seed another")
  func deterministic() {
    var scenario = OutageScenario(
      rate: 5, duration: .seconds(600), target: .init(capacity: 10),
      outage: .init(from: .seconds(60), to: .seconds(180)))
    let first = scenario.forecast()
    #expect(first == scenario.forecast())
    scenario.seed = 2
    #expect(first.totals != scenario.forecast().totals)
  }

  @Test("new calls do not wait for the backlog of an outage, and the recovery takes as long as without shares")
  func newCalls() throws {
    func forecast(_ share: Double) -> OutageForecast {
      OutageScenario(
        rate: 8, duration: .seconds(1100), target: .init(capacity: 10),
        outage: .init(from: .seconds(30), to: .seconds(180)), newCallShare: share
      ).forecast()
    }
    let (byAge, shared, half) = (forecast(0), forecast(0.85), forecast(0.5))
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
    let forecast = OutageScenario(
      policy: RetryPolicy(maxAttempts: 1000, deadline: .seconds(30)), rate: 10, duration: .seconds(600),
      outage: .init(from: .seconds(100), to: .seconds(300)), breaker: .service, newCallShare: share
    ).forecast()
    #expect(try #require(forecast.recovery) < .seconds(60))
    // All calls of the last 30 seconds of the outage, and later ones, could be delivered.
    #expect(forecast.totals.failed[.deadlineExceeded] ?? 0 < 2300, "\(forecast.totals.failed)")
  }

  @Test("a policy without waits floods a target that is down; backoff and a breaker do not")
  func amplification() {
    let outage = OutageScenario.Outage(from: .seconds(60), to: .seconds(120))
    func amplification(_ policy: RetryPolicy, rate: Double = 10, breaker: Bool) -> Double {
      OutageScenario(
        policy: policy, rate: rate, duration: .seconds(300), outage: outage,
        breaker: breaker ? CircuitBreakerSettings() : nil
      ).forecast().totals.amplification
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
    let forecast = scenario.forecast()
    let during = forecast.steps.enumerated().filter {
      let start = forecast.step * $0.offset
      return start >= .seconds(120) && start + forecast.step <= .seconds(360)
    }
    #expect(during.allSatisfy { $0.element.attempts <= 2 })
    #expect(during.contains { $0.element.isOpen })
    #expect(during.reduce(0) { $0 + $1.element.attempts } > 0)
    #expect(accounted(forecast))
  }

  @Test("calls that cannot outlast the outage fail by the deadline, and are counted by reason")
  func deadline() {
    let policy = RetryPolicy(maxAttempts: 1000, deadline: .seconds(30))
    let forecast = OutageScenario(
      policy: policy, rate: 10, duration: .seconds(600), outage: .init(from: .seconds(100), to: .seconds(300))
    ).forecast()
    let failed = forecast.totals.failed[.deadlineExceeded] ?? 0
    // Those of 170 of the outage's 200 seconds cannot succeed; nor can those that wait for the breaker afterwards,
    // which may be a minute and more.
    #expect(failed > 1700 && failed < 3000, "\(failed)")
    #expect(forecast.totals.failed.count == 1)
  }

  @Test("a policy that does not wait for an open breaker fails its calls as tripped")
  func tripped() {
    var policy = RetryPolicy(maxRetries: 0)
    policy.onTrip = .fail
    let forecast = OutageScenario(
      policy: policy, rate: 10, duration: .seconds(300), outage: .init(from: .seconds(60), to: .seconds(120))
    ).forecast()
    #expect((forecast.totals.failed[.tripped] ?? 0) > 300)
    #expect((forecast.totals.failed[.attemptsExhausted] ?? 0) > 0)
  }

  @Test("requests beyond the capacity are refused, and more of them without backoff")
  func overload() {
    let outage = OutageScenario.Outage(from: .seconds(60), to: .seconds(180))
    let hasty = RetryPolicy(maxRetries: 50, backoff: Backoff(.constant(.milliseconds(500)), jitter: .none))
    let forecast = OutageScenario(
      policy: hasty, rate: 10, duration: .seconds(400), target: .init(capacity: 12), outage: outage, breaker: nil,
      concurrency: 10_000, pace: .fixed
    ).forecast()
    #expect(forecast.totals.overload > 250)
    #expect(forecast.peak > 125)
    #expect(accounted(forecast))
  }

  @Test("the speed of a slow target depends on the maximum attempts in flight")
  func slow() {
    let forecast = OutageScenario(
      rate: 20, duration: .seconds(300),
      outage: .init(from: .seconds(60), to: .seconds(120), errorRate: 0, latency: .seconds(4)), concurrency: 8
    ).forecast()
    let during = forecast.steps.enumerated().filter {
      (.seconds(70)..<(.seconds(115))).contains(forecast.step * $0.offset)
    }
    let rate = Double(during.reduce(0) { $0 + $1.element.attempts }) / (Double(during.count) * forecast.step.inSeconds)
    #expect(rate > 1 && rate < 3.5)
    #expect((forecast.steps.map(\.unfinished).max() ?? 0) > 600)
  }

  @Test("a forecast of too many attempts ends early, and says so")
  func cutShort() {
    let hasty = RetryPolicy(
      maxAttempts: .max, deadline: .seconds(86_400), backoff: Backoff(.constant(.milliseconds(1)), jitter: .none))
    var simulation = OutageSimulation(
      OutageScenario(
        policy: hasty, rate: 50, duration: .seconds(1000), outage: .init(from: .zero, to: .seconds(1000)), breaker: nil,
        concurrency: 100_000, pace: .fixed), mostAttempts: 5000)
    let forecast = simulation.run()
    #expect(forecast.isCutShort)
    // A step of the engine may start several.
    #expect((5000..<6000).contains(forecast.totals.attempts))
    #expect(forecast.steps.count < 240)
  }

  @Test("its JSON has one number per step, and its chart is XML with the same figures")
  func views() throws {
    let forecast = OutageScenario(
      rate: 20, duration: .seconds(300), target: .init(capacity: 40),
      outage: .init(from: .seconds(60), to: .seconds(120))
    ).forecast()
    var writer = JSONWriter()
    forecast.write(to: &writer)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(writer.bytes)) as? [String: Any])
    let series = try #require(object["series"] as? [String: Any])
    for name in ["callsPerSecond", "attemptsPerSecond", "unfinished", "breakerOpen"] {
      #expect((series[name] as? [Any])?.count == forecast.steps.count)
    }
    #expect(object["attempts"] as? Int == forecast.totals.attempts)
    #expect(forecast.chart.contains("\(forecast.totals.attempts) attempts"))
    #expect(forecast.chart.hasPrefix("<svg ") && forecast.chart.hasSuffix("</svg>\n"))
    #expect(!forecast.chart.contains("nan") && !forecast.chart.contains("inf"))
  }

  @Test("the chart of a plan has a row for each attempt, up to twenty")
  func planChart() {
    let chart = RetryPolicy(maxAttempts: 30).plan().chart
    #expect(chart.components(separatedBy: "class=\"spread\"").count - 1 >= 20)
    #expect(RetryPolicy(maxAttempts: 1).plan().chart.contains(">1<"))
  }

  @Test(
    "an axis ends at a round number",
    arguments: [(0, 1), (0.3, 0.5), (1, 1), (1.1, 2), (23, 25), (26, 50), (999, 1000)])
  func axes(value: Double, end: Double) {
    #expect(Drawing.axisEnd(value) == end)
  }

  @Test("a target with little capacity to spare recovers with a slow start or an adaptive pace, and never without")
  func slowStart() {
    var scenario = OutageScenario(
      rate: 10, duration: .seconds(900), target: .init(capacity: 25),
      outage: .init(from: .seconds(60), to: .seconds(180)), pace: .fixed)
    #expect(scenario.forecast().recovery != nil)
    scenario.slowStart = .zero
    #expect(scenario.forecast().recovery == nil)
    scenario.pace = .adaptive
    #expect(scenario.forecast().recovery != nil)
  }

  @Test(
    "durations are shown roughly",
    arguments: [
      (0.0004, "0s"), (0.74, "740ms"), (5.23, "5.2s"), (200, "3m20s"), (7500, "2h5m"), (86_400, "1d"), (90_000, "1d1h"),
      (3605, "1h"),
    ])
  func roughly(seconds: Double, text: String) {
    #expect(Duration(clampingSeconds: seconds).roughly == text)
  }
}
