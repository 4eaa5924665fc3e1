extension RetryPolicy {
  /// Warnings about a policy, except about the attempts that its deadline leaves no time for, which
  /// ``plan(attemptDuration:limit:seed:)`` adds.
  public var warnings: [PolicyWarning] { warnings(unreachableFrom: nil) }

  func warnings(unreachableFrom attempt: Int?) -> [PolicyWarning] {
    var found: [PolicyWarning] = []
    guard maxAttempts > 1 else { return [.noRetry] }
    if maxAttempts == Self.unlimited, deadline >= .longest { found.append(.unbounded) }
    if deadlineRule.measure == .elapsed {
      if attemptTimeout > deadline { found.append(.timeoutBeyondDeadline) }
      if deadlineRule.minimumAttemptTime >= deadline { found.append(.minimumAttemptTimeBeyondDeadline) }
      if deadlineRule.lastAttempt == .pullForward, deadlineRule.minimumAttemptTime <= .zero {
        found.append(.noTimeForLastAttempt)
      }
      if retryAfter.isRespected, retryAfter.beyond == .park, retryAfter.maximum > deadline {
        found.append(.retryAfterBeyondDeadline)
      }
    }
    if let attempt, maxAttempts != Self.unlimited { found.append(.unreachableAttempts(from: attempt)) }
    if let waits = waitsThatEndEarly { found.append(.attemptsEndEarly(after: waits)) }
    found += backoff.warnings
    found += statusWarnings
    return found
  }

  /// The maximum of all waits together, if that is less than a tenth of the deadline.
  private var waitsThatEndEarly: Duration? {
    guard deadlineRule.measure == .elapsed, deadline < .longest else { return nil }
    let enough = deadline / 10
    var total = Duration.zero
    for retry in 0..<min(maxRetries, Self.retriesLookedAt) {
      guard let wait = waitRange(beforeRetry: retry) else { return total < enough ? total : nil }
      total += wait.upperBound
      if total >= enough { return nil }
    }
    guard maxRetries > Self.retriesLookedAt else { return total < enough ? total : nil }
    // The waits beyond this number are not added one by one, because a caller chooses their number. They grow at least
    // evenly, so that the mean of the first and the last is not too small.
    guard let first = waitRange(beforeRetry: Self.retriesLookedAt), let last = waitRange(beforeRetry: maxRetries - 1)
    else { return nil }
    let mean = (first.upperBound.inSeconds + last.upperBound.inSeconds) / 2
    total = Duration(clampingSeconds: total.inSeconds + mean * Double(maxRetries - Self.retriesLookedAt))
    return total < enough ? total : nil
  }

  /// The waits of this many retries are added one by one.
  private static let retriesLookedAt = 1000

  private var statusWarnings: [PolicyWarning] {
    var found: [PolicyWarning] = []
    for status in 100...999 where retryOn.statuses.contains(status) {
      if stopOn.contains(status) {
        found.append(.contradictoryStatus(status))
      } else if StatusSet.permanent.contains(status) {
        found.append(.permanentStatusRetried(status))
      }
    }
    return found
  }
}

extension Backoff {
  fileprivate var warnings: [PolicyWarning] {
    var found: [PolicyWarning] = []
    let first = range(beforeRetry: 0)
    if let first, first.upperBound == .zero { found.append(.noWait) }
    if case .exponential(_, let multiplier) = curve, !(multiplier >= 1) { found.append(.multiplierBelowOne) }
    if let initial = curve.seconds(beforeRetry: 0), initial > maximum.inSeconds { found.append(.initialBeyondMaximum) }
    switch curve {
    case .decorrelated, .decorrelatedSmooth: return found
    default: break
    }
    switch jitter {
    case .none: if first?.upperBound != .zero { found.append(.noJitter) }
    case .proportional(let factor):
      if !(factor >= 0 && factor <= 1) { found.append(.factorOutOfRange) }
      if factor == 0 { found.append(.noJitter) }
    default: break
    }
    guard jitter != .none, maximum < .longest else { return found }
    let late = curve.seconds(beforeRetry: 1000) ?? 0
    let spread = jitter.range(of: min(late, Duration.longest.inSeconds), retry: 1000)
    switch cap {
    case .keepingSpread: break
    case .afterJitter: if spread.upperBound > maximum.inSeconds { found.append(.jitterLostAtMaximum) }
    case .beforeJitter:
      let most = jitter.range(of: min(late, maximum.inSeconds), retry: 0).upperBound
      if most > maximum.inSeconds { found.append(.waitBeyondMaximum(Duration(clampingSeconds: most))) }
    }
    return found
  }
}

extension StatusSet {
  /// The statuses that say that the request itself is wrong (RFC 9110 §15.5, §15.6), so that the same request cannot
  /// succeed later.
  public static let permanent = StatusSet([
    200...399, 400...401, 403...407, 410...422, 426...426, 428...428, 431...431, 451...451, 501...501, 505...505,
    511...511,
  ])
}
