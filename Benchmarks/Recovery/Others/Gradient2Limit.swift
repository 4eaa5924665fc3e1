/// The limit follows the trend of the times: it shrinks while requests take longer than their long-run average.
///
/// gradient = clamp(tolerance · long / took, 0.5, 1); L ← 0.8 L + 0.2 · (gradient · L + 4), where `long` is an
/// average over some 600 requests (Netflix concurrency-limits, `Gradient2Limit`). It moves only while at least half
/// of it is in use.
///
/// Netflix's ignores drops, so a target that quickly refuses its load looks healthy to it. Here a drop is the steepest
/// gradient without an allowance for a queue: L ← 0.8 L + 0.2 · 0.5 L = 0.9 L.
struct Gradient2Limit: ConcurrencyRule {
  /// How many times the long-run average a request may take before the limit shrinks.
  private static let tolerance = 1.5

  /// The growth of the limit before smoothing: the queue that is tolerated at the target.
  private static let queueSize = 4.0
  /// The weight of a new value.
  private static let smoothing = 0.2
  /// The steepest gradient, so that one outlier does not reduce the limit to nothing.
  private static let steepest = 0.5
  /// The average is a plain one over this many answers, and then moves by 2 / (window + 1).
  private static let warmUp = 10
  private static let window = 600.0

  /// In microseconds.
  private var sum = 0.0
  private var long = 0.0
  private var answers = 0

  mutating func next(after limit: Double, _ sample: LimitSample) -> Double {
    guard let took = sample.microseconds else { return Self.smoothed(limit, Self.steepest * limit) }
    average(took)
    let gradient = min(max(Self.tolerance * long / took, Self.steepest), 1)
    // After a long overload the average would take hundreds of answers to come down by itself.
    if long > 2 * took { long *= 0.95 }
    guard sample.uses(halfOf: limit) else { return limit }
    return Self.smoothed(limit, gradient * limit + Self.queueSize)
  }

  private mutating func average(_ took: Double) {
    if answers < Self.warmUp {
      answers += 1
      sum += took
      long = sum / Double(answers)
    } else {
      let weight = 2 / (Self.window + 1)
      long = long * (1 - weight) + took * weight
    }
  }

  private static func smoothed(_ limit: Double, _ next: Double) -> Double {
    limit * (1 - smoothing) + next * smoothing
  }
}
