/// Gives a target that has just recovered a growing share of its load, rather than all of it at once.
///
/// share = max(initialShare, (elapsed / duration)^(1 / aggression)), from the recovery on, until it is 1 (Envoy,
/// "Slow start mode", whose shortest elapsed second is left out). Nothing is allocated.
public struct SlowStart: Sendable, Hashable {
  /// The length of the ramp; none if it is zero or less.
  public let duration: Duration
  /// The minimum share of the load, 0...1.
  public let initialShare: Double
  /// The shape of the ramp, 0.1...10: 1 is a straight line, more is quick at first, less is slow at first.
  public let aggression: Double
  /// When the ramp began; nil if there was no recovery.
  public private(set) var startedAt: Timestamp?

  /// A ramp that has not begun: the share is 1. Values out of range are clamped; one that is not a number is replaced
  /// by the default.
  public init(duration: Duration = .seconds(30), initialShare: Double = 0.1, aggression: Double = 1) {
    self.duration = duration
    self.initialShare = initialShare.isNaN ? 0.1 : min(max(0, initialShare), 1)
    self.aggression = aggression.isNaN ? 1 : min(max(0.1, aggression), 10)
  }

  /// Begins the ramp, or begins it again: call it when a breaker closes.
  public mutating func start(at now: Timestamp) {
    startedAt = now
  }

  /// The permitted share of the full load at this time, ``initialShare``...1.
  public func share(at now: Timestamp) -> Double {
    guard let startedAt, duration > .zero else { return 1 }
    let elapsed = now - startedAt
    // A clock that has stepped back far says nothing about the recovery, and would keep the share low until it reaches
    // its old time.
    guard elapsed < duration, startedAt - now < duration else { return 1 }
    guard elapsed > .zero else { return initialShare }
    let passed = elapsed.inSeconds / duration.inSeconds
    return max(initialShare, min(1, Elementary.power(passed, 1 / aggression)))
  }

  /// The permitted part of a full rate or concurrency at this time, rounded down, 1 at least.
  public func limit(of full: Int, at now: Timestamp) -> Int {
    let share = share(at: now)
    guard share < 1, full > 1 else { return max(1, full) }
    // Below 2^63 · (1 − 2^−53), which an Int holds.
    return min(full, max(1, Int(Double(full) * share)))
  }
}
