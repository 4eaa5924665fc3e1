import RedialCore
import Testing

@Suite("Backoff and jitter")
struct BackoffTests {
  static let jitters: [Jitter] = [.none, .full, .equal, .proportional(factor: 0.5), .proportional(factor: 1)]

  @Test("the base is initial · multiplier^i, capped so that the spread stays below the maximum")
  func formula() {
    let backoff = Backoff()
    // The published intervals of ExponentialBackOff: 0.5, 0.75, 1.125, 1.687, 2.53, 3.795, 5.692, 8.538, …
    let published = [0.5, 0.75, 1.125, 1.6875, 2.53125, 3.796875, 5.6953125, 8.54296875]
    for (retry, seconds) in published.enumerated() { #expect(backoff.baseSeconds(retry) == seconds) }
    #expect(backoff.baseSeconds(1000) == 40)
    #expect(Backoff(jitter: .none).baseSeconds(1000) == 60)
    #expect(Backoff(initial: .seconds(3), multiplier: 1).baseSeconds(7) == 3)
    #expect(Backoff(initial: .zero).baseSeconds(7) == 0)
    #expect(backoff.baseSeconds(-5) == 0.5)
  }

  @Test("jitter multiplies as its formula says")
  func jitter() {
    #expect([0, 0.5, 0.75].map(Jitter.none.scale) == [1, 1, 1])
    #expect([0, 0.5, 0.75].map(Jitter.full.scale) == [0, 0.5, 0.75])
    #expect([0, 0.5, 0.75].map(Jitter.equal.scale) == [0.5, 0.75, 0.875])
    #expect([0, 0.5, 0.75].map(Jitter.proportional(factor: 0.5).scale) == [0.5, 1, 1.25])
  }

  @Test("no wait is negative, beyond the maximum, or a trap, for any retry, duration and jitter", arguments: jitters)
  func bounds(jitter: Jitter) throws {
    let durations: [Duration] = [
      .zero, .microseconds(1), .milliseconds(500), .seconds(60), .seconds(1 << 40), .longest, .seconds(Int64.max),
      .seconds(-5),
    ]
    for seed in UInt64(0)..<4 {
      var random = RandomSource(seed: seed)
      for initial in durations {
        for maximum in durations {
          for multiplier in [0, 1, 1.5, 1e300, .infinity, .nan] {
            for retry in [Int.min, -1, 0, 1, 63, 10_000, Int.max] {
              let backoff = Backoff(initial: initial, multiplier: multiplier, maximum: maximum, jitter: jitter)
              let wait = try #require(backoff.wait(beforeRetry: retry, using: &random))
              let bound = max(.zero, maximum)
              #expect(
                wait.duration >= .zero && wait.duration <= bound,
                "seed \(seed): \(initial) x \(multiplier) max \(maximum) retry \(retry) gave \(wait)")
            }
          }
        }
      }
    }
  }

  @Test("at the cap waits still differ, and reach up to the maximum")
  func spread() {
    var random = RandomSource(seed: 7)
    let backoff = Backoff()
    let waits = (0..<1000).compactMap { _ in backoff.wait(beforeRetry: 100, using: &random)?.duration.inSeconds }
    #expect(waits.allSatisfy { $0 >= 20 && $0 <= 60 })
    #expect((waits.max() ?? 0) > 59 && (waits.min() ?? 99) < 21)
    #expect(Set(waits).count > 990)
    let mean = waits.reduce(0, +) / 1000
    #expect(mean > 39 && mean < 41)
  }

  @Test("the same seed gives the same waits")
  func deterministic() {
    func waits(_ seed: UInt64) -> [Duration] {
      var random = RandomSource(seed: seed)
      return (0..<20).compactMap { Backoff().wait(beforeRetry: $0, using: &random)?.duration }
    }
    #expect(waits(1) == waits(1))
    #expect(waits(1) != waits(2))
  }

  @Test("the generator is SplitMix64")
  func splitMix() {
    // The first outputs for seed 1234567, from the reference implementation at prng.di.unimi.it.
    var random = RandomSource(seed: 1_234_567)
    #expect(random.next() == 6_457_827_717_110_365_317)
    #expect(random.next() == 3_203_168_211_198_807_973)
    for _ in 0..<10_000 {
      let number = random.unitInterval()
      #expect(number >= 0 && number < 1)
    }
  }
}
