/// How long to wait before each retry: a curve, a maximum, jitter.
///
/// ```swift
/// Backoff()                                                  // 500 ms, ×1.5, at most 60 s, ±50 %
/// Backoff(.constant(.seconds(2)), jitter: .none)
/// Backoff(.schedule([.seconds(5), .seconds(300), .seconds(1800)], then: .stop))
/// ```
///
/// Every wait is defined for every argument: nothing overflows, nothing traps,
/// no wait is negative, and none exceeds the maximum unless ``cap`` says so.
public struct Backoff: BackoffStrategy, Sendable, Hashable {
  /// How the base grows.
  public var curve: BackoffCurve
  /// The maximum wait; see ``cap``.
  public var maximum: Duration
  /// How waits are spread. A curve that is random itself (decorrelated) has no jitter.
  public var jitter: Jitter
  /// How the maximum and the jitter are combined.
  public var cap: CapMode

  /// Creates a backoff of a curve.
  public init(
    _ curve: BackoffCurve, maximum: Duration = .seconds(60), jitter: Jitter = .proportional(factor: 0.5),
    cap: CapMode = .keepingSpread
  ) {
    self.curve = curve
    self.maximum = maximum
    self.jitter = jitter
    self.cap = cap
  }

  /// Creates an exponential backoff; without arguments it is Redial's default,
  /// the numbers of ExponentialBackOff and Google's Java HTTP client.
  public init(
    initial: Duration = .milliseconds(500), multiplier: Double = 1.5, maximum: Duration = .seconds(60),
    jitter: Jitter = .proportional(factor: 0.5), cap: CapMode = .keepingSpread
  ) {
    self.init(.exponential(initial: initial, multiplier: multiplier), maximum: maximum, jitter: jitter, cap: cap)
  }

  /// The default, by name.
  public static func exponential(
    initial: Duration = .milliseconds(500), multiplier: Double = 1.5, maximum: Duration = .seconds(60),
    jitter: Jitter = .proportional(factor: 0.5)
  ) -> Backoff {
    Backoff(initial: initial, multiplier: multiplier, maximum: maximum, jitter: jitter)
  }

  /// The same wait each time.
  public static func constant(_ wait: Duration, jitter: Jitter = .none) -> Backoff {
    Backoff(.constant(wait), maximum: .longest, jitter: jitter)
  }

  /// The wait before retry `retry`, counted from 0; a negative one counts as 0. Nil when a schedule has ended.
  ///
  /// Draws from `random` exactly once, whatever the jitter, so that changing it changes no later draw.
  ///
  /// - Complexity: O(log `retry`), and up to 1,480 additions for Fibonacci; no allocation.
  public func wait(
    beforeRetry retry: Int, after history: WaitHistory = .none, using random: inout some RandomNumberGenerator
  ) -> BackoffWait? {
    let r = random.unitInterval()
    let retry = max(0, retry)
    switch curve {
    case .decorrelated(let base): return decorrelated(base.inSeconds, after: history, r)
    case .decorrelatedSmooth(let median): return smooth(median.inSeconds, retry, after: history, r)
    default: break
    }
    guard let uncapped = curve.seconds(beforeRetry: retry) else { return nil }
    let base = cappedBase(uncapped, retry)
    var seconds = base * jitter.scale(r) + jitter.largestAddition(retry) * r
    var clamps: WaitClamps = base < uncapped ? .maximum : []
    let most = max(0, maximum.inSeconds)
    if cap != .beforeJitter, seconds > most {
      seconds = most
      clamps.insert(.maximum)
    }
    return BackoffWait(
      Duration(clampingSeconds: seconds), base: Duration(clampingSeconds: base), scale: jitter.scale(r), clamps: clamps)
  }

  /// The base of retry `retry`, counted from 0, in seconds, limited as ``cap`` says but before jitter; nil when a
  /// schedule has ended. For the two decorrelated curves, which have no base of their own, the shortest wait.
  public func baseSeconds(_ retry: Int) -> Double? {
    let retry = max(0, retry)
    return curve.seconds(beforeRetry: retry).map { cappedBase($0, retry) }
  }

  /// The shortest and the longest wait before retry `retry`, counted from 0; nil when a schedule has ended.
  public func range(beforeRetry retry: Int) -> ClosedRange<Duration>? {
    let retry = max(0, retry)
    let most = max(0, maximum.inSeconds)
    switch curve {
    case .decorrelated(let base):
      let low = min(most, max(0, base.inSeconds))
      guard low > 0 else { return .zero ... .zero }
      let high = min(most, max(0, base.inSeconds) * Elementary.power(3, retry + (retry == .max ? 0 : 1)))
      return Duration(clampingSeconds: low)...Duration(clampingSeconds: max(low, high))
    case .decorrelatedSmooth(let median):
      // From two equal draws to two that are farthest apart.
      let before = BackoffCurve.smoothSum(max(0, Double(retry) - 1))
      let last = BackoffCurve.smoothSum(Double(retry) + 1)
      let unit = max(0, median.inSeconds) / BackoffCurve.smoothScale
      guard unit > 0, before < .infinity else { return .zero...Duration(clampingSeconds: unit > 0 ? most : 0) }
      return .zero...Duration(clampingSeconds: min(most, (last - before) * unit))
    default: break
    }
    guard let uncapped = curve.seconds(beforeRetry: retry) else { return nil }
    let spread = jitter.range(of: cappedBase(uncapped, retry), retry: retry)
    let bound = cap == .beforeJitter ? Double.infinity : most
    return Duration(
      clampingSeconds: min(bound, spread.lowerBound))...Duration(
        clampingSeconds: min(bound, spread.upperBound))
  }

  private func cappedBase(_ seconds: Double, _ retry: Int) -> Double {
    let most = max(0, maximum.inSeconds)
    return switch cap {
    case .keepingSpread:
      min(seconds, max(0, most - jitter.largestAddition(retry)) / jitter.largestScale)
    // Kept finite, so that the result of the jitter is finite too.
    case .afterJitter: min(seconds, Duration.longest.inSeconds)
    case .beforeJitter: min(seconds, most)
    }
  }

  /// `s ← min(cap, uniform[b, 3s])`, `s₀ = b` (AWS Architecture Blog, 2015).
  private func decorrelated(_ base: Double, after history: WaitHistory, _ r: Double) -> BackoffWait {
    let most = max(0, maximum.inSeconds)
    let base = max(0, base)
    let previous = history.previous > .zero ? history.previous.inSeconds : base
    let drawn = base + r * max(0, previous * 3 - base)
    let seconds = min(most, drawn)
    return BackoffWait(
      Duration(clampingSeconds: seconds), base: Duration(clampingSeconds: base),
      scale: base > 0 ? seconds / base : 1, clamps: drawn > most ? .maximum : [])
  }

  /// With `t = i + r` and `f(t) = 2^t·tanh(√4t)`: `(f(t) − f of the retry before)·b/1.4` (Polly's decorrelated jitter
  /// V2). The sum of the waits so far gives the `f` of the retry before.
  private func smooth(_ median: Double, _ retry: Int, after history: WaitHistory, _ r: Double) -> BackoffWait {
    let most = max(0, maximum.inSeconds)
    let unit = max(0, median) / BackoffCurve.smoothScale
    guard unit > 0 else { return BackoffWait(.zero) }
    let drawn = BackoffCurve.smoothSum(Double(retry) + r) * unit - history.total.inSeconds
    let seconds = min(most, max(0, drawn))
    return BackoffWait(
      Duration(clampingSeconds: seconds), base: Duration(clampingSeconds: median), scale: seconds / median,
      clamps: drawn > most ? .maximum : [])
  }
}
