import RedialCore
import Testing

@Suite("Concurrency limits over random events")
struct ConcurrencyLimiterPropertyTests {
  private static func algorithm(_ seed: UInt64) -> ConcurrencyLimiter.Algorithm {
    switch seed % 4 {
    case 0: .fixed
    case 1: .aimd()
    case 2: .vegas(VegasLimit(probeMultiplier: 2))
    default: .gradient2()
    }
  }

  @Test("a place is free exactly while fewer are in flight than the limit, which stays within its bounds")
  func bounds() throws {
    for seed in UInt64(0)..<800 {
      var random = RandomSource(seed: seed)
      let minimum = Int.random(in: 1...10, using: &random)
      let maximum = minimum + Int.random(in: 0...50, using: &random)
      var limiter = ConcurrencyLimiter(
        Self.algorithm(seed), initial: Int.random(in: 0...80, using: &random), minimum: minimum, maximum: maximum)
      var twin = limiter
      var inFlight = 0
      for _ in 0..<300 {
        if Bool.random(using: &random) {
          let isFree = inFlight < limiter.limit
          let isGiven = limiter.acquire()
          _ = twin.acquire()
          try #require(isGiven == isFree, "seed \(seed)")
          if isGiven { inFlight += 1 }
        } else {
          let outcome: ConcurrencyLimiter.Outcome =
            switch Int.random(in: 0..<6, using: &random) {
            case 0: .dropped
            case 1: .ignored
            default: .success(took: .microseconds(Int64.random(in: 1...100_000, using: &random)))
            }
          let before = limiter.limit
          limiter.release(outcome)
          twin.release(outcome)
          if outcome == .ignored { try #require(limiter.limit == before, "seed \(seed)") }
          if outcome == .dropped { try #require(limiter.limit <= before, "seed \(seed)") }
          inFlight = max(0, inFlight - 1)
        }
        try #require(limiter.inFlight == inFlight, "seed \(seed)")
        try #require((minimum...maximum).contains(limiter.limit), "seed \(seed)")
      }
      try #require(limiter == twin, "seed \(seed)")
    }
  }

  @Test("each algorithm learns to use a target of fixed capacity without overloading it")
  func convergence() {
    // A target with room for 40 answers in 10 ms; what is above that waits its turn, and above 120 is dropped.
    for algorithm in [ConcurrencyLimiter.Algorithm.aimd(), .vegas(), .gradient2()] {
      for initial in [5, 500] {
        var limiter = ConcurrencyLimiter(algorithm, initial: initial)
        var limits: [Int] = []
        for round in 0..<3000 {
          while limiter.acquire() {}
          let inFlight = limiter.inFlight
          let outcome: ConcurrencyLimiter.Outcome =
            inFlight > 120 ? .dropped : .success(took: .microseconds(10_000 * max(40, inFlight) / 40))
          limiter.release(outcome)
          if round >= 2000 { limits.append(limiter.limit) }
        }
        let average = Double(limits.reduce(0, +)) / Double(limits.count)
        #expect((30.0...130.0).contains(average), "\(algorithm) from \(initial): \(average)")
      }
    }
  }
}
