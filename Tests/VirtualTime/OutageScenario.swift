package import RedialCore
package import RedialModel

/// An outage to simulate: calls that arrive at a rate, the policy that retries them, a target of a certain capacity,
/// and the time during which it is down, failing or slow.
package struct OutageScenario: Sendable, Hashable {
  /// How each call is retried.
  package var policy: RetryPolicy
  /// New calls per second on average, above 0; they arrive at random (a Poisson process).
  package var rate: Double
  /// How long calls arrive, and how long it runs, from its start.
  package var duration: Duration
  /// The target when it is healthy.
  package var target: Target
  /// The target's outage.
  package var outage: Outage
  /// The target's breaker; nil for none.
  package var breaker: CircuitBreakerSettings?
  /// Maximum attempts in flight to the target, 1 or more.
  package var concurrency: Int
  /// How long a target with a fixed pace gets a growing share of that after its breaker has closed; zero for all at
  /// once.
  package var slowStart: Duration
  /// Whether the pace follows the target's capacity.
  package var pace: Pace
  /// The share of the attempts for new calls while a backlog waits too, 0...0.95.
  package var newCallShare: Double
  /// The seed of all random values: the same scenario has the same figures.
  package var seed: UInt64

  /// A target when it is healthy.
  package struct Target: Sendable, Hashable {
    /// Requests per second that it can answer; nil for unlimited capacity.
    package var capacity: Int?
    /// The mean time of an answer. One half of it is constant, the other exponentially distributed.
    package var latency: Duration
    /// What happens to requests beyond its capacity.
    package var overload: Overload
    /// Other capacities, each from a time on, counted from the start; in the order of their times.
    package var changes: [Change]

    /// What happens to requests beyond the capacity.
    package enum Overload: Sendable, Hashable {
      /// They wait in its queue, for at most this time; those that would wait longer are refused at once, with status
      /// 503.
      case queue(longest: Duration)
      /// They are refused with status 429, beyond a burst of one second; with `Retry-After` in whole seconds if it says
      /// so.
      case refuse(retryAfter: Bool)
    }

    /// Another capacity, from a time on.
    package struct Change: Sendable, Hashable {
      /// From when on.
      package var from: Duration
      /// Requests per second that it can answer.
      package var capacity: Int

      /// Creates a change.
      package init(from: Duration, capacity: Int) {
        self.from = from
        self.capacity = capacity
      }
    }

    /// Creates a target.
    package init(
      capacity: Int? = nil, latency: Duration = .milliseconds(50), overload: Overload = .queue(longest: .seconds(1)),
      changes: [Change] = []
    ) {
      self.capacity = capacity
      self.latency = latency
      self.overload = overload
      self.changes = changes
    }
  }

  /// The outage of a target, from one time to another.
  package struct Outage: Sendable, Hashable {
    /// When it begins, counted from the start.
    package var from: Duration
    /// When it ends; not before ``from``.
    package var to: Duration
    /// The share of requests that fail during the outage, 0...1.
    package var errorRate: Double
    /// How they fail.
    package var failure: Failure
    /// The time of an answer during the outage; nil for no change.
    package var latency: Duration?

    /// How a request fails.
    package enum Failure: Sendable, Hashable {
      /// The connection is refused, at once.
      case refused
      /// No response arrives until the attempt's timeout.
      case unanswered
      /// A response with this status arrives.
      case status(Int)
    }

    /// Creates an outage; by default the target is down.
    package init(
      from: Duration, to: Duration, errorRate: Double = 1, failure: Failure = .refused, latency: Duration? = nil
    ) {
      self.from = from
      self.to = to
      self.errorRate = errorRate
      self.failure = failure
      self.latency = latency
    }
  }

  /// Creates a scenario.
  package init(
    policy: RetryPolicy = .service, rate: Double, duration: Duration, target: Target = Target(), outage: Outage,
    breaker: CircuitBreakerSettings? = CircuitBreakerSettings(), concurrency: Int = 64,
    slowStart: Duration = .seconds(10), pace: Pace = .adaptive,
    newCallShare: Double = TargetSettings.newCallShareByDefault,
    seed: UInt64 = 1
  ) {
    self.policy = policy
    self.rate = rate
    self.duration = duration
    self.target = target
    self.outage = outage
    self.breaker = breaker
    self.concurrency = concurrency
    self.slowStart = slowStart
    self.pace = pace
    self.newCallShare = newCallShare
    self.seed = seed
  }
}
