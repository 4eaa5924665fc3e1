/// Additive increase, multiplicative decrease: the limit falls to `backoffRatio` of itself when a request is dropped,
/// and rises by 1 when one succeeds while at least half of the limit is in use.
///
/// Netflix concurrency-limits, `AIMDLimit`; Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for
/// Congestion Avoidance in Computer Networks", 1989.
public struct AIMDLimit: Sendable, Hashable {
  /// The factor of the limit after a drop, 0.5...0.999.
  public let backoffRatio: Double
  /// A success that took longer counts as a drop.
  public let timeout: Duration

  /// Netflix refuses values outside [0.5, 1): 1 would never decrease.
  private static let ratios = 0.5...0.999

  /// Creates a rule with Netflix's defaults; a ratio out of range is clamped, one that is not a number is 0.9.
  public init(backoffRatio: Double = 0.9, timeout: Duration = .seconds(5)) {
    let usable = backoffRatio.isNaN ? 0.9 : backoffRatio
    self.backoffRatio = min(max(usable, Self.ratios.lowerBound), Self.ratios.upperBound)
    self.timeout = timeout
  }

  func next(after limit: Double, _ sample: LimitSample) -> Double {
    guard let took = sample.microseconds, took <= Double(timeout.wholeMicroseconds) else {
      return (limit * backoffRatio).rounded(.down)
    }
    return sample.uses(halfOf: limit) ? limit + 1 : limit
  }
}
