@testable internal import RedialCore
@testable internal import RedialEngine

/// Targets that several callers share, drawn at random: the calls of some of them are refused or hang again and again, and
/// the others may not be slower than alone.
struct CallerGrid {
  /// Time to success of the others, beside those callers and alone.
  struct Row {
    let target: DrawnTarget
    let beside: [Double]
    let alone: [Double]
    let openings: Int

    /// The largest difference of p50, p90 and p99, in seconds.
    var delay: Double {
      [0.5, 0.9, 0.99].map { HarmGrid.Row.quantile(beside, $0) - HarmGrid.Row.quantile(alone, $0) }.max() ?? 0
    }

    var text: String {
      "\(target): \(HarmGrid.Row.times(beside)) s, alone \(HarmGrid.Row.times(alone)) s, \(openings) openings"
    }
  }

  /// The delay that is no harm, in seconds.
  static let slack = 0.05

  /// Runs a target, with the service's defaults.
  static func row(seed: UInt64) -> Row {
    let target = DrawnTarget(callersBy: seed)
    let settings = Protection.settings(Set(Protection.allCases))
    // Two minutes of calls: longer than it takes to use up all slots.
    let calls = max(1000, Int(target.rate * 120))
    func run(isAlone: Bool) -> TargetRun {
      var run = TargetRun(target, calls: calls, settings, isAlone: isAlone, seed: 1)
      run.run()
      return run
    }
    func times(_ run: TargetRun) -> [Double] {
      run.times.indices.filter { !target.isHopeless($0) }.map { run.times[$0] }.sorted()
    }
    let beside = run(isAlone: false)
    return Row(target: target, beside: times(beside), alone: times(run(isAlone: true)), openings: beside.openings)
  }
}
