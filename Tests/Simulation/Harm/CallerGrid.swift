@testable internal import RedialCore
@testable internal import RedialEngine
@testable internal import VirtualTime
internal import RedialModel

/// Targets that several callers share, drawn at random: the calls of some of them are refused or hang again and again, and
/// the others may not be slower than alone.
struct CallerGrid {
  /// Time to success of the others, beside those callers and alone.
  struct Row {
    let target: SharedTarget
    let beside: [Double]
    let alone: [Double]
    let openings: Int

    /// The largest difference of p50, p90 and p99, in seconds.
    var delay: Double {
      [0.5, 0.9, 0.99].map { HarmGrid.quantile(beside, $0) - HarmGrid.quantile(alone, $0) }.max() ?? 0
    }

    var text: String {
      "\(target): \(HarmGrid.times(beside)) s, alone \(HarmGrid.times(alone)) s, \(openings) openings"
    }
  }

  /// The delay that is no harm, in seconds.
  static let slack = 0.05

  /// Runs a target, with the service's defaults.
  static func row(seed: UInt64) -> Row {
    func run(_ target: SharedTarget) -> (times: [Double], openings: Int) {
      var run = TargetRun(target, Protection.settings(Protection.defaults), seed: 1)
      run.run()
      let times = target.calls.indices.filter(target.isAwaited).map { run.successes[$0] - target.calls[$0].at }
      return (times.sorted(), run.openings)
    }
    let target = SharedTarget(seed: seed)
    let beside = run(target)
    return Row(target: target, beside: beside.times, alone: run(target.alone).times, openings: beside.openings)
  }
}

/// A target that answers all calls but those of some callers.
struct SharedTarget: RunLoad, CustomStringConvertible {
  /// What tells the calls of a caller from those of others.
  private enum Mark: CaseIterable {
    case path, credential, label
  }

  /// The status of those callers' answers; nil if nothing comes.
  private let status: Int?
  private let mark: Mark
  private let callers: Int
  private let rate: Double
  private let latency: Duration
  private let seed: UInt64
  private(set) var calls: [RunCall] = []
  /// By call: whether it is one of those callers'.
  private var isBad: [Bool] = []
  let attemptTimeout = Duration.seconds(5)

  var description: String {
    let share = Double(isBad.count { $0 }) / Double(isBad.count)
    return "\((share * 1000).rounded() / 10) % of \(callers) callers by \(mark), status \(status ?? 0), "
      + "\((rate * 10).rounded() / 10) calls/s, \(latency), seed \(seed)"
  }

  init(seed: UInt64) {
    var random = RandomSource(seed: seed &* 0x9e37_79b9_7f4a_7c15 ^ 0x6361_6c6c)
    self.seed = seed
    status = random.pick([503, 429, 500, nil, nil])
    mark = random.pick(Mark.allCases)
    callers = random.pick([1, 1, 3, 10])
    let share = random.between(0.05, 0.3)
    // The others need a few of its slots at most.
    rate = random.between(5, 100)
    latency = .microseconds(Int64(random.between(1000, 50_000)))
    // Two minutes of calls: longer than it takes to use up all slots.
    let count = max(1000, Int(rate * 120))
    for time in random.arrivals(rate, from: 0, while: { number, _ in number < count }) {
      isBad.append(random.chance(share))
      calls.append(call(at: time, number: calls.count, isBad: isBad[calls.count]))
    }
  }

  private func call(at time: Double, number: Int, isBad: Bool) -> RunCall {
    var call = RunCall(at: time, path: "/orders/\(number)")
    // Letters, because a part of a path with a digit in it counts as an id.
    let caller = isBad ? String(repeating: "c", count: number % callers + 1) : "other"
    switch mark {
    case .path: call.path = "/\(caller)/\(number)"
    case .credential: call.headers = [HeaderField("Authorization", "Bearer \(caller)")]
    case .label: call.labels = [CallSpec.Label(name: "tenant", value: caller)]
    }
    return call
  }

  /// The target without those callers.
  var alone: SharedTarget {
    var alone = self
    alone.calls = calls.indices.filter { !isBad[$0] }.map { calls[$0] }
    alone.isBad = alone.calls.map { _ in false }
    return alone
  }

  func isAwaited(_ call: Int) -> Bool { !isBad[call] }

  func answer(_ call: Int, attempt: Int, at now: Timestamp, timeout: Duration) -> ModelTarget.Answer {
    guard isBad[call] else { return ModelTarget.Answer(outcome: .answered, status: 200, latency: latency) }
    guard let status else { return ModelTarget.Answer(outcome: .maybeSent, status: 0, latency: timeout) }
    return ModelTarget.Answer(outcome: .answered, status: status, latency: latency)
  }
}
