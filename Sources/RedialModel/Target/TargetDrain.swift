internal import RedialCore

extension TargetSnapshot {
  /// How long the target would take for all due calls and those in flight, if it continued as in the last minute; nil
  /// if that is unknown: the target gets no requests now, or no attempt has ended in the last minute.
  ///
  /// By Little's law, attempts end at a rate of concurrency divided by mean duration (J. D. C. Little, Operations
  /// Research 9(3), 1961). The concurrency is the number of attempts in flight if calls wait although no rate is set,
  /// because they would not wait if there could be more; else the target's limit. A rate limits the result. Each call
  /// takes as many attempts as recent ones did. Calls that are not due yet are left out, and so are new ones.
  public var drainEstimate: Duration? {
    let due = waiting + inFlight
    guard breaker == .closed, !isPaused, !isTripped, retryAfterUntil == nil else { return nil }
    guard due > 0 else { return .zero }
    let tally = recent.tally(over: .minute, at: time)
    guard tally.ends > 0, let perSecond = attemptsPerSecond(tally) else { return nil }
    let attempts = Double(due) * Double(tally.attempts) / Double(tally.ends)
    let milliseconds = (attempts / perSecond * 1000).rounded(.up)
    return milliseconds < 9e15 ? .milliseconds(Int64(milliseconds)) : nil
  }

  private func attemptsPerSecond(_ tally: AttemptTally) -> Double? {
    guard let mean = tally.mean else { return nil }
    let isBusy = waiting > 0 && inFlight > 0 && settings.ratePerSecond == 0
    let concurrency = Double(isBusy ? inFlight : settings.maxInFlight)
    // No attempt is shorter than the clock's resolution.
    var perSecond = concurrency / max(mean.inSeconds, 0.000_001)
    if settings.ratePerSecond > 0 { perSecond = min(perSecond, settings.ratePerSecond) }
    if let rate = pace?.rate { perSecond = min(perSecond, rate) }
    return perSecond
  }
}
