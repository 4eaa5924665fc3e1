public import RedialCore
public import RedialModel

/// The engine's bounds and habits.
public struct EngineSettings: Sendable, Hashable {
  /// Attempts under way at a time, over all targets.
  public var maxInFlight: Int
  /// Attempts under way at a time to one target, where nothing else is set for it.
  public var maxInFlightPerTarget: Int
  /// Calls that wait in memory at a time; the rest waits in the store.
  public var maxHeld: Int
  /// Bytes of the request bodies of those; those of attempts under way, which are bounded by their number, come on top.
  public var maxHeldBytes: Int
  /// The largest request body that is held in memory, in bytes; a larger one of a client's call is left to the store, from
  /// which an attempt reads it in pieces.
  public var streamBodiesAbove = 256 << 10
  /// Due calls of one target in memory at a time, if as many more have room there; the rest waits in the target's queue
  /// in the store.
  public var maxReadyPerTarget: Int
  /// The same for a target whose breaker is not closed: few, so that targets that are down leave room for the others.
  public var maxParkedPerTarget: Int
  /// Calls that have not ended, in memory and in the store; beyond it new ones are refused.
  public var maxUnfinished: Int
  /// Targets remembered at a time; beyond it those are forgotten that are idle and well.
  public var maxTargets: Int
  /// A call that waits no longer than this stays in memory.
  public var holdWindow: Duration
  /// How long before they are due calls are taken from the store.
  public var claimAhead: Duration
  /// Calls taken from the store at a time.
  public var claimBatch: Int
  /// Attempts of a round that may be cut off by this side before the call is given up, so that a call which
  /// crashes its process cannot do so for ever.
  public var maxInterruptions: Int
  /// How long after a failed commit the store is tried again.
  public var storeRetry: Duration
  /// How long the key of a submission is remembered.
  public var idempotencyTime: Duration
  /// A target's breaker, where nothing else is set for it.
  public var breaker: CircuitBreakerSettings
  /// What one target may have of `maxInFlight` beside what is free, 0...1, whatever is set for it: the rest is for the
  /// others, since one that is slow keeps what it has. See Engine+Slots.
  public var targetShare = 0.75
  /// What all targets that have not proven to answer may have of `maxInFlight` together, 0...1; with 1 none needs to.
  public var unprovenShare = 0.5
  /// What one namespace may have of what all share, 0...1, as soon as there is more than one; see Engine+Namespaces.
  public var namespaceShare = 0.5
  /// A target that has not answered for this long, and for longer than a few times its usual response time, is silent:
  /// an attempt that ends then counts as a failure, even if the call's deadline or a client ended it.
  public var longSilence = Duration.seconds(1)
  /// Attempts begun a second to one target, where nothing else is set for it; 0 for no bound.
  public var ratePerSecond = 0.0
  /// Attempts that may begin at once after a pause, where there is a rate.
  public var rateBurst = 10
  /// Retries to a target as a share of its first tries, where there is a budget.
  public var retryShare = 0.2
  /// Retries a second to a target that are allowed in any case; 0 for no bound on retries.
  public var retriesPerSecond = 0
  /// How long after its breaker has closed a target is given a growing share of its attempts.
  public var slowStart = Duration.seconds(10)
  /// The longest that `Retry-After` of one answer keeps all calls from its target.
  public var maxTargetHold = Duration.seconds(60)
  /// What holds for targets whose keys look alike; the first that matches counts.
  public var targetRules: [TargetRule] = []
  /// The longest that an attempt may take, whatever a policy says.
  public var attemptTimeout = TargetSettings.longestAttempt
  /// What is neither kept of responses nor told by webhooks.
  public var redaction = Redaction()
  /// How webhooks are retried.
  public var webhookPolicy: RetryPolicy
  /// This process among those that share a store, 0...1023.
  public var instance: Int
  /// How the store is shared with others; nil when it is not.
  public var leases: LeaseSettings?

  /// Creates settings; every argument left out has Redial's default.
  public init(
    maxInFlight: Int = 4096, maxInFlightPerTarget: Int = 64, maxHeld: Int = 20_000, maxHeldBytes: Int = 128 << 20,
    maxReadyPerTarget: Int = 10_000, maxParkedPerTarget: Int = 100, maxUnfinished: Int = 10_000_000,
    maxTargets: Int = 10_000,
    holdWindow: Duration = .seconds(5), claimAhead: Duration = .seconds(1), claimBatch: Int = 256,
    maxInterruptions: Int = 10, storeRetry: Duration = .seconds(1), idempotencyTime: Duration = .seconds(86_400),
    breaker: CircuitBreakerSettings = CircuitBreakerSettings(), webhookPolicy: RetryPolicy = Self.webhooks,
    instance: Int = 0
  ) {
    self.maxInFlight = maxInFlight
    self.maxInFlightPerTarget = maxInFlightPerTarget
    self.maxHeld = maxHeld
    self.maxHeldBytes = maxHeldBytes
    self.maxReadyPerTarget = maxReadyPerTarget
    self.maxParkedPerTarget = maxParkedPerTarget
    self.maxUnfinished = maxUnfinished
    self.maxTargets = maxTargets
    self.holdWindow = holdWindow
    self.claimAhead = claimAhead
    self.claimBatch = claimBatch
    self.maxInterruptions = maxInterruptions
    self.storeRetry = storeRetry
    self.idempotencyTime = idempotencyTime
    self.breaker = breaker
    self.webhookPolicy = webhookPolicy
    self.instance = instance
  }

  /// What holds for a target for which nothing else is set.
  public var target: TargetSettings {
    TargetSettings(
      breaker: breaker, maxInFlight: maxInFlightPerTarget, ratePerSecond: ratePerSecond, rateBurst: rateBurst,
      retryShare: retryShare, retriesPerSecond: retriesPerSecond, slowStart: slowStart, attemptTimeout: attemptTimeout)
  }

  /// The most attempts that any target may have under way, at least one.
  var mostPerTarget: Int { max(1, Int(Double(maxInFlight) * targetShare)) }

  /// The most attempts that all targets may borrow together, at least one.
  var mostUnproven: Int { max(1, Int(Double(maxInFlight) * unprovenShare)) }

  /// What holds for a target for which nothing is set by itself.
  func target(by rule: TargetRule?) -> TargetSettings { rule?.settings.applied(to: target) ?? target }

  /// The first rule that matches a target; see ``TargetRule/first(of:for:)``.
  func rule(for key: String) -> TargetRule? { TargetRule.first(of: targetRules, for: key) }

  /// Webhooks are patient: from 5 s to an hour apart, for three days. Any answer but 2xx and 410 is worth a
  /// retry, since a receiver knows the message by its id (Standard Webhooks).
  public static let webhooks = RetryPolicy(
    maxAttempts: 100, deadline: .seconds(3 * 86_400), attemptTimeout: .seconds(15),
    backoff: Backoff(initial: .seconds(5), multiplier: 2, maximum: .seconds(3600)),
    retryOn: RetryConditions(network: .always, statuses: StatusSet([300...599])))
}
