/// What to retry, how often, how long and at what pace.
public struct RetryPolicy: Sendable, Hashable {
  /// The most attempts, the first included; 1 or more.
  public var maxAttempts: Int
  /// The most time from the start of the call to its end, by the clock, attempts and waits together.
  public var deadline: Duration
  /// The most time that one attempt may take.
  public var attemptTimeout: Duration
  /// How long to wait between attempts.
  public var backoff: Backoff
  /// What is worth another attempt.
  public var retryOn: RetryConditions
  /// Statuses that end the call at once, whatever ``retryOn`` says.
  public var stopOn: StatusSet
  /// What to make of the target's `Retry-After`.
  public var retryAfter: RetryAfterRule
  /// What becomes of a call whose target's breaker is open.
  public var onTrip: TripBehavior

  /// Creates a policy; every argument left out has Redial's default.
  ///
  /// 25 attempts are what the default backoff makes of the default deadline
  /// (ExponentialBackOff, factor 0: 25 runs in 15 minutes), so that the two
  /// bounds agree where nobody sets either.
  public init(
    maxAttempts: Int = 25, deadline: Duration = .seconds(15 * 60), attemptTimeout: Duration = .seconds(30),
    backoff: Backoff = Backoff(), retryOn: RetryConditions = .idempotent, stopOn: StatusSet = .gone,
    retryAfter: RetryAfterRule = RetryAfterRule(), onTrip: TripBehavior = .wait
  ) {
    self.maxAttempts = maxAttempts
    self.deadline = deadline
    self.attemptTimeout = attemptTimeout
    self.backoff = backoff
    self.retryOn = retryOn
    self.stopOn = stopOn
    self.retryAfter = retryAfter
    self.onTrip = onTrip
  }
}

/// What is worth another attempt.
public struct RetryConditions: Sendable, Hashable {
  /// Which transport failures are.
  public var network: NetworkRetry
  /// Which answered statuses are.
  public var statuses: StatusSet

  /// Creates conditions from their two parts.
  public init(network: NetworkRetry, statuses: StatusSet) {
    self.network = network
    self.statuses = statuses
  }

  /// For a request that may be executed more than once (RFC 9110 §9.2.2, or the caller's word).
  public static let idempotent = RetryConditions(network: .always, statuses: .transient)

  /// For any other request: only what provably was not executed.
  public static let nonIdempotent = RetryConditions(network: .whenNotSent, statuses: .notExecuted)
}

/// Which transport failures are worth another attempt.
public enum NetworkRetry: Sendable, Hashable {
  /// None.
  case never
  /// Those after which the request provably never left.
  case whenNotSent
  /// All.
  case always
}

/// What to make of `Retry-After` (RFC 9110 §10.2.3).
public struct RetryAfterRule: Sendable, Hashable {
  /// Whether it takes the place of the computed backoff.
  public var isRespected: Bool
  /// The longest that is waited for; a call told to wait longer ends, rather than retry earlier than told.
  public var maximum: Duration

  /// Creates a rule; the default respects up to an hour.
  public init(isRespected: Bool = true, maximum: Duration = .seconds(3600)) {
    self.isRespected = isRespected
    self.maximum = maximum
  }
}

/// What becomes of a call whose target's breaker is open.
public enum TripBehavior: Sendable, Hashable {
  /// It waits until the breaker lets it through, and is not charged an attempt.
  case wait
  /// It ends as tripped.
  case fail
}
