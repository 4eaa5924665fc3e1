/// The limit follows the queue at the target, estimated from how much longer a request takes than the fastest one:
/// queue = ⌈L · (1 − quickest / took)⌉.
///
/// | queue | limit |
/// | --- | --- |
/// | up to log L | + 6 log L |
/// | below α = 3 log L | + log L |
/// | α to β = 6 log L | as it is |
/// | above β | − log L |
///
/// A drop takes log L off too. It rises only while at least half of it is in use. `log` is the whole part of the
/// decimal logarithm, and 1 at least (Netflix concurrency-limits, `VegasLimit`; there it is a square root above a
/// thousand, which a comment calls an optimisation, and here it is not). Brakmo and Peterson, "TCP Vegas", 1995.
struct VegasLimit: ConcurrencyRule {
  /// The shortest time is measured again after this many times the limit's number of requests, so that a target that
  /// has become permanently slower does not count as one with a queue. Without Netflix's random factor of 0.5...1.
  private static let probeMultiplier = 30.0

  /// In microseconds; nil before the first answer.
  private var quickest: Double?
  private var answers: Int64 = 0

  mutating func next(after limit: Double, _ sample: LimitSample) -> Double {
    let log = Self.wholeLogarithm(limit)
    guard let took = sample.microseconds else { return limit - log }
    answers += 1
    guard Double(answers) < Self.probeMultiplier * limit else {
      answers = 0
      quickest = took
      return limit
    }
    guard let quickest, took >= quickest else {
      quickest = took
      return limit
    }
    guard sample.uses(halfOf: limit) else { return limit }
    let queue = (limit * (1 - quickest / took)).rounded(.up)
    if queue <= log { return limit + 6 * log }
    if queue < 3 * log { return limit + log }
    return queue > 6 * log ? limit - log : limit
  }

  /// The whole part of the decimal logarithm, 1 at least, by counting digits.
  private static func wholeLogarithm(_ limit: Double) -> Double {
    var digits = 1.0
    var rest = limit / 100
    while rest >= 1 {
      digits += 1
      rest /= 10
    }
    return digits
  }
}
