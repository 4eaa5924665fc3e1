/// What to retry, how often, for how long and at what pace.
public struct RetryPolicy: Sendable, Hashable {
  /// The maximum number of attempts, including the first; 1 or more. ``unlimited`` leaves the limit to ``deadline``.
  public var maxAttempts: Int
  /// The maximum time from the start of the call to its end; ``deadlineRule`` says what it counts.
  public var deadline: Duration
  /// What the deadline counts, and what happens to an attempt that it would cut short.
  public var deadlineRule: DeadlineRule
  /// The maximum time of one attempt. For a `URLSession` of the library Redial it is the maximum silence: until the head of
  /// the answer, and within its content.
  public var attemptTimeout: Duration
  /// What comes before the first attempt.
  public var initialDelay: InitialDelay
  /// How long to wait between attempts.
  public var backoff: Backoff
  /// How long to wait after a throttling response, if that differs.
  public var throttlingBackoff: Backoff?
  /// Which results are retried.
  public var retryOn: RetryConditions
  /// Statuses that end the call at once, whatever ``retryOn`` says.
  public var stopOn: StatusSet
  /// How to follow the target's `Retry-After`.
  public var retryAfter: RetryAfterRule
  /// What happens to a call while its target's breaker is open. Nil leaves it to what makes the call: the service, which
  /// keeps the call, waits; a `Retrier`, whose caller waits, ends at once.
  public var onTrip: TripBehavior?

  /// As many attempts as the deadline leaves time for.
  public static let unlimited = Int.max

  /// Creates a policy; omitted arguments have the defaults of the library: three attempts, as in most libraries of the
  /// field, and no deadline. ``service`` has those of the service.
  public init(
    maxAttempts: Int = 3, deadline: Duration = .longest, deadlineRule: DeadlineRule = DeadlineRule(),
    attemptTimeout: Duration = .seconds(30), initialDelay: InitialDelay = .none, backoff: Backoff = Backoff(),
    throttlingBackoff: Backoff? = nil, retryOn: RetryConditions = .idempotent, stopOn: StatusSet = .gone,
    retryAfter: RetryAfterRule = RetryAfterRule(), onTrip: TripBehavior? = nil
  ) {
    self.maxAttempts = maxAttempts
    self.deadline = deadline
    self.deadlineRule = deadlineRule
    self.attemptTimeout = attemptTimeout
    self.initialDelay = initialDelay
    self.backoff = backoff
    self.throttlingBackoff = throttlingBackoff
    self.retryOn = retryOn
    self.stopOn = stopOn
    self.retryAfter = retryAfter
    self.onTrip = onTrip
  }

  /// Creates a policy with a number of retries: always one attempt more. All else as without.
  public init(
    maxRetries: Int, deadline: Duration = .longest, deadlineRule: DeadlineRule = DeadlineRule(),
    attemptTimeout: Duration = .seconds(30), initialDelay: InitialDelay = .none, backoff: Backoff = Backoff(),
    throttlingBackoff: Backoff? = nil, retryOn: RetryConditions = .idempotent, stopOn: StatusSet = .gone,
    retryAfter: RetryAfterRule = RetryAfterRule(), onTrip: TripBehavior? = nil
  ) {
    self.init(
      deadline: deadline, deadlineRule: deadlineRule, attemptTimeout: attemptTimeout, initialDelay: initialDelay,
      backoff: backoff, throttlingBackoff: throttlingBackoff, retryOn: retryOn, stopOn: stopOn, retryAfter: retryAfter,
      onTrip: onTrip)
    self.maxRetries = maxRetries
  }

  /// The maximum number of retries: ``maxAttempts`` − 1.
  public var maxRetries: Int {
    get { max(1, maxAttempts) - 1 }
    set { maxAttempts = max(0, min(newValue, Int.max - 1)) + 1 }
  }
}

/// Prevents a policy without waits from spinning.
extension RetryPolicy {
  /// This many retries of a call may be as fast as its backoff says. They are enough for failures that pass at once,
  /// such as a lost race for a lock.
  public static let promptRetries = 100

  /// From retry ``promptRetries`` on no wait is shorter, so that a call is tried at most a hundred times a second.
  public static let shortestLaterWait = Duration.milliseconds(10)

  /// The shortest wait of a policy that sets no limit on attempts.
  public static let shortestUnboundedWait = Duration.milliseconds(1)

  /// No wait before retry `retry`, counted from 0, is shorter.
  func shortestWait(beforeRetry retry: Int) -> Duration {
    if retry >= Self.promptRetries { return Self.shortestLaterWait }
    return maxAttempts == Self.unlimited ? Self.shortestUnboundedWait : .zero
  }

  /// The shortest and the longest wait before the attempt after `retry` others; nil when a schedule has ended.
  func waitRange(beforeRetry retry: Int) -> ClosedRange<Duration>? {
    let least = shortestWait(beforeRetry: retry)
    return backoff.range(beforeRetry: retry + (initialDelay == .backoff ? 1 : 0)).map {
      max(least, $0.lowerBound)...max(least, $0.upperBound)
    }
  }
}

/// What a deadline counts, and what happens to the last attempt before it.
public struct DeadlineRule: Sendable, Hashable {
  /// What counts as a call's time.
  public enum Measure: UInt8, Sendable, Hashable, CaseIterable {
    /// The time since the call began, attempts and waits together. No wait ends after the deadline.
    case elapsed
    /// Only the sum of the waits, checked before the next one, so that the last wait may exceed it: the measure of
    /// ExponentialBackOff.
    case sumOfWaits
  }

  /// What happens to a retry whose attempt could not finish before the deadline.
  public enum LastAttempt: UInt8, Sendable, Hashable, CaseIterable {
    /// There is no retry: the call ends now.
    case endEarly
    /// It is moved forward so far that it can, unless the target has requested the wait.
    case pullForward
  }

  /// What counts.
  public var measure: Measure
  /// What happens to the last attempt.
  public var lastAttempt: LastAttempt
  /// The minimum time before the deadline for an attempt.
  public var minimumAttemptTime: Duration

  /// Creates a rule.
  public init(
    measure: Measure = .elapsed, lastAttempt: LastAttempt = .endEarly, minimumAttemptTime: Duration = .zero
  ) {
    self.measure = measure
    self.lastAttempt = lastAttempt
    self.minimumAttemptTime = minimumAttemptTime
  }
}

/// What comes before the first attempt.
public enum InitialDelay: Sendable, Hashable {
  /// Nothing: it is made at once.
  case none
  /// A wait of its own.
  case fixed(Duration)
  /// The first wait of the backoff, as in ExponentialBackOff; the retries then use the waits after that.
  case backoff
}

/// How to follow `Retry-After` (RFC 9110 §10.2.3).
///
/// The field has a meaning for the statuses that define it: 413, 429 and 503, and for redirects, which the sender of
/// the request follows itself. So by default it counts for these three, and for a status that is retried because of it
/// (``RetryConditions/statusesWithRetryAfter``). ``statuses`` names others.
public struct RetryAfterRule: Sendable, Hashable {
  /// What happens to a call whose target requests a longer wait than the maximum.
  public enum Beyond: UInt8, Sendable, Hashable, CaseIterable {
    /// It ends, rather than retry earlier than requested.
    case stop
    /// It waits as long as requested, if the deadline allows it.
    case park
    /// It waits for the maximum, and retries earlier than requested. For a caller that accepts another refusal rather
    /// than give up, and for targets whose requests are not reliable.
    case clamp
  }

  /// Whether it counts. If so, the wait is the longer of the two: the computed backoff, and the target's request.
  public var isRespected: Bool
  /// The maximum wait that is followed as requested.
  public var maximum: Duration
  /// What happens to a call whose target requests a longer wait.
  public var beyond: Beyond
  /// By how much of itself, 0...1, the wait that the target asks for is lengthened at most, at random: clients that got
  /// the same Retry-After then do not come back together. It is never shortened. What lies outside counts as the nearer
  /// end.
  public var spread: Double

  /// For which statuses it counts, besides ``RetryConditions/statusesWithRetryAfter``.
  public var statuses: StatusSet

  /// Creates a rule; the default follows up to an hour exactly.
  public init(
    isRespected: Bool = true, maximum: Duration = .seconds(3600), beyond: Beyond = .stop, spread: Double = 0,
    statuses: StatusSet = .retryAfter
  ) {
    self.isRespected = isRespected
    self.statuses = statuses
    self.maximum = maximum
    self.beyond = beyond
    self.spread = spread
  }
}

/// What happens to a call while its target's breaker is open.
public enum TripBehavior: Sendable, Hashable {
  /// It waits until the breaker lets it through, and no attempt is counted.
  case wait
  /// It ends as tripped.
  case fail
}
