import RedialCore
import Testing

@Suite("Presets give their documented schedules")
struct PresetTests {
  /// The waits of a policy, failure after failure, with a draw of `r` each, in seconds.
  private func waits(_ policy: RetryPolicy, _ r: Double = 0.5, upTo most: Int = 200) -> [Double] {
    var random = CurveTests.Fixed(r)
    let start = Timestamp(microseconds: 0)
    guard let initial = policy.initialWait(using: &random) else { return [] }
    var history = initial.waits
    var now = start + initial.wait
    var all = policy.initialDelay == .none ? [] : [initial.wait.inSeconds]
    for attempt in 1...most {
      let end = AttemptEnd(outcome: .notSent, attempts: attempt, startedAt: start, waits: history)
      let decision = policy.decide(end, at: now, using: &random)
      guard case .retry(let wait) = decision.action else { return all }
      all.append(wait.inSeconds)
      now = now + wait
      history = decision.waits
    }
    return all
  }

  private func milliseconds(_ seconds: [Double]) -> [Int] { seconds.map { Int(($0 * 1000).rounded(.down)) } }

  @Test("ExponentialBackOff with factor 0: 25 runs, 908,746 ms of waiting, the first before the first run")
  func exponentialBackOff() {
    var policy = RetryPolicy.exponentialBackOff
    policy.backoff.jitter = .none
    let all = waits(policy)
    #expect(
      milliseconds(all)
        == [500, 750, 1125, 1687, 2531, 3796, 5695, 8542, 12_814, 19_221, 28_832, 43_248]
        + [Int](repeating: 60_000, count: 13))
    #expect(Int(all.reduce(0, +) * 1000) == 908_746)
    #expect(all.count == 25, "as many runs as waits")
  }

  @Test("real elapsed time as the measure: no wait ends after the deadline")
  func e4() {
    var policy = RetryPolicy.exponentialBackOff
    policy.deadlineRule.measure = .elapsed
    policy.backoff.jitter = .none
    let all = waits(policy)
    #expect(all.reduce(0, +) < 900 && all.count == 24)
    // The attempts' own time counts: after 14 minutes of one attempt, a wait of a minute is one too many.
    var random = RandomSource(seed: 1)
    let end = AttemptEnd(outcome: .notSent, attempts: 20, startedAt: .epoch)
    #expect(policy.decide(end, at: .epoch + .seconds(841), using: &random).action == .stop(.deadlineExceeded))
  }

  @Test("the CircuitBreaker preset: 3 attempts of 10 s, 2 s and 4 s apart; its breaker opens for 10 s after 3 failures")
  func fe9lix() {
    #expect(waits(.fe9lix) == [2, 4])
    #expect(RetryPolicy.fe9lix.attemptTimeout == .seconds(10) && RetryPolicy.fe9lix.onTrip == .fail)
    let breaker = CircuitBreakerSettings.fe9lix
    #expect(breaker.consecutiveFailures == 3 && breaker.openInterval == .seconds(10) && breaker.halfOpenProbes == 1)
  }

  @Test("the Alley preset: 10 attempts, waits of half of 0.5 s × 2 up to 30 s on average, and its statuses")
  func alley() {
    #expect(waits(.alley) == [0.25, 0.5, 1, 2, 4, 8, 15, 15, 15])
    for status in [408, 429, 444, 503, 504, 599] { #expect(RetryPolicy.alley.retryOn.statuses.contains(status)) }
    for status in [500, 502, 404, 501] { #expect(!RetryPolicy.alley.retryOn.statuses.contains(status)) }
  }

  @Test("happn's table: drawn from zero up to its entries, the last again and again")
  func happn() {
    #expect(waits(.happn, 0.5, upTo: 10) == [0.5, 1.5, 7.5, 13.5, 21, 30, 1800, 10_800, 10_800, 10_800])
  }

  @Test("Svix: 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 10 h, ±20 %; 8 attempts")
  func svix() {
    let times = [5.0, 300, 1800, 7200, 18_000, 36_000, 36_000]
    #expect(waits(.svix) == times)
    #expect(zip(waits(.svix, 0), times).allSatisfy { abs($0 - $1 * 0.8) < 0.001 })
  }

  @Test("Cloud Tasks: 0.1 s doubled 16 times, to an hour; 100 attempts")
  func cloudTasks() {
    let all = waits(.cloudTasks)
    #expect(all.count == 99 && all.last == 3600)
    #expect(all.prefix(16).enumerated().allSatisfy { abs($1 - 0.1 * Double(1 << $0)) < 0.001 })
  }

  /// What is documented of a preset: the first waits for a draw, and how many there are in all.
  struct Documented: Sendable, CustomTestStringConvertible {
    var name: String
    var policy: RetryPolicy
    var draw = 0.5
    var waits: [Double]
    var count: Int?

    var testDescription: String { name }
  }

  static let schedules: [Documented] = [
    Documented(
      name: "Temporal: 1 s × 2 to 100 s, for ever", policy: .temporal, waits: [1, 2, 4, 8, 16, 32, 64, 100, 100]),
    Documented(
      name: "Restate: 50 ms × 2 to 60 s, 70 attempts", policy: .restate,
      waits: [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60, 60], count: 69),
    Documented(name: "Sidekiq: n⁴ + 15 at least", policy: .sidekiq, draw: 0, waits: [15, 16, 31, 96], count: 25),
    Documented(name: "Sidekiq: rand(10)·(n + 1) on top", policy: .sidekiq, waits: [20, 26, 46], count: 25),
    Documented(name: "Faktory: n⁴ + 15 + rand(30)·(n + 1)", policy: .faktory, waits: [30, 46, 76], count: 25),
    Documented(name: "River: n⁴", policy: .river, waits: [1, 16, 81, 256], count: 24),
    Documented(name: "River: − 10 %", policy: .river, draw: 0, waits: [0.9, 14.4, 72.9], count: 24),
    Documented(
      name: "QStash: e^(2.5 n), 3 retries", policy: .qstash, waits: [12.182_494, 148.413_159, 1808.042_414], count: 3),
    Documented(
      name: "Outpost: 30 s × 2, 10 retries", policy: .outpost,
      waits: [30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360], count: 10),
    Documented(name: "SNS: 3 × 20 s", policy: .sns, waits: [20, 20, 20], count: 3),
    Documented(name: "Convoy: 10 × 100 s", policy: .convoy, waits: [100, 100], count: 10),
    Documented(
      name: "Convoy: min(interval·2ⁿ, 7200) + U[0, 5)", policy: .convoyExponential,
      waits: [102.5, 202.5, 402.5, 802.5, 1602.5, 3202.5, 6402.5, 7202.5], count: 10),
    Documented(name: "AWS before 2026: from 1 s", policy: .awsBefore2026, waits: [0.5, 1], count: 2),
    Documented(name: "AWS: decorrelated", policy: .awsDecorrelated, waits: [0.1, 0.175], count: 2),
    Documented(name: "Polly: 3 × 2 s", policy: .polly, waits: [2, 2, 2], count: 3),
    Documented(
      name: "Polly: decorrelated V2 from 2 s", policy: .pollyJittered, waits: [1.794_810, 2.186_007, 4.071_496],
      count: 3),
    Documented(name: "resilience4j: 2 × 500 ms", policy: .resilience4j, waits: [0.5, 0.5], count: 2),
    Documented(
      name: "resilience4j: 500 ms × 1.5", policy: .resilience4jExponential, waits: [0.5, 0.75], count: 2),
    Documented(
      name: "resilience4j: − 50 %", policy: .resilience4jExponential, draw: 0, waits: [0.25, 0.375], count: 2),
    Documented(name: "Failsafe: 2 retries at once", policy: .failsafe, waits: [0, 0], count: 2),
    Documented(
      name: "curl: 1 s × 2 to 10 minutes", policy: .curl(retries: 12),
      waits: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600], count: 12),
    Documented(
      name: "urllib3: 0, then factor·2^(n − 1) to 120 s", policy: .urllib3(retries: 12, factor: 0.5),
      waits: [0, 1, 2, 4, 8, 16, 32, 64, 120, 120, 120, 120], count: 12),
    Documented(name: "urllib3: factor 0", policy: .urllib3(retries: 3, factor: 0), waits: [0, 0, 0], count: 3),
  ]

  @Test("a preset gives its documented schedule", arguments: schedules)
  func documented(_ preset: Documented) {
    let all = waits(preset.policy, preset.draw)
    #expect(zip(all, preset.waits).allSatisfy { abs($0 - $1) <= 0.000_002 * max(1, $1) }, "\(all.prefix(12))")
    #expect(all.count >= preset.waits.count)
    if let count = preset.count { #expect(all.count == count) } else { #expect(all.count == 200) }
  }

  @Test("Sidekiq's 25 retries take some 20 days, as its documentation says")
  func twentyDays() {
    let days = waits(.sidekiq).reduce(0, +) / 86_400
    #expect(days > 20 && days < 21)
  }

  @Test("Event Grid: 10 s to 12 h, within 24 hours")
  func eventGrid() {
    #expect(waits(.eventGrid) == [10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200])
  }

  @Test("AWS: r·min(50 ms·2^i, 20 s), from 1 s after throttling; 3 attempts")
  func aws() throws {
    #expect(waits(.aws) == [0.025, 0.05])
    #expect(waits(.awsBefore2026) == [0.5, 1])
    var random = CurveTests.Fixed(0.5)
    let throttled = AttemptEnd(outcome: .answered, status: 429, attempts: 1, startedAt: .epoch)
    #expect(RetryPolicy.aws.decide(throttled, at: .epoch, using: &random).action == .retry(after: .milliseconds(500)))
    #expect(waits(.awsDecorrelated).count == 2)
  }

  @Test("gRPC: initial·m^i·(0.8 + 0.4r), never more than 5 attempts; connections 1 s × 1.6 to 120 s, ±20 %")
  func gRPC() {
    #expect(waits(.gRPC()) == [0.1, 0.2, 0.4])
    #expect(waits(.gRPC(maxAttempts: 9), 0).count == 4)
    #expect(waits(.gRPC(), 0).first == 0.08)
    let connection = waits(.gRPCConnection, 0.5, upTo: 20)
    #expect(connection.prefix(3) == [1, 1.6, 2.56] && connection.last == 120)
    #expect((waits(.gRPCConnection, 0.999, upTo: 20).last ?? 0) > 140)
  }

  @Test("Google's Java client: ±50 % on top of 60 s, 15 minutes of real time")
  func google() {
    #expect((waits(.googleHTTPClient, 0.99).max() ?? 0) > 85)
    #expect(waits(.googleHTTPClient, 0.5).reduce(0, +) < 900)
  }
}
