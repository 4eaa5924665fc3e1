internal import RedialEngine
internal import RedialModel

/// What a protection is worth: on and off over the same cases, beside all others that are on by default.
struct HelpGrid {
  /// What the calls and the target had of a run.
  struct Figures {
    /// The time to success of nine in ten of the calls that count, in seconds.
    var time: Double
    /// Failed requests for each call that counts.
    var wasted: Double
  }

  let protection: Protection
  private(set) var with: [Figures] = []
  private(set) var without: [Figures] = []

  /// Runs cases.
  init(_ protection: Protection, _ seeds: Range<UInt64>) {
    self.protection = protection
    // With an adaptive pace there is no slow start.
    let others = Protection.defaults.subtracting(protection == .slowStart ? [.pace] : [])
    for seed in seeds {
      with.append(Self.figures(protection, seed, others.union([protection])))
      without.append(Self.figures(protection, seed, others.subtracting([protection])))
    }
  }

  private static func figures(_ protection: Protection, _ seed: UInt64, _ on: Set<Protection>) -> Figures {
    let load = HelpCase(protection, seed: seed)
    var settings = Protection.settings(on)
    settings.maxInFlight = load.maxInFlight
    settings.target.maxInFlight = load.maxInFlightPerTarget
    var run = TargetRun(load, settings, seed: seed)
    run.run()
    let counted = load.calls.indices.filter(load.isAwaited)
    let times = counted.map { run.successes[$0] - max(load.calls[$0].at, load.countedFrom) }.sorted()
    let wasted = run.failures.count { load.calls[$0.call].target == 0 && load.wasted.contains($0.at) }
    return Figures(
      time: times[times.count * 9 / 10], wasted: Double(wasted) / Double(max(1, counted.count)))
  }

  /// In how many cases a figure is better by a quarter or more with the protection, and in how many it is worse.
  private func count(_ figure: (Figures) -> Double, slack: Double) -> (better: Int, worse: Int) {
    func isLess(_ one: Double, _ other: Double) -> Bool { one * 1.25 + slack <= other }
    let pairs = zip(with.map(figure), without.map(figure))
    return (pairs.count { isLess($0, $1) }, pairs.count { isLess($1, $0) })
  }

  private var times: (better: Int, worse: Int) { count({ $0.time }, slack: 0.05) }
  private var requests: (better: Int, worse: Int) { count({ $0.wasted }, slack: 0.05) }

  /// Whether one of the figures is better in a quarter of the cases.
  var helps: Bool { 4 * max(times.better, requests.better) >= with.count }

  /// A row of the table in README.md.
  var text: String {
    func median(_ values: [Double]) -> String {
      let sorted = values.sorted()
      return "\((sorted[sorted.count / 2] * 100).rounded() / 100)"
    }
    return "| \(protection.rawValue) | \(median(with.map(\.time))) | \(median(without.map(\.time))) "
      + "| \(times.better), \(times.worse) | \(median(with.map(\.wasted))) | \(median(without.map(\.wasted))) "
      + "| \(requests.better), \(requests.worse) |"
  }
}
