/// Additive increase, multiplicative decrease: the limit falls to `backoffRatio` of itself when a request is dropped,
/// and rises by 1 when one succeeds while at least half of the limit is in use.
///
/// Netflix concurrency-limits, `AIMDLimit`; Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for
/// Congestion Avoidance in Computer Networks", 1989.
struct AIMDLimit: ConcurrencyRule {
  /// The factor of the limit after a drop.
  private static let backoffRatio = 0.9
  /// A success that took longer, in microseconds, counts as a drop.
  private static let timeout = 5e6

  func next(after limit: Double, _ sample: LimitSample) -> Double {
    guard let took = sample.microseconds, took <= Self.timeout else {
      return (limit * Self.backoffRatio).rounded(.down)
    }
    return sample.uses(halfOf: limit) ? limit + 1 : limit
  }
}
