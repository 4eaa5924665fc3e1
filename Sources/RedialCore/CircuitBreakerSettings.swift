/// When a circuit breaker trips, and how it recovers.
public struct CircuitBreakerSettings: Sendable, Hashable {
  /// Failures in a row that open the breaker; 0 switches this rule off.
  public var consecutiveFailures: Int
  /// The failure rate, 0...1, over the window at or above which the breaker opens; above 1 switches this rule off.
  public var failureRate: Double
  /// How far back the failure rate looks.
  public var window: Duration
  /// Outcomes that the window must hold before the rate is judged.
  public var minimumCalls: Int
  /// How long the breaker stays open the first time.
  public var openInterval: Duration
  /// What the interval is multiplied by each time a half-open breaker opens again; 1 or more.
  public var openMultiplier: Double
  /// The longest the breaker stays open at a time, unless the first interval is longer already.
  public var maximumOpenInterval: Duration
  /// How many calls a half-open breaker lets through at a time, and how many must succeed to close it; 1 or more.
  public var halfOpenProbes: Int
  /// How long a half-open breaker waits for its probes before it counts them as failed.
  public var probeTimeout: Duration

  /// Creates settings; every argument left out has Redial's default.
  public init(
    consecutiveFailures: Int = 10, failureRate: Double = 0.5, window: Duration = .seconds(60), minimumCalls: Int = 20,
    openInterval: Duration = .seconds(5), openMultiplier: Double = 2, maximumOpenInterval: Duration = .seconds(60),
    halfOpenProbes: Int = 1, probeTimeout: Duration = .seconds(120)
  ) {
    self.consecutiveFailures = consecutiveFailures
    self.failureRate = failureRate
    self.window = window
    self.minimumCalls = minimumCalls
    self.openInterval = openInterval
    self.openMultiplier = openMultiplier
    self.maximumOpenInterval = maximumOpenInterval
    self.halfOpenProbes = halfOpenProbes
    self.probeTimeout = probeTimeout
  }
}
