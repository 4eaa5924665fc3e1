package import RedialCore
internal import RedialModel

/// The effects of an outage on a target and on its calls.
package struct OutageFigures: Sendable, Hashable {
  /// The simulated scenario.
  package var scenario: OutageScenario
  /// The load over time, in steps of equal length.
  package var steps: [Step]
  /// The length of a step.
  package var step: Duration
  /// The sums.
  package var totals: Totals
  /// The maximum number of requests per second that the target received during one step.
  package var peak: Double
  /// The start of that step.
  package var peakAt: Duration
  /// How long after the outage's end the number of unfinished calls was as low as before the outage, except one in
  /// fifty of the backlog; nil if that was not within the scenario.
  package var recovery: Duration?
  /// The durations of succeeded calls, from their start.
  package var latency: Quantiles?
  /// The durations of those that were accepted between the outage's end and the recovery; nil if none was.
  package var latencyInRecovery: Quantiles?
  /// Whether it ended early, because it reached the maximum number of attempts.
  package var isCutShort: Bool

  /// One step of time.
  package struct Step: Sendable, Hashable {
    /// New calls.
    package var calls = 0
    /// Attempts made: requests that the target received.
    package var attempts = 0
    /// Attempts that the target refused because it was over its capacity.
    package var overload = 0
    /// Calls that succeeded.
    package var succeeded = 0
    /// Calls that failed.
    package var failed = 0
    /// Calls that had not ended at the end of the step.
    package var unfinished = 0
    /// Whether the breaker was open at the end of the step.
    package var isOpen = false
  }

  /// Sums over the whole time.
  package struct Totals: Sendable, Hashable {
    /// New calls.
    package var calls = 0
    /// Attempts made.
    package var attempts = 0
    /// Attempts that the target refused because it was over its capacity.
    package var overload = 0
    /// Calls that succeeded.
    package var succeeded = 0
    /// Calls that failed, by reason.
    package var failed: [StopReason: Int] = [:]
    /// Calls that had not ended at the end of the scenario.
    package var unfinished = 0

    /// Attempts per call: 1 if nothing was retried.
    package var amplification: Double { calls == 0 ? 0 : Double(attempts) / Double(calls) }
  }

  /// The distribution of a duration.
  package struct Quantiles: Sendable, Hashable {
    /// Half of them were not longer.
    package var median: Duration
    /// Nine of ten were not longer.
    package var p90: Duration
    /// 99 of a hundred were not longer.
    package var p99: Duration
    /// The longest.
    package var longest: Duration

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
  /// Simulates the scenario.
  ///
  /// - Parameter mostAttempts: The number of attempts at which it ends early (``OutageFigures/isCutShort``).
  /// - Complexity: O(*n* log *n*) in the number of attempts, which take one core about five microseconds each.
  package func figures(mostAttempts: Int = 2_000_000) -> OutageFigures {
    var simulation = OutageSimulation(self, mostAttempts: mostAttempts)
    return simulation.run()
  }
}
