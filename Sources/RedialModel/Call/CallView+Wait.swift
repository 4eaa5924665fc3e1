public import RedialCore

extension CallView.Wait {
  /// Why a call waits, and when it can run at the earliest; nil if it does not wait.
  ///
  /// If several reasons apply, the result is the one that lasts longest: first those that only an operator or another
  /// call can end, then the latest time. The time is nil if it is unknown, and if the call's deadline comes first.
  public init?(of call: CallRecord, for target: TargetStanding, at now: Timestamp) {
    let progress = call.progress
    guard progress.state.visible == .scheduled else { return nil }
    if progress.waiting == .ordering {
      self.init(reason: .ordering, until: nil)
    } else if target.isPaused {
      self.init(reason: .paused, until: nil)
    } else if target.breaker == .tripped {
      self.init(reason: .breaker, until: nil)
    } else {
      var latest: Self?
      func consider(_ reason: WaitReason, _ time: Timestamp?) {
        guard let time, time > now, time > latest?.until ?? now else { return }
        latest = Self(reason: reason, until: time)
      }
      switch progress.waiting {
      case .startTime?, .backoff?, .retryAfter?, .retryBudget?: consider(progress.waiting ?? .startTime, progress.due)
      default: break
      }
      consider(.retryAfter, target.retryAfterUntil)
      consider(.rateLimit, target.rateUntil)
      if progress.isRetry { consider(.retryBudget, target.retriesUntil) }
      if case .open(let until) = target.breaker { consider(.breaker, until) }
      if target.breaker == .closed { consider(.pace, target.paceUntil) }
      self = latest ?? Self.behindOthers(target, at: now)
      if let until, until >= call.lastStart { self.until = nil }
    }
  }

  /// It only waits for the calls before it.
  private static func behindOthers(_ target: TargetStanding, at now: Timestamp) -> Self {
    switch target.breaker {
    case .open: Self(reason: .breaker, until: now)
    case .halfOpen, .tripped: Self(reason: .breaker, until: nil)
    case .closed:
      Self(reason: target.reasonOfNext, until: target.isPaced ? target.paceUntil.map { max($0, now) } : nil)
    }
  }
}
