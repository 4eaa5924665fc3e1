public import RedialCore

/// How a target has its calls wait at one time, apart from the waits that calls have of their own.
public struct TargetWait: Sendable, Hashable {
  /// Why they wait.
  public var reason: WaitReason
  /// As things stand, no call runs before this time; nil if that is unknown.
  public var until: Timestamp?
  /// A call whose own wait lasts until then, or longer, waits for that instead; nil if none does.
  public var ownFrom: Timestamp?
}

extension TargetStanding {
  /// How it has calls wait.
  ///
  /// If several reasons apply, the result is the one that lasts longest: first those that only an operator can end, then
  /// the latest time.
  ///
  /// - Parameter isRetry: Whether the next attempt of these calls is not the first of their round.
  public func wait(ofRetry isRetry: Bool, at now: Timestamp) -> TargetWait {
    if isPaused { return TargetWait(reason: .paused) }
    if breaker == .tripped { return TargetWait(reason: .breaker) }
    var latest: (reason: WaitReason, until: Timestamp)?
    func consider(_ reason: WaitReason, _ time: Timestamp?) {
      guard let time, time > now, time > latest?.until ?? now else { return }
      latest = (reason, time)
    }
    consider(.retryAfter, retryAfterUntil)
    consider(.rateLimit, rateUntil)
    if isRetry { consider(.retryBudget, retriesUntil) }
    if case .open(let until) = breaker { consider(.breaker, until) }
    if breaker == .closed { consider(.pace, paceUntil) }
    if let latest { return TargetWait(reason: latest.reason, until: latest.until, ownFrom: latest.until) }
    // Calls only wait for those before them.
    let later = now + .microseconds(1)
    return switch breaker {
    case .open: TargetWait(reason: .breaker, until: now, ownFrom: later)
    case .halfOpen, .tripped: TargetWait(reason: .breaker, ownFrom: later)
    case .closed:
      TargetWait(reason: reasonOfNext, until: isPaced ? paceUntil.map { max($0, now) } : nil, ownFrom: later)
    }
  }

  /// The wait reason of a due call that is not a retry and has no reason of its own.
  public func waitReason(at now: Timestamp) -> WaitReason { wait(ofRetry: false, at: now).reason }
}
