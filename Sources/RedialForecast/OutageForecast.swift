public import RedialCore
public import RedialModel

/// What an outage would do to a target, and to the calls that are made to it.
public struct OutageForecast: Sendable, Hashable {
  /// The simulated scenario.
  public var scenario: OutageScenario
  /// The load over time, in steps of the same length.
  public var steps: [Step]
  /// The length of a step.
  public var step: Duration
  /// The sums.
  public var totals: Totals
  /// The most requests a second that the target saw during one step.
  public var peak: Double
  /// The start of that step.
  public var peakAt: Duration
  /// How long after the outage's end the number of unfinished calls was back where it had been before the outage; nil
  /// if that was not within the scenario.
  public var recovery: Duration?
  /// How long calls that succeeded took, from their start.
  public var latency: Quantiles?
  /// Whether the forecast ended early, having made as many attempts as it may.
  public var isCutShort: Bool

  /// One step of time.
  public struct Step: Sendable, Hashable {
    /// Calls that came in.
    public var calls = 0
    /// Attempts made: requests that the target saw.
    public var attempts = 0
    /// Attempts that the target refused because it was over its capacity.
    public var overload = 0
    /// Calls that succeeded.
    public var succeeded = 0
    /// Calls that failed.
    public var failed = 0
    /// Calls that had not ended when the step did.
    public var unfinished = 0
    /// Whether the breaker let no call through when the step ended.
    public var isOpen = false
  }

  /// Sums over the whole time.
  public struct Totals: Sendable, Hashable {
    /// Calls that came in.
    public var calls = 0
    /// Attempts made.
    public var attempts = 0
    /// Attempts that the target refused because it was over its capacity.
    public var overload = 0
    /// Calls that succeeded.
    public var succeeded = 0
    /// Calls that failed, by reason.
    public var failed: [StopReason: Int] = [:]
    /// Calls that had not ended when time was up.
    public var unfinished = 0

    /// Attempts a call: 1 when nothing was retried.
    public var amplification: Double { calls == 0 ? 0 : Double(attempts) / Double(calls) }
  }

  /// How a time is distributed.
  public struct Quantiles: Sendable, Hashable {
    /// Half of them were no longer.
    public var median: Duration
    /// Nine of ten were no longer.
    public var p90: Duration
    /// 99 of a hundred were no longer.
    public var p99: Duration
    /// The longest.
    public var longest: Duration

    init?(_ times: [Duration]) {
      guard !times.isEmpty else { return nil }
      let sorted = times.sorted()
      func quantile(_ p: Double) -> Duration { sorted[min(sorted.count - 1, Int(p * Double(sorted.count)))] }
      median = quantile(0.5)
      p90 = quantile(0.9)
      p99 = quantile(0.99)
      longest = quantile(1)
    }
  }
}

extension OutageScenario {
  /// Thinks the scenario through.
  ///
  /// - Parameter mostAttempts: How many attempts end the forecast early (``OutageForecast/isCutShort``).
  /// - Complexity: O(*n* log *n*) in the number of attempts; two million are a second of one core's time or two.
  public func forecast(mostAttempts: Int = 2_000_000) -> OutageForecast {
    var simulation = OutageSimulation(self, mostAttempts: mostAttempts)
    return simulation.run()
  }
}
