package import RedialCore
package import RedialModel

/// The engine's limits and defaults.
package struct EngineSettings: Sendable, Hashable {
  /// Maximum attempts in flight, over all targets.
  package var maxInFlight: Int
  /// The settings of a target without its own.
  package var target = TargetSettings(rateBurst: 10, slowStart: .seconds(10))
  /// Maximum connections to one scheme, host and port, whatever its targets are; see ``OriginTable``.
  package var maxConnectionsPerOrigin = 256
  /// Maximum calls that wait in memory; the others wait in the store.
  package var maxHeld: Int
  /// Maximum bytes of the request bodies of these. Bodies of attempts in flight are not counted; they are limited by
  /// their number.
  package var maxHeldBytes: Int
  /// The largest request body that is held in memory, in bytes. A larger body of a client's call stays in the store,
  /// and an attempt reads it from there in pieces.
  package var streamBodiesAbove = 256 << 10
  /// Maximum due calls of one target in memory, if as many more have room there; the others wait in the target's
  /// queue in the store.
  package var maxReadyPerTarget: Int
  /// The same for a target whose breaker is not closed: few, so that targets that are down leave room for the others.
  package var maxParkedPerTarget: Int
  /// Maximum unfinished calls, in memory and in the store; beyond it new ones are refused.
  package var maxUnfinished: Int
  /// Maximum remembered targets; beyond it those that are idle and healthy are forgotten.
  package var maxTargets: Int
  /// A call that waits no longer than this stays in memory.
  package var holdWindow: Duration
  /// How long before they are due calls are loaded from the store.
  package var claimAhead: Duration
  /// Maximum calls in one claim.
  package var claimBatch: Int
  /// After so many attempts of a round that this side has cut off the call is given up, so that a call which crashes
  /// its process cannot do so forever.
  package var maxInterruptions: Int
  /// How long to wait after a failed commit before the store is tried again.
  package var storeRetry: Duration
  /// How long the key of a submission is remembered.
  package var idempotencyTime: Duration
  /// The share of `maxInFlight` that one target may have, of its own attempts and the free slots together, 0...1,
  /// whatever its settings are. The rest is for the others, because slots of a slow target cannot be taken back. See
  /// Roster+Slots.
  package var targetShare = 0.75
  /// The share of `maxInFlight` for all targets together that have not proven to answer, 0...1; 1 for no limit.
  package var unprovenShare = 0.5
  /// The share of shared resources that one namespace may have, 0...1, if there is more than one; see
  /// Roster+Namespaces.
  package var namespaceShare = 0.5
  /// A target that has not answered for this long, and for longer than a few times its usual response time, is silent:
  /// an attempt that ends then counts as a failure, even if the call's deadline or a client ended it.
  package var longSilence = Duration.seconds(1)
  /// Maximum time that one `Retry-After` pauses all calls to its target.
  package var maxRetryAfterPause = Duration.seconds(60)
  /// The only directory with files that the TLS settings of targets may name; nil if they may name none.
  package var tlsDirectory: String?
  /// Settings for targets whose keys match a pattern; the first match applies.
  package var targetRules: [TargetRule] = []
  /// What is hidden in stored responses and in webhooks.
  package var redaction = Redaction()
  /// How webhooks are retried.
  package var webhookPolicy: RetryPolicy
  /// The number of this process among those that share a store, 0...1023.
  package var instance: Int
  /// How the store is shared; nil if it is not.
  package var leases: LeaseSettings?
  /// Which calls for targets of other instances are forwarded to these; nil if none are.
  package var forwarding: ForwardingSettings?

  /// Creates settings; every argument left out has Redial's default.
  package init(
    maxInFlight: Int = 4096, maxInFlightPerTarget: Int = 64, maxHeld: Int = 20_000, maxHeldBytes: Int = 128 << 20,
    maxReadyPerTarget: Int = 10_000, maxParkedPerTarget: Int = 100, maxUnfinished: Int = 10_000_000,
    maxTargets: Int = 10_000,
    holdWindow: Duration = .seconds(5), claimAhead: Duration = .seconds(1), claimBatch: Int = 256,
    maxInterruptions: Int = 10, storeRetry: Duration = .seconds(1), idempotencyTime: Duration = .seconds(86_400),
    breaker: CircuitBreakerSettings = CircuitBreakerSettings(), webhookPolicy: RetryPolicy = Self.webhooks,
    instance: Int = 0
  ) {
    self.maxInFlight = maxInFlight
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
    (target.breaker, target.maxInFlight) = (breaker, maxInFlightPerTarget)
    self.webhookPolicy = webhookPolicy
    self.instance = instance
  }

  /// Maximum attempts in flight to any target, at least one.
  var mostPerTarget: Int { max(1, Int(Double(maxInFlight) * targetShare)) }

  /// Maximum attempts that all targets may borrow together, at least one.
  var mostUnproven: Int { max(1, Int(Double(maxInFlight) * unprovenShare)) }

  /// The settings of a target without its own, by the rule that matches it.
  func target(by rule: TargetRule?) -> TargetSettings { rule?.settings.applied(to: target) ?? target }

  /// The first rule that matches a target; see ``TargetRule/first(of:for:)``.
  func rule(for key: TargetKey) -> TargetRule? { TargetRule.first(of: targetRules, for: key) }

  /// Webhooks are patient: from 5 s to an hour apart, for three days. Every response except 2xx and 410 is retried,
  /// because a receiver recognizes the webhook by its id (Standard Webhooks). A receiver that asks for more than a day is
  /// tried again after a day: whatever it asks for, no webhook ends long before the three days are over.
  package static let webhooks = RetryPolicy(
    maxAttempts: 100, deadline: .seconds(3 * 86_400), attemptTimeout: .seconds(15),
    backoff: Backoff(initial: .seconds(5), multiplier: 2, maximum: .seconds(3600)),
    retryOn: RetryConditions(network: .always, statuses: StatusSet([300...999])),
    retryAfter: RetryAfterRule(maximum: .seconds(86_400), beyond: .clamp))
}
