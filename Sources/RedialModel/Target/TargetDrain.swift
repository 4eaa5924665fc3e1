public import RedialCore

extension TargetStanding {
  /// What a due call waits for that is no retry and need not wait for anything of its own.
  public func waitReason(at now: Timestamp) -> WaitReason {
    if isPaused { return .paused }
    if breaker == .tripped { return .breaker }
    var latest: (reason: WaitReason, until: Timestamp)?
    func consider(_ reason: WaitReason, _ time: Timestamp?) {
      guard let time, time > now, time > latest?.until ?? now else { return }
      latest = (reason, time)
    }
    consider(.retryAfter, heldUntil)
    consider(.rateLimit, rateUntil)
    if case .open(let until) = breaker { consider(.breaker, until) }
    if let latest { return latest.reason }
    return breaker == .closed ? .concurrency : .breaker
  }
}

extension TargetSnapshot {
  /// How long it would take to be done with what is due and under way, if everything went on as in the last minute; nil
  /// when nobody can say: the target is not asked for anything now, or nothing has ended in the last minute.
  ///
  /// By Little's law, attempts end at a rate of concurrency by mean duration (J. D. C. Little, Operations Research 9(3),
  /// 1961). The concurrency is what is under way where calls wait though no rate is set, since they would not wait if
  /// there could be more; else the target's limit. A rate that is set bounds it. Each call takes as many attempts as it
  /// took of late. What is not due yet is left out, and so is what comes in meanwhile.
  public var drainEstimate: Duration? {
    let due = waiting + inFlight
    guard breaker == .closed, !isPaused, !isTripped, heldUntil == nil else { return nil }
    guard due > 0 else { return .zero }
    let tally = recent.tally(over: .minute, at: time)
    guard let mean = tally.mean, tally.ends > 0 else { return nil }
    let isBusy = waiting > 0 && inFlight > 0 && settings.ratePerSecond == 0
    let concurrency = Double(isBusy ? inFlight : settings.maxInFlight)
    // No attempt is shorter than the clock's grain.
    var perSecond = concurrency / max(mean.inSeconds, 0.000_001)
    if settings.ratePerSecond > 0 { perSecond = min(perSecond, settings.ratePerSecond) }
    let attempts = Double(due) * Double(tally.attempts) / Double(tally.ends)
    let milliseconds = (attempts / perSecond * 1000).rounded(.up)
    return milliseconds < 9e15 ? .milliseconds(Int64(milliseconds)) : nil
  }
}
