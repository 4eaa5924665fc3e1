/// The documented defaults of libraries and tools.
extension RetryPolicy {
  /// The standard mode of the AWS SDKs: 3 attempts, r·min(50 ms·2^i, 20 s), from 1 s after throttling.
  public static let aws = RetryPolicy(
    maxAttempts: 3, deadline: .longest,
    backoff: Backoff(initial: .milliseconds(50), multiplier: 2, maximum: .seconds(20), jitter: .full),
    throttlingBackoff: Backoff(initial: .seconds(1), multiplier: 2, maximum: .seconds(20), jitter: .full))

  /// The standard mode of the AWS SDKs before 2026: from 1 s whatever the failure.
  public static let awsBefore2026 = RetryPolicy(
    maxAttempts: 3, deadline: .longest,
    backoff: Backoff(initial: .seconds(1), multiplier: 2, maximum: .seconds(20), jitter: .full))

  /// The decorrelated jitter of the AWS Architecture Blog (2015).
  public static let awsDecorrelated = RetryPolicy(
    maxAttempts: 3, deadline: .longest,
    backoff: Backoff(.decorrelated(base: .milliseconds(50)), maximum: .seconds(20), jitter: .none))

  /// gRPC's retry policy (gRFC A6): min(initial·m^i, max)·(0.8 + 0.4r), at most 5 attempts. The numbers left out are those
  /// of the proposal's example.
  public static func gRPC(
    maxAttempts: Int = 4, initial: Duration = .milliseconds(100), maximum: Duration = .seconds(1),
    multiplier: Double = 2
  ) -> RetryPolicy {
    RetryPolicy(
      maxAttempts: min(5, maxAttempts), deadline: .longest,
      backoff: Backoff(
        initial: initial, multiplier: multiplier, maximum: maximum, jitter: .proportional(factor: 0.2),
        cap: .beforeJitter))
  }

  /// gRPC's connection backoff: 1 s × 1.6 to 120 s, ±20 %, without end.
  public static let gRPCConnection = RetryPolicy(
    maxAttempts: unlimited, deadline: .longest,
    backoff: Backoff(
      initial: .seconds(1), multiplier: 1.6, maximum: .seconds(120), jitter: .proportional(factor: 0.2),
      cap: .beforeJitter))

  /// Google's Java HTTP client: 500 ms × 1.5 to 60 s, ±50 % on top of the maximum, 15 minutes of real time.
  public static let googleHTTPClient = RetryPolicy(
    maxAttempts: unlimited, deadline: .seconds(15 * 60), backoff: Backoff(cap: .beforeJitter))

  /// Polly's default: 3 retries, 2 s apart.
  public static let polly = RetryPolicy(maxAttempts: 4, deadline: .longest, backoff: .constant(.seconds(2)))

  /// Polly's exponential strategy with jitter: decorrelated jitter V2 from a median of 2 s.
  public static let pollyJittered = RetryPolicy(
    maxAttempts: 4, deadline: .longest,
    backoff: Backoff(.decorrelatedSmooth(median: .seconds(2)), maximum: .longest, jitter: .none))

  /// resilience4j's default: 3 attempts, 500 ms apart.
  public static let resilience4j = RetryPolicy(
    maxAttempts: 3, deadline: .longest, backoff: .constant(.milliseconds(500)))

  /// resilience4j's exponential random backoff with its defaults: 500 ms × 1.5, ±50 %.
  public static let resilience4jExponential = RetryPolicy(
    maxAttempts: 3, deadline: .longest, backoff: Backoff(maximum: .longest, cap: .afterJitter))

  /// Failsafe: 2 retries at once.
  public static let failsafe = RetryPolicy(maxAttempts: 3, deadline: .longest, backoff: .constant(.zero))

  /// `curl --retry`: 1 s × 2 to 10 minutes.
  public static func curl(retries: Int) -> RetryPolicy {
    RetryPolicy(
      maxRetries: retries,
      backoff: Backoff(initial: .seconds(1), multiplier: 2, maximum: .seconds(600), jitter: .none))
  }

  /// urllib3: the first retry at once, then factor·2^(n − 1) s with n from 2, to 120 s.
  ///
  /// - Parameters:
  ///   - retries: The most retries.
  ///   - factor: The `backoff_factor`, in seconds; above 0.
  public static func urllib3(retries: Int, factor: Double) -> RetryPolicy {
    var waits = [Duration.zero]
    var seconds = 2 * max(0, factor)
    while seconds > 0, seconds < 120, waits.count < 100 {
      waits.append(Duration(clampingSeconds: seconds))
      seconds *= 2
    }
    if factor > 0 { waits.append(.seconds(120)) }
    return RetryPolicy(
      maxRetries: retries, backoff: Backoff(.schedule(waits, then: .repeatLast), maximum: .seconds(120), jitter: .none))
  }
}
