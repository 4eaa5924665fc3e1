package import RedialCore
package import RedialModel

/// What a forecast on live traffic starts from: the backlog of a target, its traffic, its limits and its state.
package struct LiveLoad: Sendable {
  /// A waiting call, which stands for others like it.
  package struct Waiting: Sendable {
    /// When it is due.
    package var due: Timestamp
    /// Its attempts so far that its policy counts.
    package var attempts: Int
    /// When its deadline began to count.
    package var startedAt: Timestamp
    /// The waits that its backoff has computed.
    package var waits: WaitHistory
    /// How it is retried.
    package var policy: RetryPolicy

    /// Creates a waiting call.
    package init(due: Timestamp, attempts: Int, startedAt: Timestamp, waits: WaitHistory, policy: RetryPolicy) {
      self.due = due
      self.attempts = attempts
      self.startedAt = startedAt
      self.waits = waits
      self.policy = policy
    }
  }

  /// When it was.
  package var now: Timestamp
  /// Calls that were due.
  package var due: Int
  /// Calls that are due later.
  package var later: Int
  /// Some of the due calls, the oldest first, each of which stands for an equal share of them.
  package var dueSample: [Waiting]
  /// Some of those that are due later, the earliest first, each of which stands for an equal share of them.
  package var laterSample: [Waiting]
  /// New calls per second.
  package var arrivals: Double
  /// How new calls are retried.
  package var policy: RetryPolicy
  /// The mean time of an answer.
  package var latency: Duration
  /// Requests per second that the target can process; nil if unknown, which is treated as no limit.
  package var capacity: Double?
  /// What the target does with requests beyond its capacity.
  package var overload: OutageScenario.Target.Overload
  /// The share of attempts that fail although the target works and has capacity, 0..<1.
  package var failing: Double
  /// The limits and the breaker of the target.
  package var settings: TargetSettings
  /// Its pace; nil if that is fixed.
  package var pace: AdaptivePace?
  /// The state of its breaker: when it lets probes through, and its openings; nil if it is closed.
  package var openUntil: OpenBreaker?
  /// The end of the pause that the target asked for.
  package var pausedUntil: Timestamp?
  /// Until when the target is down; nil if it works.
  package var returnsAt: Timestamp?

  /// Creates a load.
  package init(
    now: Timestamp, due: Int, later: Int = 0, dueSample: [Waiting] = [], laterSample: [Waiting] = [],
    arrivals: Double = 0, policy: RetryPolicy = .service, latency: Duration = .milliseconds(50),
    capacity: Double? = nil, overload: OutageScenario.Target.Overload = .refuse(retryAfter: false),
    failing: Double = 0, settings: TargetSettings = TargetSettings(), pace: AdaptivePace? = AdaptivePace(),
    openUntil: OpenBreaker? = nil, pausedUntil: Timestamp? = nil, returnsAt: Timestamp? = nil
  ) {
    self.now = now
    self.due = due
    self.later = later
    self.dueSample = dueSample
    self.laterSample = laterSample
    self.arrivals = arrivals
    self.policy = policy
    self.latency = latency
    self.capacity = capacity
    self.overload = overload
    self.failing = failing
    self.settings = settings
    self.pace = pace
    self.openUntil = openUntil
    self.pausedUntil = pausedUntil
    self.returnsAt = returnsAt
  }

  /// The due calls that are in flight ordinarily: a backlog of no more is drained.
  package var ordinary: Int { max(1, Int(min(1e9, arrivals * latency.inSeconds).rounded(.up))) }

  /// Forecasts how the backlog is delivered.
  ///
  /// - Parameter mostAttempts: The number of attempts at which the simulation ends; the rest is computed from the
  ///   average of its last half.
  /// - Complexity: O(*n* log *n*) in the attempts, which take one core about five microseconds each.
  package func forecast(mostAttempts: Int = 20_000) -> DrainForecast {
    var simulation = DrainSimulation(self, mostAttempts: mostAttempts)
    return simulation.run()
  }
}
