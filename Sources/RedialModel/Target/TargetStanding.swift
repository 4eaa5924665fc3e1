public import RedialCore

/// Why a target takes no calls now, apart from the calls' own wait reasons. A time that has passed has no effect.
public struct TargetStanding: Sendable, Hashable {
  /// The state of its breaker.
  public enum Breaker: Sendable, Hashable {
    /// Calls pass.
    case closed
    /// No call passes before that time.
    case open(until: Timestamp)
    /// Probes pass.
    case halfOpen
    /// No call passes until an operator changes that.
    case tripped
  }

  public var breaker: Breaker
  /// Whether its pace is limited to what it can take.
  public var isPaced: Bool
  /// When its pace allows the next attempt; nil if it is not limited, or if only another instance knows.
  public var paceUntil: Timestamp?
  /// Whether all connections to its origin are in use.
  public var lacksConnection: Bool
  /// Whether it is paused.
  public var isPaused: Bool
  /// The end of its Retry-After pause.
  public var retryAfterUntil: Timestamp?
  /// When its rate allows the next attempt.
  public var rateUntil: Timestamp?
  /// When its budget allows the next retry.
  public var retriesUntil: Timestamp?

  /// Creates a standing; by default that of a target that takes calls.
  public init(
    breaker: Breaker = .closed, isPaused: Bool = false, isPaced: Bool = false, paceUntil: Timestamp? = nil,
    lacksConnection: Bool = false, retryAfterUntil: Timestamp? = nil, rateUntil: Timestamp? = nil,
    retriesUntil: Timestamp? = nil
  ) {
    self.breaker = breaker
    self.isPaused = isPaused
    self.isPaced = isPaced
    self.paceUntil = paceUntil
    self.lacksConnection = lacksConnection
    self.retryAfterUntil = retryAfterUntil
    self.rateUntil = rateUntil
    self.retriesUntil = retriesUntil
  }

  /// Why a call waits that is due and could be the next.
  var reasonOfNext: WaitReason {
    if breaker != .closed { return .breaker }
    return lacksConnection ? .connections : isPaced ? .pace : .concurrency
  }

  /// Whether no call would have to wait for it at this time or later.
  public func isClear(at now: Timestamp) -> Bool {
    guard breaker == .closed, !isPaused, !isPaced, !lacksConnection else { return false }
    return [retryAfterUntil, rateUntil, retriesUntil].allSatisfy { $0 == nil || ($0 ?? now) <= now }
  }
}
