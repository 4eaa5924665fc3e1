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
        let (with, without) = (Self.quantile(with, quantile), Self.quantile(without, quantile))
        // A few milliseconds are no harm, whatever they are multiples of.
        return with.isFinite && without.isFinite ? max(0, with - HarmGrid.slack) / (without * allowed) : .infinity
      }.max() ?? 0
    }

    var text: String {
      "\(target): \(Self.times(with)) s, unprotected \(Self.times(without)) s, \(openings) openings, \(limits) limits, "
        + "\((excess * 100).rounded() / 100) of what is allowed"
    }

    static func times(_ sorted: [Double]) -> String {
      [0.5, 0.9, 0.99].map { "\((quantile(sorted, $0) * 1000).rounded() / 1000)" }.joined(separator: " / ")
    }

    static func quantile(_ sorted: [Double], _ share: Double) -> Double {
      sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
    }
  }

  /// In seconds.
  static let slack = 0.01

  /// Runs a target.
  ///
  /// - Parameter protections: Those of the service that is compared with one that has none.
  static func row(seed: UInt64, _ protections: Set<Protection> = Set(Protection.allCases)) -> Row {
    let target = DrawnTarget(seed: seed)
    // A minute of calls, but enough to compare one in a hundred, and no more than can be run at once.
    let calls = min(4000, max(1000, Int(target.rate * 60)))
    func runs(_ settings: EngineSettings) -> [TargetRun] {
      (1...jitters).map { jitter in
        var run = TargetRun(target, calls: calls, settings, seed: jitter)
        run.run()
        return run
      }
    }
    func times(_ runs: [TargetRun]) -> [Double] {
      runs.flatMap { run in run.times.indices.filter { !target.isHopeless($0) }.map { run.times[$0] } }.sorted()
    }
    let with = runs(Protection.settings(protections))
    return Row(
      target: target, with: times(with), without: times(runs(Protection.settings([]))),
      openings: with.map(\.openings).reduce(0, +), limits: with.map(\.limits).reduce(0, +))
  }

  /// Each is run so many times with another jitter, because one call in a hundred is not the same twice.
  private static let jitters: UInt64 = 3
}
