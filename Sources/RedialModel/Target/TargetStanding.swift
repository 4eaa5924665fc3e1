public import RedialCore

/// What keeps a target from being asked, apart from what its calls wait for by themselves. A time that has passed keeps
/// nothing.
public struct TargetStanding: Sendable, Hashable {
  /// What its breaker does.
  public enum Breaker: Sendable, Hashable {
    /// Calls pass.
    case closed
    /// No call passes before then.
    case open(until: Timestamp)
    /// Probes pass.
    case halfOpen
    /// No call passes until somebody says so.
    case tripped
  }

  /// Its breaker.
  public var breaker: Breaker
  /// Whether somebody has paused it.
  public var isPaused: Bool
  /// When it wants to be asked again, by its own word.
  public var heldUntil: Timestamp?
  /// When its rate allows the next attempt.
  public var rateUntil: Timestamp?
  /// When its budget allows the next retry.
  public var retriesUntil: Timestamp?

  /// Creates a standing; without arguments, that of a target that takes calls.
  public init(
    breaker: Breaker = .closed, isPaused: Bool = false, heldUntil: Timestamp? = nil, rateUntil: Timestamp? = nil,
    retriesUntil: Timestamp? = nil
  ) {
    self.breaker = breaker
    self.isPaused = isPaused
    self.heldUntil = heldUntil
    self.rateUntil = rateUntil
    self.retriesUntil = retriesUntil
  }

  /// Whether it says nothing that a call would have to wait for at this time or later.
  public func isClear(at now: Timestamp) -> Bool {
    guard breaker == .closed, !isPaused else { return false }
    return [heldUntil, rateUntil, retriesUntil].allSatisfy { $0 == nil || ($0 ?? now) <= now }
  }
}
