import RedialCore
import VirtualTime
import RedialModel

/// One scenario of the grid.
struct Cell {
  /// How the target refuses what is too much.
  var overload: String
  /// How the outage looks.
  var outage: String
  /// By how much the capacity exceeds the new calls.
  var headroom: Double
  var latency: Int
  var length: Int
  var scenario: OutageScenario
}

/// Outages of targets with more and less capacity: total and partial, refused, unanswered, slow, with 429 with and
/// without `Retry-After`, and with a capacity that changes while the backlog is delivered.
struct Grid {
  private(set) var cells: [Cell] = []
  private let breaker: CircuitBreakerSettings?
  private let pace: Pace
  /// The share of requests that fail at random. The capacity is larger by them.
  private let failing: Double
  /// In place of all failures of an outage: answers take so long.
  private let slow: Duration?

  init(breaker: CircuitBreakerSettings?, pace: Pace, failing: Double, slow: Duration?) {
    self.breaker = breaker
    self.pace = pace
    self.failing = failing
    self.slow = slow
    for headroom in [0.05, 0.1, 0.25, 0.5, 1, 2, 4] {
      addRefusals(headroom)
      addOutages(headroom)
    }
  }

  private static let overloads: [(name: String, overload: OutageScenario.Target.Overload)] = [
    ("queue", .queue(longest: .seconds(1))), ("429", .refuse(retryAfter: false)),
    ("429 + Retry-After", .refuse(retryAfter: true)),
  ]

  private mutating func addRefusals(_ headroom: Double) {
    for (length, rate) in [(10, 40.0), (60, 40.0), (600, 20.0)] {
      for latency in [5, 50, 300, 2000] {
        for overload in 0..<(length < 600 ? 3 : 1) {
          // The long outages take one kind of overload each.
          let index = length < 600 ? overload : latency == 5 || latency == 2000 ? 0 : latency == 50 ? 1 : 2
          add(
            overload: index, outage: "refused", headroom, rate: rate, latency: latency, length: length,
            failure: .refused)
        }
      }
    }
    if headroom >= 0.25 {
      add(overload: 0, outage: "refused", headroom, rate: 10, latency: 50, length: 7200, failure: .refused)
    }
  }

  private mutating func addOutages(_ headroom: Double) {
    func outage(
      _ name: String, _ failure: OutageScenario.Outage.Failure = .refused, share: Double = 1, slow: Duration? = nil,
      overload: Int = 0, change: (after: Double, factor: Double)? = nil
    ) {
      add(
        overload: overload, outage: name, headroom, rate: 20, latency: 100, length: 120, failure: failure,
        share: share, slow: slow, change: change)
    }
    outage("unanswered", .unanswered)
    outage("half unanswered", .unanswered, share: 0.5)
    outage("503", .status(503))
    outage("half 503", .status(503), share: 0.5)
    outage("500", .status(500))
    outage("half 500", .status(500), share: 0.5)
    outage("slow", share: 0, slow: .seconds(15))
    outage("refused, then less capacity", change: (0.3, 0.6))
    outage("refused, then more capacity", change: (0.3, 2))
    outage("refused, then more capacity", overload: 1, change: (0.3, 2))
  }

  private mutating func add(
    overload: Int, outage: String, _ headroom: Double, rate: Double, latency: Int, length: Int,
    failure: OutageScenario.Outage.Failure, share: Double = 1, slow: Duration? = nil,
    change: (after: Double, factor: Double)? = nil
  ) {
    let needed = rate / (1 - failing)
    let capacity = Int((needed * (1 + headroom)).rounded())
    let ideal = Double(length) / (Double(capacity) / needed - 1)
    let end = Duration.seconds(30 + length)
    let changes = change.map { change in
      let after = max(Int(needed) + 1, Int(Double(capacity) * change.factor))
      return [OutageScenario.Target.Change(from: end + .seconds(Int(change.after * ideal)), capacity: after)]
    }
    var policy = RetryPolicy.service
    policy.attemptTimeout = .seconds(10)
    let scenario = OutageScenario(
      policy: policy, rate: rate, duration: end + .seconds(Int(4 * ideal + 120)),
      target: .init(
        capacity: capacity, latency: .milliseconds(latency), overload: Self.overloads[overload].overload,
        changes: changes ?? []),
      outage: .init(
        from: .seconds(30), to: end, errorRate: self.slow == nil ? share : 0, failure: failure,
        latency: self.slow ?? slow), breaker: breaker,
      concurrency: max(64, 3 * capacity * latency / 1000), slowStart: .zero, pace: pace,
      seed: UInt64(cells.count + 1))
    cells.append(
      Cell(
        overload: Self.overloads[overload].name, outage: outage, headroom: headroom, latency: latency, length: length,
        scenario: scenario))
  }
}
