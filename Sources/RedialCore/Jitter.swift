/// How a computed wait is spread, so that clients that failed together do not
/// come back together.
///
/// With `d` the computed wait and `r` uniform in [0, 1): the names and formulas
/// are those of "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015);
/// `proportional` is that of Google's Java HTTP client and ExponentialBackOff.
public enum Jitter: Sendable, Hashable {
  /// `d`
  case none
  /// `r·d`
  case full
  /// `d/2 + r·d/2`
  case equal
  /// `d·(1 − f + 2f·r)` for a factor `f` in 0...1.
  case proportional(factor: Double)

  /// What the wait is multiplied by, for a draw `r` in [0, 1).
  public func scale(_ r: Double) -> Double {
    switch self {
    case .none: 1
    case .full: r
    case .equal: 0.5 + r / 2
    case .proportional(let factor): 1 - factor + 2 * factor * r
    }
  }

  /// The largest value that ``scale(_:)`` comes near.
  public var largestScale: Double {
    if case .proportional(let factor) = self { 1 + factor } else { 1 }
  }
}
