import RedialCore
import RedialForecast

/// How a limit of the requests in flight follows their ends.
protocol ConcurrencyRule: Sendable {
  mutating func next(after limit: Double, _ sample: LimitSample) -> Double
}

/// The end of one request, as far as the search for a limit needs it.
struct LimitSample {
  /// How many were in flight, including this one.
  var inFlight: Int
  /// How long it took, 1 µs or more; nil if it was dropped.
  var microseconds: Double?

  /// Whether at least half of the limit was in use: only then does a success show that more would work too.
  func uses(halfOf limit: Double) -> Bool {
    Double(inFlight) * 2 >= limit
  }
}

/// A limit of the requests in flight, as in Netflix's concurrency-limits, in the place of the adaptive pace.
struct ConcurrencyPace<Rule: ConcurrencyRule>: Pacing {
  private var rule: Rule
  /// 1...1000, as there.
  private var limit = 20.0
  private var inFlight = 0

  init(_ rule: Rule) {
    self.rule = rule
  }

  func wait(at now: Timestamp) -> Timestamp? { nil }

  func concurrency(within full: Int) -> Int { min(full, Int(limit)) }

  mutating func start(at now: Timestamp) { inFlight += 1 }

  mutating func end(_ ticket: Void, _ sign: AdaptivePace.Sign, at now: Timestamp) {
    switch sign {
    case .delivered(let time):
      let microseconds = Double(max(1, time / .microseconds(1)))
      judge(LimitSample(inFlight: inFlight, microseconds: microseconds))
    case .refused, .silent: judge(LimitSample(inFlight: inFlight, microseconds: nil))
    case .none: break
    }
    inFlight -= 1
  }

  private mutating func judge(_ sample: LimitSample) {
    limit = min(max(rule.next(after: limit, sample), 1), 1000)
  }

  func suspend(at now: Timestamp) {}
  func recover(at now: Timestamp) {}
  func isDelivering(at now: Timestamp) -> Bool { false }
}
