/// How a computed wait is spread, so that clients that failed together do not
/// come back together.
///
/// With `d` the computed wait, `r` uniform in [0, 1) and `i` the retry counted
/// from 0: the names and formulas are those of "Exponential Backoff And Jitter"
/// (AWS Architecture Blog, 2015); `proportional` is that of Google's Java HTTP
/// client and ExponentialBackOff.
public enum Jitter: Sendable, Hashable {
  /// `d`
  case none
  /// `r·d`
  case full
  /// `d/2 + r·d/2`
  case equal
  /// `d·(1 − f + 2f·r)` for a factor `f` in 0...1; what lies outside counts as the nearer end, so that no wait is
  /// negative.
  case proportional(factor: Double)
  /// `d + r·a`, as Convoy has it.
  case additive(Duration)
  /// `d + r·a·(i + 1)`, as Sidekiq and Faktory have it.
  case additivePerRetry(Duration)

  /// The factor of the wait, for a draw `r` in [0, 1); 1 for jitter that is added.
  public func scale(_ r: Double) -> Double {
    switch self {
    case .none, .additive, .additivePerRetry: return 1
    case .full: return r
    case .equal: return 0.5 + r / 2
    case .proportional(let factor):
      let factor = Self.share(factor)
      return 1 - factor + 2 * factor * r
    }
  }

  /// The largest value that ``scale(_:)`` comes near.
  public var largestScale: Double {
    if case .proportional(let factor) = self { 1 + Self.share(factor) } else { 1 }
  }

  /// The most that is added before retry `retry`, in seconds.
  func largestAddition(_ retry: Int) -> Double {
    switch self {
    case .additive(let most): max(0, most.inSeconds)
    case .additivePerRetry(let most): max(0, most.inSeconds) * (Double(retry) + 1)
    default: 0
    }
  }

  /// The shortest and the longest wait, in seconds, that a base of so many seconds becomes.
  func range(of base: Double, retry: Int) -> ClosedRange<Double> {
    let low = base * scale(0)
    return low...max(low, base * scale(1) + largestAddition(retry))
  }

  private static func share(_ factor: Double) -> Double {
    factor > 0 ? min(1, factor) : 0
  }
}

/// Where the maximum of a backoff meets its jitter.
public enum CapMode: UInt8, Sendable, Hashable, CaseIterable {
  /// The base is capped so that the longest jittered wait is the maximum: at `maximum / (1 + f)`. No wait exceeds the
  /// maximum, and waits still differ once it is reached.
  case keepingSpread
  /// The jittered wait is capped: probability piles up at the maximum, and clients fall into step there
  /// (ExponentialBackOff, resilience4j; botocore issue 3178).
  case afterJitter
  /// The base is capped at the maximum, and jitter may exceed it (Google's Java client, cenkalti/backoff, gRPC).
  case beforeJitter
}
