internal import RedialCore

extension PlanRequest {
  /// The maximum number of waits that the plan draws: one for each listed attempt in each sampled run.
  public var draws: Int { min(max(1, policy.maxAttempts), limit) * RetryPlan.sampledRuns }

  /// Refuses a plan that costs too much.
  ///
  /// - Parameter mostDraws: How many are allowed.
  /// - Throws: A problem of status 422 that says which number to lower.
  public func check(mostDraws: Int) throws(Problem) {
    guard draws > mostDraws else { return }
    let most = max(1, mostDraws / RetryPlan.sampledRuns)
    let fault = "lists too many attempts; lower it to \(most) or less"
    throw Problem(
      .previewTooLarge,
      detail:
        "The preview would draw \(draws) waits; at most \(mostDraws) are allowed. The limit \(fault).",
      errors: [.init(pointer: "/limit", detail: fault)])
  }
}

extension OutageScenario {
  /// About how many attempts the calls make without a breaker: one each, and those that arrive during the outage as
  /// many as fit into it. Without a capacity the target fails at no other time; with one, its retries may keep it down
  /// until the end of the forecast.
  public var expectedAttempts: Double {
    let calls = rate * duration.inSeconds
    let failing = target.capacity == nil ? outage.to - outage.from : duration
    let fitting = Double(policy.attemptsWithin(min(policy.deadline, failing)))
    let untilSuccess = outage.errorRate < 1 ? 1 / (1 - outage.errorRate) : .infinity
    let each = target.capacity == nil ? min(fitting, untilSuccess) : fitting
    return calls + min(calls, rate * failing.inSeconds) * max(0, each - 1)
  }

  /// Refuses a simulation that costs too much. One with a breaker is not checked in advance, because the breaker
  /// reduces its attempts; it ends early at the same limit.
  ///
  /// - Parameter mostAttempts: How many are allowed.
  /// - Throws: A problem of status 422 that says which number to lower.
  public func check(mostAttempts: Int) throws(Problem) {
    let calls = rate * duration.inSeconds
    let attempts = breaker == nil ? expectedAttempts : calls
    guard attempts > Double(mostAttempts) else { return }
    let rounded = Int(min(attempts, 1e15).rounded())
    let fault = "makes too many attempts: lower rate or duration, or shorten the outage"
    throw Problem(
      .simulationTooLarge,
      detail:
        "Its \(Int(calls.rounded())) calls would make about \(rounded) attempts; at most \(mostAttempts) are "
        + "allowed. Lower the rate or the duration, shorten the outage, let the policy make fewer "
        + "attempts, or use a breaker.",
      errors: [.init(pointer: "/rate", detail: fault)])
  }
}

extension RetryPolicy {
  /// The maximum number of attempts in the estimate.
  private static let mostCounted = 100_000

  /// How many attempts that fail at once fit into a time, with waits of their mean length.
  fileprivate func attemptsWithin(_ duration: Duration) -> Int {
    var (count, time) = (1, 0.0)
    while count < min(maxAttempts, Self.mostCounted), let wait = backoff.range(beforeRetry: count - 1) {
      time += (wait.lowerBound.inSeconds + wait.upperBound.inSeconds) / 2
      if time > duration.inSeconds { break }
      count += 1
    }
    return count
  }
}
