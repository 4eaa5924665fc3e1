/// The policies of the four systems that Redial supersedes, with their defaults.
extension RetryPolicy {
  /// ExponentialBackOff 1.1.1 (Ybrin): 500 ms × 1.5 to 60 s, ±50 %, capped after jitter; a wait before the first run, too;
  /// 15 minutes of waiting, looked at before each wait. No timeout of an attempt.
  public static let exponentialBackOff = RetryPolicy(
    maxAttempts: unlimited, deadline: .seconds(15 * 60), deadlineRule: DeadlineRule(measure: .sumOfWaits),
    attemptTimeout: .longest, initialDelay: .backoff, backoff: Backoff(cap: .afterJitter))

  /// CircuitBreaker (fe9lix): 3 attempts of 10 s each, 2 s and then 2² s between them. Its breaker is
  /// ``CircuitBreakerSettings/fe9lix``.
  public static let fe9lix = RetryPolicy(
    maxAttempts: 3, deadline: .longest, attemptTimeout: .seconds(10),
    backoff: Backoff(.power(base: .seconds(2)), maximum: .longest, jitter: .none), onTrip: .fail)

  /// Alley (Radiant Tap): 10 attempts, full jitter of 0.5 s × 2 to 30 s, its statuses, no timeout of an attempt.
  public static let alley = RetryPolicy(
    maxAttempts: 10, deadline: .longest, attemptTimeout: .longest,
    backoff: Backoff(initial: .milliseconds(500), multiplier: 2, maximum: .seconds(30), jitter: .full),
    retryOn: RetryConditions(network: .always, statuses: .alley))

  /// The waits of RetryingOperation's sister project (happn): drawn from zero up to a table's entry, 1 s to 6 hours.
  public static let happn = RetryPolicy(
    maxAttempts: unlimited, deadline: .longest,
    backoff: .schedule([1, 3, 15, 27, 42, 60, 3600, 21_600], then: .repeatLast, jitter: .full))
}

extension StatusSet {
  /// What Alley retries.
  public static let alley = StatusSet(statuses: [408, 429, 444, 503, 504, 599])
}

extension Backoff {
  /// A schedule of whole seconds, without a maximum.
  static func schedule(_ seconds: [Int], then: BackoffCurve.AfterSchedule, jitter: Jitter = .none) -> Backoff {
    Backoff(.schedule(seconds.map { .seconds($0) }, then: then), maximum: .longest, jitter: jitter)
  }
}
