/// The documented defaults of other breakers.
extension CircuitBreakerSettings {
  /// The service's default: as the library's, but it opens only when nothing has got through for two seconds, and it
  /// probes sooner and oftener: first after 500 ms, then after times that grow by a tenth up to 10 s.
  ///
  /// A caller in its own process gives up a call that meets an open breaker. The service keeps the calls, so each second
  /// that it notices the recovery later is a second of backlog more; and one request in 10 s is no load.
  public static let service = CircuitBreakerSettings(
    failureTime: .seconds(2), openInterval: .milliseconds(500), openMultiplier: 1.1,
    maximumOpenInterval: .seconds(10))

  /// CircuitBreaker (fe9lix): opens after 3 failures in a row (`maxRetries` 2, and one), for 10 s.
  public static let fe9lix = CircuitBreakerSettings(
    consecutiveFailures: 3, significance: 1, openInterval: .seconds(10), openMultiplier: 1)

  /// resilience4j: half of the latest 100 calls failed, or all took over a minute; 60 s; 10 probes.
  ///
  /// Its half-open state ends as soon as the probes that are left cannot change the outcome; resilience4j awaits all ten.
  public static let resilience4j = CircuitBreakerSettings(
    consecutiveFailures: 0, failureRate: 0.5, slowCallRate: 1, slowCallDuration: .seconds(60), window: .calls(100),
    minimumCalls: 100, openInterval: .seconds(60), openMultiplier: 1, halfOpenProbes: 10,
    successesToClose: 6, halfOpenFailuresAllowed: 4)

  /// Polly: a tenth of at least 100 calls in 30 s failed; 5 s.
  public static let polly = CircuitBreakerSettings(
    consecutiveFailures: 0, failureRate: 0.1, window: .time(.seconds(30)), minimumCalls: 100,
    openInterval: .seconds(5), openMultiplier: 1)

  /// gobreaker: more than 5 failures in a row; 60 s.
  public static let gobreaker = CircuitBreakerSettings(
    consecutiveFailures: 6, significance: 1, openInterval: .seconds(60), openMultiplier: 1)

  /// Hystrix: half of at least 20 calls in 10 s failed; 5 s.
  public static let hystrix = CircuitBreakerSettings(
    consecutiveFailures: 0, failureRate: 0.5, window: .time(.seconds(10)), minimumCalls: 20,
    openInterval: .seconds(5), openMultiplier: 1)
}
