/// How a computed wait is spread, so that clients that failed together do not retry together.
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
  /// `d·(1 − f + 2f·r)` for a factor `f` in 0...1; for a factor outside, the nearest value in that range is used, so
  /// that no wait is negative.
  case proportional(factor: Double)
  /// `d + r·a`, as in Convoy.
  case additive(Duration)
  /// `d + r·a·(i + 1)`, as in Sidekiq and Faktory.
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

  /// The supremum of ``scale(_:)``.
  public var largestScale: Double {
    if case .proportional(let factor) = self { 1 + Self.share(factor) } else { 1 }
  }

  /// The maximum that is added before retry `retry`, in seconds.
  func largestAddition(_ retry: Int) -> Double {
    switch self {
    case .additive(let most): max(0, most.inSeconds)
    case .additivePerRetry(let most): max(0, most.inSeconds) * (Double(retry) + 1)
    default: 0
    }
  }

  /// The shortest and the longest wait, in seconds, for a base in seconds.
  func range(of base: Double, retry: Int) -> ClosedRange<Double> {
    let low = base * scale(0)
    return low...max(low, base * scale(1) + largestAddition(retry))
  }

  private static func share(_ factor: Double) -> Double {
    factor > 0 ? min(1, factor) : 0
  }
}

/// How the maximum of a backoff and its jitter are combined.
public enum CapMode: UInt8, Sendable, Hashable, CaseIterable {
  /// The base is capped so that the longest jittered wait is the maximum: at `maximum / (1 + f)`. No wait exceeds the
  /// maximum, and waits still differ at the maximum.
  case keepingSpread
  /// The jittered wait is capped: many waits are exactly the maximum, and clients retry together (ExponentialBackOff,
  /// resilience4j; botocore issue 3178).
  case afterJitter
  /// The base is capped at the maximum, and jitter may exceed it (Google's Java client, cenkalti/backoff, gRPC).
  case beforeJitter
}
