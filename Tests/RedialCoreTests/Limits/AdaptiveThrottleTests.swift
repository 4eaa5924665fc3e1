import RedialCore
import Testing

@Suite("Adaptive throttling")
struct AdaptiveThrottleTests {
  private let now = Timestamp(microseconds: 1_790_000_000_000_000)

  private func throttle(requests: Int, accepts: Int, multiplier: Double = 2) -> AdaptiveThrottle {
    var throttle = AdaptiveThrottle(multiplier: multiplier)
    for request in 0..<requests { throttle.record(accepted: request < accepts, at: now) }
    return throttle
  }

  @Test("the probability is that of the formula")
  func formula() {
    let table: [(Int, Int, Double, Double)] = [
      (0, 0, 2, 0), (1, 0, 2, 0.5), (9, 0, 2, 0.9), (99, 0, 2, 0.99), (100, 50, 2, 0), (100, 51, 2, 0),
      (99, 25, 2, 0.49), (999, 100, 2, 0.799), (99, 49, 1.5, 0.255), (99, 49, 1, 0.5), (99, 49, 0.2, 0.5),
      (99, 98, .infinity, 0), (99, 25, .nan, 0.49),
    ]
    for (requests, accepts, multiplier, probability) in table {
      let throttle = throttle(requests: requests, accepts: accepts, multiplier: multiplier)
      let found = throttle.rejectionProbability(at: now)
      #expect(abs(found - probability) < 1e-12, "\(accepts) of \(requests), K = \(multiplier): \(found)")
    }
  }

  @Test("a burst against an idle target is not refused before its answers are in")
  func burst() {
    var throttle = AdaptiveThrottle()
    var random = RandomSource(seed: 1)
    for _ in 0..<1000 {
      let isAdmitted = throttle.admits(at: now, using: &random)
      #expect(isAdmitted)
    }
    #expect(random == RandomSource(seed: 1), "nothing is drawn where nothing is uncertain")
  }

  @Test("requests are refused as often as the probability says")
  func frequency() {
    let sick = throttle(requests: 99, accepts: 25)
    var random = RandomSource(seed: 7)
    var refused = 0
    for _ in 0..<10_000 {
      var copy = sick
      if !copy.admits(at: now, using: &random) { refused += 1 }
    }
    // Five standard deviations of 50 around 4900.
    #expect((4650...5150).contains(refused))
  }

  @Test("a refusal counts as a request, an admission does not count until it is answered")
  func counting() {
    var random = RandomSource(seed: 3)
    for _ in 0..<100 {
      var throttle = throttle(requests: 9, accepts: 0)
      let isAdmitted = throttle.admits(at: now, using: &random)
      let expected = isAdmitted ? 0.9 : 10.0 / 11
      #expect(abs(throttle.rejectionProbability(at: now) - expected) < 1e-12)
    }
  }

  @Test("it forgets after two minutes, in steps of twelve seconds")
  func window() {
    // The start of a bucket, so that the steps are at round times.
    let start = Timestamp(microseconds: 12_000_000 * 149_166_666)
    var throttle = AdaptiveThrottle()
    for second in 0..<24 { throttle.record(accepted: false, at: start + .seconds(second)) }
    #expect(throttle.rejectionProbability(at: start + .seconds(119)) == 24.0 / 25)
    #expect(throttle.rejectionProbability(at: start + .seconds(120)) == 12.0 / 13)
    #expect(throttle.rejectionProbability(at: start + .seconds(132)) == 0)
  }

  @Test("a target that accepts a tenth gets about twice that, and everything soon after its recovery")
  func closedLoop() {
    for seed in UInt64(0)..<20 {
      var random = RandomSource(seed: seed)
      var throttle = AdaptiveThrottle()
      var time = now
      var admitted = 0
      // 100 requests a second, of which the target takes ten.
      for second in 0..<600 {
        var taken = 0
        for _ in 0..<100 {
          time = time + .milliseconds(10)
          guard throttle.admits(at: time, using: &random) else { continue }
          if second >= 300 { admitted += 1 }
          taken += 1
          throttle.record(accepted: taken <= 10, at: time)
        }
      }
      #expect((18.0...23.0).contains(Double(admitted) / 300), "seed \(seed)")
      for _ in 0..<30_000 {
        time = time + .milliseconds(10)
        if throttle.admits(at: time, using: &random) { throttle.record(accepted: true, at: time) }
      }
      #expect(throttle.rejectionProbability(at: time) == 0, "seed \(seed)")
    }
  }

  /// A throttle with its own randomness.
  private struct Run: Hashable {
    var random: RandomSource
    var throttle = AdaptiveThrottle(window: .seconds(5))

    mutating func request(isAccepted: Bool, at now: Timestamp) -> Bool {
      guard throttle.admits(at: now, using: &random) else { return false }
      throttle.record(accepted: isAccepted, at: now)
      return true
    }
  }

  @Test("the probability stays within 0..<1, and the same seed gives the same decisions")
  func properties() {
    for seed in UInt64(0)..<500 {
      var run = Run(random: RandomSource(seed: seed))
      var twin = run
      var script = RandomSource(seed: ~seed)
      var time = now
      for _ in 0..<100 {
        time = time + .milliseconds(Int.random(in: -200...400, using: &script))
        let isAccepted = Int.random(in: 0..<4, using: &script) == 0
        let isAdmitted = run.request(isAccepted: isAccepted, at: time)
        #expect(twin.request(isAccepted: isAccepted, at: time) == isAdmitted, "seed \(seed)")
        let probability = run.throttle.rejectionProbability(at: time)
        #expect(probability >= 0 && probability < 1, "seed \(seed)")
      }
      #expect(run == twin, "seed \(seed)")
    }
  }
}
