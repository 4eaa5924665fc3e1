import RedialCore
import Testing

@Suite("Slow start")
struct SlowStartTests {
  private let start = Timestamp(microseconds: 1_790_000_000_000_000)

  private func ramp(_ ramp: SlowStart = SlowStart()) -> SlowStart {
    var ramp = ramp
    ramp.start(at: start)
    return ramp
  }

  @Test("the share is that of Envoy's formula")
  func formula() {
    let table: [(aggression: Double, seconds: Double, share: Double)] = [
      (1, 0, 0.1), (1, 3, 0.1), (1, 6, 0.2), (1, 15, 0.5), (1, 29.7, 0.99), (1, 30, 1), (1, 1e6, 1), (1, -5, 0.1),
      (2, 7.5, 0.5), (2, 30 * 0.81, 0.9), (0.5, 15, 0.25), (0.5, 27, 0.81), (1.5, 30 * 0.343, 0.49), (1.5, 0.3, 0.1),
      (.nan, 15, 0.5), (1e9, 7.5, 0.870550563296124), (-1, 27, 0.3486784401), (0, 29.7, 0.904382075008804),
    ]
    for (aggression, seconds, share) in table {
      let ramp = ramp(SlowStart(aggression: aggression))
      let found = ramp.share(at: start + .microseconds(Int64((seconds * 1_000_000).rounded())))
      #expect(abs(found - share) < 1e-9, "aggression \(aggression), \(seconds) s: \(found)")
    }
  }

  @Test("without a recovery, or without a duration, all is permitted")
  func none() {
    #expect(SlowStart().share(at: start) == 1)
    #expect(SlowStart().limit(of: 7, at: start) == 7)
    for duration in [Duration.zero, .seconds(-1)] { #expect(ramp(SlowStart(duration: duration)).share(at: start) == 1) }
  }

  @Test("the initial share is clamped")
  func initialShare() {
    for (given, share) in [(0.0, 0.0), (-1, 0), (0.25, 0.25), (1, 1), (7, 1), (.nan, 0.1), (.infinity, 1)] {
      #expect(ramp(SlowStart(initialShare: given)).share(at: start) == share, "\(given)")
    }
  }

  @Test("a limit is cut to its share, and is never below one")
  func limits() {
    let ramp = ramp()
    let table = [
      (100, 15, 50), (99, 15, 49), (3, 0, 1), (0, 0, 1), (-9, 15, 1), (.min, 60, 1), (100, 60, 100), (1, 1, 1),
    ]
    for (full, seconds, limit) in table {
      #expect(ramp.limit(of: full, at: start + .seconds(seconds)) == limit, "\(full) after \(seconds) s")
    }
    #expect(ramp.limit(of: .max, at: start + .seconds(60)) == .max)
    #expect(ramp.limit(of: .max, at: start + .microseconds(29_999_999)) < .max)
  }

  @Test("a second recovery begins again")
  func anew() {
    var ramp = ramp()
    ramp.start(at: start + .seconds(20))
    #expect(ramp.startedAt == start + .seconds(20))
    #expect(ramp.share(at: start + .seconds(21)) == 0.1)
    #expect(ramp.share(at: start + .seconds(35)) == 0.5)
  }

  @Test("the share never falls as time passes, and stays within its bounds")
  func monotonic() {
    for seed in UInt64(0)..<500 {
      var random = RandomSource(seed: seed)
      let initialShare = Double.random(in: 0...1, using: &random)
      let ramp = ramp(
        SlowStart(
          duration: .microseconds(Int64.random(in: 1...100_000_000, using: &random)), initialShare: initialShare,
          aggression: Double.random(in: 0.1...10, using: &random)))
      var now = start + .seconds(-1)
      var last = 0.0
      for _ in 0..<60 {
        now = now + .microseconds(Int64.random(in: 0...4_000_000, using: &random))
        let share = ramp.share(at: now)
        #expect(share >= initialShare && share <= 1, "seed \(seed)")
        // The power is good to 14 places.
        #expect(share >= last - 1e-13, "seed \(seed)")
        last = share
        let full = Int.random(in: 1...1000, using: &random)
        #expect((1...full).contains(ramp.limit(of: full, at: now)), "seed \(seed)")
      }
    }
  }
}
