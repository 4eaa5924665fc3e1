import RedialCore
import Testing

@Suite("Backoff curves")
struct CurveTests {
  private func bases(_ curve: BackoffCurve, _ count: Int, maximum: Duration = .longest) -> [Double] {
    let backoff = Backoff(curve, maximum: maximum, jitter: .none)
    return (0..<count).compactMap { backoff.baseSeconds($0) }
  }

  @Test("each curve is its formula")
  func formulas() {
    #expect(bases(.constant(.seconds(2)), 3) == [2, 2, 2])
    #expect(bases(.linear(initial: .seconds(1), increment: .seconds(1)), 4) == [1, 2, 3, 4])
    #expect(bases(.linear(initial: .seconds(10), increment: .milliseconds(500)), 3) == [10, 10.5, 11])
    #expect(bases(.exponential(initial: .milliseconds(500), multiplier: 1.5), 4) == [0.5, 0.75, 1.125, 1.6875])
    #expect(bases(.polynomial(unit: .seconds(1), exponent: 2), 4) == [1, 4, 9, 16])
    #expect(bases(.polynomial(unit: .seconds(1), exponent: 4, offset: .seconds(15), first: 0), 4) == [15, 16, 31, 96])
    #expect(bases(.fibonacci(initial: .milliseconds(100)), 7).map { ($0 * 10).rounded() } == [1, 1, 2, 3, 5, 8, 13])
    #expect(bases(.power(base: .seconds(3)), 4) == [3, 9, 27, 81])
    #expect(bases(.schedule([.seconds(5), .seconds(1)], then: .repeatLast), 4) == [5, 1, 1, 1])
    #expect(bases(.schedule([.seconds(5), .seconds(1)], then: .stop), 4) == [5, 1])
    #expect(bases(.schedule([], then: .repeatLast), 4).isEmpty)
  }

  @Test("the power curve does not grow from one second or less, and the default is a multiplier")
  func power() {
    #expect(bases(.power(base: .seconds(1)), 4) == [1, 1, 1, 1])
    let half = bases(.power(base: .milliseconds(500)), 4)
    #expect(half == [0.5, 0.25, 0.125, 0.0625])
    #expect(Backoff().curve == .exponential(initial: .milliseconds(500), multiplier: 1.5))
  }

  @Test("doublings, then linear: the example of Google Cloud Tasks (10 s, 300 s, 3 doublings)")
  func doublings() {
    #expect(
      bases(.doublingsThenLinear(initial: .seconds(10), doublings: 3), 8, maximum: .seconds(300))
        == [10, 20, 40, 80, 160, 240, 300, 300])
  }

  @Test("a broken exponent is a root, to 14 digits")
  func roots() {
    let curve = BackoffCurve.polynomial(unit: .seconds(1), exponent: 1.5)
    for (i, base) in bases(curve, 1000).enumerated() {
      let n = Double(i + 1)
      #expect(abs(base / (n * n.squareRoot()) - 1) < 1e-13)
    }
  }

  @Test("decorrelated jitter draws each wait from the one before, and stays below the cap")
  func decorrelated() throws {
    let backoff = Backoff(.decorrelated(base: .milliseconds(100)), maximum: .seconds(5), jitter: .none)
    for seed in UInt64(0)..<200 {
      var random = RandomSource(seed: seed)
      var history = WaitHistory.none
      for retry in 0..<30 {
        let wait = try #require(backoff.wait(beforeRetry: retry, after: history, using: &random))
        let before = max(history.previous, .milliseconds(100))
        #expect(wait.duration >= .milliseconds(100) && wait.duration <= min(.seconds(5), before * 3), "seed \(seed)")
        #expect(try #require(backoff.range(beforeRetry: retry)).contains(wait.duration), "seed \(seed)")
        history = history.adding(wait.duration)
      }
    }
  }

  @Test("decorrelated jitter V2 is Polly's formula over one draw a wait")
  func smooth() throws {
    let backoff = Backoff(.decorrelatedSmooth(median: .seconds(1)), maximum: .longest, jitter: .none)
    // 2^t · tanh √4t for t = 0.5, 1.5, 2.5, from a table of the functions.
    let f = [1.256_366_910, 2.786_571_876, 5.636_619_024]
    var random = Fixed(0.5)
    var history = WaitHistory.none
    for retry in 0..<3 {
      let wait = try #require(backoff.wait(beforeRetry: retry, after: history, using: &random))
      let before = retry == 0 ? 0 : f[retry - 1]
      #expect(abs(wait.duration.inSeconds - (f[retry] - before) / 1.4) < 0.000_01)
      history = history.adding(wait.duration)
    }
    // Whatever is drawn, waits are never negative, and within what the range says.
    for seed in UInt64(0)..<100 {
      var random = RandomSource(seed: seed)
      let capped = Backoff(.decorrelatedSmooth(median: .seconds(1)), maximum: .seconds(30), jitter: .none)
      var history = WaitHistory.none
      for retry in 0..<1100 {
        let wait = try #require(capped.wait(beforeRetry: retry, after: history, using: &random))
        #expect(try #require(capped.range(beforeRetry: retry)).contains(wait.duration), "seed \(seed) \(retry)")
        history = history.adding(wait.duration)
      }
      #expect(history.previous == .seconds(30), "seed \(seed): it ends at the cap")
    }
  }

  static let curves: [BackoffCurve] = {
    let spans: [Duration] = [.zero, .microseconds(1), .seconds(90), .longest, .seconds(Int64.max), .seconds(-3)]
    let numbers: [Double] = [0, -1, 1, 2.5, 63, 1e300, .infinity, .nan]
    var all: [BackoffCurve] = []
    for span in spans {
      all += [
        .constant(span), .linear(initial: span, increment: span), .fibonacci(initial: span), .power(base: span),
        .decorrelated(base: span), .decorrelatedSmooth(median: span), .schedule([span, span], then: .repeatLast),
      ]
      all += [-5, 0, 16, 2000, Int.max].map { .doublingsThenLinear(initial: span, doublings: $0) }
      for number in numbers {
        all += [
          .exponential(initial: span, multiplier: number),
          .polynomial(unit: span, exponent: number, offset: span, first: number == 63 ? .max : 1),
        ]
      }
    }
    return all
  }()

  @Test("no curve, jitter, cap or number makes a wait negative, too long, or a trap", arguments: curves)
  func bounds(curve: BackoffCurve) throws {
    let jitters: [Jitter] = [
      .none, .full, .proportional(factor: 3), .proportional(factor: .nan), .proportional(factor: -1),
      .additive(.seconds(Int64.max)), .additivePerRetry(.seconds(2)), .additive(.seconds(-2)),
    ]
    var random = RandomSource(seed: 1)
    for jitter in jitters {
      for cap in CapMode.allCases {
        for maximum in [Duration.zero, .seconds(60), .longest, .seconds(-1)] {
          let backoff = Backoff(curve, maximum: maximum, jitter: jitter, cap: cap)
          for retry in [Int.min, 0, 1, 63, 64, 1480, 100_000, Int.max] {
            for history in [WaitHistory.none, WaitHistory(previous: .longest, total: .longest)] {
              let wait = try #require(backoff.wait(beforeRetry: retry, after: history, using: &random))
              #expect(wait.duration >= .zero && wait.base >= .zero && !wait.scale.isNaN)
              if cap != .beforeJitter { #expect(wait.duration <= max(.zero, maximum), "\(backoff) \(retry): \(wait)") }
            }
          }
        }
      }
    }
  }

  @Test("a growing curve never shrinks, however far")
  func monotonic() {
    let growing: [BackoffCurve] = [
      .linear(initial: .seconds(1), increment: .seconds(3)), .exponential(initial: .milliseconds(1), multiplier: 1.01),
      .polynomial(unit: .milliseconds(3), exponent: 2.7), .fibonacci(initial: .microseconds(1)),
      .power(base: .milliseconds(1100)), .doublingsThenLinear(initial: .milliseconds(1), doublings: 20),
    ]
    for curve in growing {
      let all = bases(curve, 3000, maximum: .seconds(86_400))
      #expect(zip(all, all.dropFirst()).allSatisfy { $0 <= $1 }, "\(curve)")
      #expect(all.last == 86_400 || curve == growing[0], "\(curve) reaches the cap")
    }
  }

  /// Draws the same number each time.
  struct Fixed: RandomNumberGenerator {
    private let bits: UInt64

    init(_ r: Double) { bits = UInt64(r * 0x1p53) << 11 }

    mutating func next() -> UInt64 { bits }
  }
}
