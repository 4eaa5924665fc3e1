/// The documented defaults of services and job systems. If those count retries, there is one more attempt here; if they
/// limit neither time nor attempts, neither is limited here.
extension RetryPolicy {
  /// Svix: 8 attempts at fixed times, ±20 %.
  public static let svix = RetryPolicy(
    maxAttempts: 8, deadline: .longest,
    backoff: .schedule(
      [5, 300, 1800, 7200, 18_000, 36_000, 36_000], then: .stop, jitter: .proportional(factor: 0.2)))

  /// Google Cloud Tasks: 100 attempts, 0.1 s doubled 16 times, then growing evenly, to an hour.
  public static let cloudTasks = RetryPolicy(
    maxAttempts: 100, deadline: .longest,
    backoff: Backoff(
      .doublingsThenLinear(initial: .milliseconds(100), doublings: 16), maximum: .seconds(3600), jitter: .none))

  /// Temporal's activities: 1 s × 2 to 100 s, without end.
  public static let temporal = RetryPolicy(
    maxAttempts: unlimited, deadline: .longest,
    backoff: Backoff(initial: .seconds(1), multiplier: 2, maximum: .seconds(100), jitter: .none))

  /// Restate: 50 ms × 2 to 60 s, 70 attempts.
  public static let restate = RetryPolicy(
    maxAttempts: 70, deadline: .longest,
    backoff: Backoff(initial: .milliseconds(50), multiplier: 2, maximum: .seconds(60), jitter: .none))

  /// Sidekiq: 25 retries, n⁴ + 15 + rand(10)·(n + 1) s with n from 0; the random number is not rounded here.
  public static let sidekiq = RetryPolicy(
    maxAttempts: 26, deadline: .longest,
    backoff: Backoff(
      .polynomial(unit: .seconds(1), exponent: 4, offset: .seconds(15), first: 0), maximum: .longest,
      jitter: .additivePerRetry(.seconds(10))))

  /// Faktory: 25 retries, n⁴ + 15 + rand(30)·(n + 1) s with n from 0; the random number is not rounded here.
  public static let faktory = RetryPolicy(
    maxAttempts: 26, deadline: .longest,
    backoff: Backoff(
      .polynomial(unit: .seconds(1), exponent: 4, offset: .seconds(15), first: 0), maximum: .longest,
      jitter: .additivePerRetry(.seconds(30))))

  /// River: 25 attempts, n⁴ s ± 10 % with n from 1.
  public static let river = RetryPolicy(
    maxAttempts: 25, deadline: .longest,
    backoff: Backoff(
      .polynomial(unit: .seconds(1), exponent: 4), maximum: .longest, jitter: .proportional(factor: 0.1)))

  /// QStash: 3 retries, e^(2.5 n) s with n from 1, at most a day.
  public static let qstash = RetryPolicy(
    maxAttempts: 4, deadline: .longest,
    backoff: Backoff(
      initial: .microseconds(12_182_494), multiplier: 12.182_493_960_703_473, maximum: .seconds(86_400), jitter: .none))

  /// Hookdeck Outpost: 10 retries, 30 s × 2, without jitter or a maximum.
  public static let outpost = RetryPolicy(
    maxAttempts: 11, deadline: .longest,
    backoff: Backoff(initial: .seconds(30), multiplier: 2, maximum: .longest, jitter: .none))

  /// Convoy's default strategy: 10 retries, 100 s apart.
  public static let convoy = RetryPolicy(maxAttempts: 11, deadline: .longest, backoff: .constant(.seconds(100)))

  /// Convoy's exponential strategy: 10 retries, min(interval·2ⁿ, 7200) + U[0, 5) s.
  public static let convoyExponential = RetryPolicy(
    maxAttempts: 11, deadline: .longest,
    backoff: Backoff(
      initial: .seconds(100), multiplier: 2, maximum: .seconds(7200), jitter: .additive(.seconds(5)),
      cap: .beforeJitter))

  /// Amazon SNS to HTTP endpoints: 3 retries, 20 s apart.
  public static let sns = RetryPolicy(maxAttempts: 4, deadline: .longest, backoff: .constant(.seconds(20)))

  /// Azure Event Grid: 30 attempts or 24 hours, 10 s to 12 hours.
  public static let eventGrid = RetryPolicy(
    maxAttempts: 30, deadline: .seconds(86_400),
    backoff: .schedule([10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200], then: .repeatLast))
}
