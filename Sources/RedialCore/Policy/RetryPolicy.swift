/// What to retry, how often, how long and at what pace.
public struct RetryPolicy: Sendable, Hashable {
  /// The most attempts, the first included; 1 or more. ``unlimited`` leaves the bound to ``deadline``.
  public var maxAttempts: Int
  /// The most time from the start of the call to its end; what it counts is said by ``deadlineRule``.
  public var deadline: Duration
  /// What the deadline counts, and what happens to an attempt that it would cut short.
  public var deadlineRule: DeadlineRule
  /// The most time that one attempt may take.
  public var attemptTimeout: Duration
  /// What comes before the first attempt.
  public var initialDelay: InitialDelay
  /// How long to wait between attempts.
  public var backoff: Backoff
  /// How long to wait after a throttling answer, where that differs.
  public var throttlingBackoff: Backoff?
  /// What is worth another attempt.
  public var retryOn: RetryConditions
  /// Statuses that end the call at once, whatever ``retryOn`` says.
  public var stopOn: StatusSet
  /// What to make of the target's `Retry-After`.
  public var retryAfter: RetryAfterRule
  /// What happens to a call while its target's breaker is open.
  public var onTrip: TripBehavior

  /// As many attempts as the deadline leaves time for.
  public static let unlimited = Int.max

  /// Creates a policy; every argument left out has Redial's default.
  ///
  /// 25 attempts are what the default backoff makes of the default deadline
  /// (ExponentialBackOff, factor 0: 25 runs in 15 minutes), so that the two
  /// bounds agree where nobody sets either.
  public init(
    maxAttempts: Int = 25, deadline: Duration = .seconds(15 * 60), deadlineRule: DeadlineRule = DeadlineRule(),
    attemptTimeout: Duration = .seconds(30), initialDelay: InitialDelay = .none, backoff: Backoff = Backoff(),
    throttlingBackoff: Backoff? = nil, retryOn: RetryConditions = .idempotent, stopOn: StatusSet = .gone,
    retryAfter: RetryAfterRule = RetryAfterRule(), onTrip: TripBehavior = .wait
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

  /// Creates a policy of so many retries: always one attempt more.
  public init(maxRetries: Int, backoff: Backoff = Backoff()) {
    self.init(maxAttempts: max(0, min(maxRetries, Int.max - 1)) + 1, backoff: backoff)
  }

  /// The most retries: ``maxAttempts`` − 1.
  public var maxRetries: Int {
    get { max(1, maxAttempts) - 1 }
    set { maxAttempts = max(0, min(newValue, Int.max - 1)) + 1 }
  }
}

/// What keeps a policy without waits from spinning.
extension RetryPolicy {
  /// So many retries of a call may follow as quickly as its backoff says. They are enough for whatever passes at once,
  /// such as a lost race for a lock.
  public static let promptRetries = 100

  /// From retry ``promptRetries`` on no wait is shorter, so that a call is tried a hundred times a second at most.
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
  /// What counts as the time that a call has had.
  public enum Measure: UInt8, Sendable, Hashable, CaseIterable {
    /// The time since the call began, attempts and waits together. No wait ends past the deadline.
    case elapsed
    /// The sum of the waits alone, looked at before the next one, so that the last wait may overshoot: the measure of
    /// ExponentialBackOff.
    case sumOfWaits
  }

  /// What happens to a retry whose attempt could not finish before the deadline.
  public enum LastAttempt: UInt8, Sendable, Hashable, CaseIterable {
    /// There is none: the call ends now.
    case endEarly
    /// It is pulled forward so far that it can, unless the target has asked for the wait.
    case pullForward
  }

  /// What counts.
  public var measure: Measure
  /// What happens to the last attempt.
  public var lastAttempt: LastAttempt
  /// The time that an attempt must have left before the deadline to be made at all.
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
  /// The first wait of the backoff, as ExponentialBackOff has it; the retries then use the waits after that.
  case backoff
}

/// What to make of `Retry-After` (RFC 9110 §10.2.3).
///
/// The field means something for the statuses whose definition says so: 413, 429 and 503, and redirects, which whoever sends
/// the request follows by itself. So by default it counts for these three, and for a status that is retried for its sake
/// (``RetryConditions/statusesWithRetryAfter``). ``statuses`` names others.
public struct RetryAfterRule: Sendable, Hashable {
  /// What happens to a call whose target asks for a longer wait than the maximum.
  public enum Beyond: UInt8, Sendable, Hashable, CaseIterable {
    /// It ends, rather than retry earlier than told.
    case stop
    /// It waits as long as told, if the deadline lets it.
    case park
    /// It waits for the maximum, and comes earlier than told. For a caller that would rather be refused once more than
    /// give up, and for targets whose word is not worth much.
    case clamp
  }

  /// Whether it counts. If so, the wait is the longer of the two: the computed backoff, and what the target asks for.
  public var isRespected: Bool
  /// The longest that is waited for as a matter of course.
  public var maximum: Duration
  /// What happens to a call whose target asks for a longer wait.
  public var beyond: Beyond
  /// By how much of itself, 0...1, the wait that the target asks for is lengthened at most, at random: clients that got
  /// the same Retry-After then do not come back together. It is never shortened. What lies outside counts as the nearer
  /// end.
  public var spread: Double

  /// For which statuses it counts, besides ``RetryConditions/statusesWithRetryAfter``.
  public var statuses: StatusSet

  /// Creates a rule; the default respects up to an hour, to the letter.
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
  /// It waits until the breaker lets it through, and is not charged an attempt.
  case wait
  /// It ends as tripped.
  case fail
}
