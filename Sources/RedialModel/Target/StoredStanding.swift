public import RedialCore

/// What a store knows of a target that another instance runs: what that one writes for the next owner. Rates, budgets and
/// the number of attempts in flight are in the owner's memory alone.
public struct StoredStanding: Sendable, Hashable {
  /// When its breaker becomes half-open; nil if it is closed.
  public var openUntil: Timestamp?
  /// Whether it is paused.
  public var isPaused: Bool
  /// Whether an operator holds its breaker open.
  public var isTripped: Bool
  /// When its pace was last seen to be limited; nil if it was not.
  public var limitedAt: Timestamp?
  /// Until when it asked to be left alone by `Retry-After`; nil if it did not, or only for a short time.
  public var askedUntil: Timestamp?

  /// Creates what a store knows; by default of a target that takes calls.
  public init(
    openUntil: Timestamp? = nil, isPaused: Bool = false, isTripped: Bool = false, limitedAt: Timestamp? = nil,
    askedUntil: Timestamp? = nil
  ) {
    self.openUntil = openUntil
    self.isPaused = isPaused
    self.isTripped = isTripped
    self.limitedAt = limitedAt
    self.askedUntil = askedUntil
  }

  /// How the target stands now, as far as this tells.
  public func standing(at now: Timestamp) -> TargetStanding {
    var standing = TargetStanding(isPaused: isPaused, retryAfterUntil: askedUntil)
    // The owner does not write when a breaker becomes half-open.
    if let openUntil { standing.breaker = openUntil > now ? .open(until: openUntil) : .halfOpen }
    if isTripped { standing.breaker = .tripped }
    // While there is a limit it is written again at intervals. One that was not belongs to a target without calls.
    if let limitedAt { standing.isPaced = now - limitedAt < AdaptivePace.memory }
    return standing
  }
}
