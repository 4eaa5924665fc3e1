@testable internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Flaky targets that no load harms, drawn at random: whatever Redial does to protect them only costs time.
///
/// Each meets the service with its defaults and without protection, with the same calls and the same answers. The time
/// from the submission to the success may differ by a factor that is small.
struct HarmGrid {
  /// Time to success with the defaults, and without protection.
  struct Row {
    let target: DrawnTarget
    let with: [Double]
    let without: [Double]
    let openings: Int
    let limits: Int

    /// The largest of the factors at p50, p90 and p99, each divided by the factor that is allowed.
    var excess: Double {
      zip([0.5, 0.9, 0.99], [1.1, 1.25, 1.25]).map { quantile, allowed in
        let (with, without) = (HarmGrid.quantile(with, quantile), HarmGrid.quantile(without, quantile))
        // A few milliseconds are no harm, whatever they are multiples of.
        return with.isFinite && without.isFinite ? max(0, with - HarmGrid.slack) / (without * allowed) : .infinity
      }.max() ?? 0
    }

    var text: String {
      "\(target): \(HarmGrid.times(with)) s, unprotected \(HarmGrid.times(without)) s, \(openings) openings, \(limits) limits, "
        + "\((excess * 100).rounded() / 100) of what is allowed"
    }
  }

  /// The quantiles of times, for people.
  static func times(_ sorted: [Double]) -> String {
    [0.5, 0.9, 0.99].map { "\((quantile(sorted, $0) * 1000).rounded() / 1000)" }.joined(separator: " / ")
  }

  static func quantile(_ sorted: [Double], _ share: Double) -> Double {
    sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }

  /// In seconds.
  static let slack = 0.01

  /// Runs a target.
  ///
  /// - Parameter protections: Those of the service that is compared with one that has none.
  static func row(seed: UInt64, _ protections: Set<Protection> = Protection.defaults) -> Row {
    let target = DrawnTarget(seed: seed)
    // Nothing waits for a slot that a target without a limit could use.
    let slots = max(64, Int(target.rate * (target.latency * 10 + 5) * 10))
    func runs(_ protections: Set<Protection>) -> [TargetRun<DrawnTarget>] {
      var settings = Protection.settings(protections)
      settings.target.maxInFlight = slots
      settings.maxInFlight = max(settings.maxInFlight, 4 * slots)
      return (1...jitters).map { jitter in
        var run = TargetRun(target, settings, seed: jitter)
        run.run()
        return run
      }
    }
    func times(_ runs: [TargetRun<DrawnTarget>]) -> [Double] {
      runs.flatMap { run in
        target.calls.indices.filter(target.isAwaited).map { run.successes[$0] - target.calls[$0].at }
      }
      .sorted()
    }
    let with = runs(protections)
    return Row(
      target: target, with: times(with), without: times(runs([])),
      openings: with.map(\.openings).reduce(0, +), limits: with.map(\.limits).reduce(0, +))
  }

  /// Each is run so many times with another jitter, because one call in a hundred is not the same twice.
  private static let jitters: UInt64 = 3
}
