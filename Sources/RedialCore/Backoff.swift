/// How long to wait before each retry.
///
/// The base of retry `i`, counted from 0, is `initial · multiplier^i`; a
/// multiplier of 1 makes it constant. The base is capped at
/// `maximum / (1 + factor)` before jitter (*keepingSpread*), so that no wait
/// exceeds `maximum` and waits still differ once the cap is reached: capped
/// after jitter they would pile up at the cap and clients fall into step.
public struct Backoff: Sendable, Hashable {
  /// The base of the first retry.
  public var initial: Duration
  /// What each base is multiplied by to give the next; 1 or more.
  public var multiplier: Double
  /// No wait is longer.
  public var maximum: Duration
  /// How waits are spread.
  public var jitter: Jitter

  /// Creates a backoff; without arguments it is Redial's default, the numbers
  /// of ExponentialBackOff and Google's Java HTTP client.
  public init(
    initial: Duration = .milliseconds(500), multiplier: Double = 1.5, maximum: Duration = .seconds(60),
    jitter: Jitter = .proportional(factor: 0.5)
  ) {
    self.initial = initial
    self.multiplier = multiplier
    self.maximum = maximum
    self.jitter = jitter
  }

  /// One computed wait, and how it came about.
  public struct Wait: Sendable, Hashable {
    /// What to wait; never negative, never above the maximum.
    public var duration: Duration
    /// The capped base, before jitter.
    public var base: Duration
    /// What the base was multiplied by.
    public var scale: Double
  }

  /// The wait before retry `retry`, counted from 0. Defined, and without
  /// overflow, for every argument; a negative one counts as 0.
  ///
  /// - Complexity: O(log `retry`), no allocation.
  public func wait(beforeRetry retry: Int, using random: inout some RandomNumberGenerator) -> Wait {
    let scale = jitter.scale(random.unitInterval())
    let base = baseSeconds(retry)
    return Wait(
      duration: min(Duration(clampingSeconds: base * scale), max(.zero, maximum)),
      base: Duration(clampingSeconds: base), scale: scale)
  }

  /// The base of retry `retry` in seconds, capped so that jitter stays below the maximum.
  public func baseSeconds(_ retry: Int) -> Double {
    let cap = max(0, maximum.inSeconds) / jitter.largestScale
    let first = initial.inSeconds
    guard first > 0 else { return 0 }
    return min(cap, first * Self.power(max(1, multiplier), max(0, retry)))
  }

  /// `base` to a whole power by repeated squaring; grows to infinity, never to NaN, for a base of 1 or more.
  private static func power(_ base: Double, _ exponent: Int) -> Double {
    var result = 1.0
    var square = base
    var left = exponent
    while left > 0 {
      if left & 1 == 1 { result *= square }
      square *= square
      left >>= 1
    }
    return result
  }
}
