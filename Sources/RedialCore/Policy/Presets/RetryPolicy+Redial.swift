/// Redial's own policies.
extension RetryPolicy {
  /// An HTTP request that an app waits for: 10 attempts within two minutes, their waits drawn from 0 up to 0.5 s, doubled
  /// each time, at most 30 s.
  ///
  /// The pace is that of ``alley``, which has no deadline and a list of statuses of its own.
  public static let http = RetryPolicy(
    maxAttempts: 10, deadline: .seconds(120),
    backoff: Backoff(initial: .milliseconds(500), multiplier: 2, maximum: .seconds(30), jitter: .full))

  /// The service's default: a call survives a bad day. Exponential 500 ms × 2 up to 10 minutes, ±50 %, for 24 hours,
  /// without a limit on attempts (about 225 if the target is down all day).
  ///
  /// The library's default, `RetryPolicy()`, has three attempts: a caller that waits in its own process gives up earlier
  /// than a service that keeps the call on disk.
  public static let service = RetryPolicy(
    maxAttempts: unlimited, deadline: .seconds(24 * 3600),
    backoff: Backoff(initial: .milliseconds(500), multiplier: 2, maximum: .seconds(600)), onTrip: .wait)
}
