import RedialCore
import Testing

@Suite("Sliding windows")
struct SlidingWindowTests {
  private let start = Timestamp(microseconds: 1_790_000_000_000_000)

  @Test("a window of time forgets in steps, and only what is old")
  func time() {
    var window = SlidingWindow(.time(.seconds(10)))
    for second in 0..<100 {
      let now = start + .seconds(second)
      window.record(isFailure: second % 4 != 0, at: now)
      #expect(window.counts(at: now).total == min(second + 1, 10))
    }
    #expect(window.counts(at: start + .seconds(104)).total == 5)
    #expect(window.counts(at: start + .seconds(1000)).total == 0)
    window.clear()
    #expect(window.counts(at: start + .seconds(99)).total == 0)
  }

  @Test("a clock that goes back a little loses nothing; one that goes back far empties the window")
  func clockBack() {
    var window = SlidingWindow(.time(.seconds(10)))
    for second in [105, 104, 106, 103] { window.record(isFailure: true, at: start + .seconds(second)) }
    #expect(window.counts(at: start + .seconds(105)).failures == 4)
    window.record(isFailure: true, at: start + .seconds(5))
    #expect(window.counts(at: start + .seconds(5)).failures == 1)
    window.record(isFailure: false, at: Timestamp(microseconds: .min))
    window.record(isFailure: false, at: .distantFuture)
    #expect(window.counts(at: .distantFuture).total == 1)
  }

  @Test("a window of calls counts exactly the latest", arguments: [1, 2, 31, 32, 33, 100])
  func calls(capacity: Int) {
    for seed in UInt64(0)..<20 {
      var random = RandomSource(seed: seed)
      var window = SlidingWindow(.calls(capacity))
      var all: [(failure: Bool, slow: Bool)] = []
      for _ in 0..<(3 * capacity + 5) {
        let outcome = (failure: random.next() % 2 == 0, slow: random.next() % 3 == 0)
        all.append(outcome)
        window.record(isFailure: outcome.failure, isSlow: outcome.slow, at: start)
        let latest = all.suffix(capacity)
        let counts = window.counts(at: start)
        #expect(counts.total == latest.count, "seed \(seed)")
        #expect(
          counts.failures == latest.count { $0.failure } && counts.slow == latest.count { $0.slow }, "seed \(seed)")
      }
      window.clear()
      #expect(window.counts(at: start).total == 0)
    }
  }

  @Test("a window of calls counts none that is older than an hour")
  func oldCalls() {
    var window = SlidingWindow(.calls(100))
    for number in 0..<10 { window.record(isFailure: number < 5, isSlow: true, at: start + .seconds(600 * number)) }
    // Of those in the first steps of a tenth of the hour, nothing is left.
    let counts = window.counts(at: start + .seconds(6000))
    #expect(counts.total < 7 && counts.failures == 0 && counts.slow == counts.total)
    window.record(isFailure: true, at: start + .seconds(6000))
    #expect(window.counts(at: start + .seconds(6000)).failures == 1)
    #expect(window.counts(at: start + .seconds(6000 + 3601)).total == 0)
  }
}
