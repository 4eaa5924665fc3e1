public import RedialCore

/// An outage to simulate: calls that arrive at a rate, the policy that retries them, a target of a certain capacity,
/// and the time during which it is down, failing or slow.
public struct OutageScenario: Sendable, Hashable {
  /// How each call is retried.
  public var policy: RetryPolicy
  /// New calls a second on average, above 0; they come at random (a Poisson process).
  public var rate: Double
  /// How long calls come in, and the forecast looks, counted from its start.
  public var duration: Duration
  /// The target when it is well.
  public var target: Target
  /// What befalls the target.
  public var outage: Outage
  /// The target's breaker; nil for none.
  public var breaker: CircuitBreakerSettings?
  /// Maximum attempts in flight to the target, 1 or more.
  public var concurrency: Int
  /// How long a target whose breaker has closed is given a growing share of that; zero for all at once.
  public var slowStart: Duration
  /// Decides everything that is left to chance: the same scenario has the same forecast.
  public var seed: UInt64

  /// A target when it is well.
  public struct Target: Sendable, Hashable {
    /// Requests a second that it answers. What comes faster waits in its queue, for a second at most; what would wait
    /// longer is refused at once, with status 503. Nil for a target that no number of requests troubles.
    public var capacity: Int?
    /// How long an answer takes on average. A half of it is certain, the rest is exponentially distributed.
    public var latency: Duration

    /// Creates a target.
    public init(capacity: Int? = nil, latency: Duration = .milliseconds(50)) {
      self.capacity = capacity
      self.latency = latency
    }
  }

  /// What befalls a target, from one time until another.
  public struct Outage: Sendable, Hashable {
    /// When it begins, counted from the start of the forecast.
    public var from: Duration
    /// When it ends; not before ``from``.
    public var to: Duration
    /// The share of requests that fail meanwhile, 0...1.
    public var errorRate: Double
    /// How they fail.
    public var failure: Failure
    /// How long an answer takes meanwhile; nil for as long as ever.
    public var latency: Duration?

    /// How a request fails.
    public enum Failure: Sendable, Hashable {
      /// The connection is refused, at once.
      case refused
      /// No answer comes until the attempt's time is up.
      case unanswered
      /// An answer of this status comes.
      case status(Int)
    }

    /// Creates an outage; without a word on it, the target is down.
    public init(
      from: Duration, to: Duration, errorRate: Double = 1, failure: Failure = .refused, latency: Duration? = nil
    ) {
      self.from = from
      self.to = to
      self.errorRate = errorRate
      self.failure = failure
      self.latency = latency
    }
  }

  /// The most calls that a scenario may have on average.
  public static let mostCalls = 100_000.0

  /// Creates a scenario.
  public init(
    policy: RetryPolicy = .service, rate: Double, duration: Duration, target: Target = Target(), outage: Outage,
    breaker: CircuitBreakerSettings? = CircuitBreakerSettings(), concurrency: Int = 64,
    slowStart: Duration = .seconds(10), seed: UInt64 = 1
  ) {
    self.policy = policy
    self.rate = rate
    self.duration = duration
    self.target = target
    self.outage = outage
    self.breaker = breaker
    self.concurrency = concurrency
    self.slowStart = slowStart
    self.seed = seed
  }
}
