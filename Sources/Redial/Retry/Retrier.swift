/// Runs work again until it succeeds or its policy says to stop.
///
/// ```swift
/// var retrier = Retrier(.alley)
/// retrier.breaker = breakers["api.example.com"]
/// let user = try await retrier.run { attempt in try await fetchUser() }
/// ```
///
/// A value: copies share the breaker, the budget and the events that they refer to, and nothing else.
public struct Retrier: Sendable {
  /// What to retry, how often, how long and at what pace.
  public var policy: RetryPolicy
  /// A backoff of your own in the place of the policy's.
  public var strategy: (any BackoffStrategy)?
  /// A breaker that this work shares with other work on the same target.
  public var breaker: SharedCircuitBreaker?
  /// A budget of retries that this work shares with other work.
  public var budget: SharedRetryBudget?
  /// Where successes on the same target are told and heard of: one cuts a wait in backoff short, though never a wait that
  /// the target has asked for.
  public var successes: SuccessSignals.Target?
  /// What an error means. The default asks the error (``RetryOutcomeProviding``), and takes any other for
  /// ``AttemptOutcome/maybeSent``.
  public var outcome: @Sendable (any Error) -> AttemptOutcome = Retrier.outcome
  /// What it is called in events and log lines.
  public var name: String
  /// Where events are told.
  public var events: RetryEvents?
  /// Where log lines go; nowhere by default. They hold no secrets of requests: errors are described by their own words.
  public var log: (@Sendable (String) -> Void)?
  /// The time. A breaker and a budget have clocks of their own: in a test, give all of them the same.
  public var clock: any RetryClock
  /// Where the seed of each run's jitter comes from; a constant makes runs repeatable.
  public var seed: @Sendable () -> UInt64 = {
    var system = SystemRandomNumberGenerator()
    return system.next()
  }

  /// Creates a retrier of parts; each that is left out can be set later.
  public init(
    _ policy: RetryPolicy = RetryPolicy(), name: String = "retry", strategy: (any BackoffStrategy)? = nil,
    breaker: SharedCircuitBreaker? = nil, budget: SharedRetryBudget? = nil, successes: SuccessSignals.Target? = nil,
    events: RetryEvents? = nil, clock: any RetryClock = SystemRetryClock(), log: (@Sendable (String) -> Void)? = nil
  ) {
    self.policy = policy
    self.name = name
    self.strategy = strategy
    self.breaker = breaker
    self.budget = budget
    self.successes = successes
    self.events = events
    self.clock = clock
    self.log = log
  }

  /// What an error means by itself.
  @Sendable
  public static func outcome(of error: any Error) -> AttemptOutcome {
    if let error = error as? any RetryOutcomeProviding { return error.retryOutcome }
    // Something that the work waited for was cancelled, on this side.
    return error is CancellationError ? .localFault : .maybeSent
  }

  /// Runs work until it succeeds.
  ///
  /// - Parameter work: One attempt. It is cancelled when its time is up, and the run goes on when it has ended: work that
  ///   ignores cancellation holds the run up.
  /// - Returns: What the first successful attempt returned.
  /// - Throws: ``RetryError`` when the policy says to stop; `CancellationError` when the task is cancelled, also during a
  ///   wait.
  public func run<Value: Sendable>(
    _ work: @escaping @Sendable (RetryAttempt) async throws -> Value
  ) async throws -> Value {
    var course = RetryCourse(self)
    defer { course.abandon() }
    do {
      return try await course.run(work)
    } catch let error as RetryError {
      tell(.gaveUp(name: name, error))
      throw error
    } catch {
      // Nothing else ends a course.
      tell(.cancelled(name: name, attempts: course.attempts))
      throw CancellationError()
    }
  }

  func tell(_ event: RetryEvent) {
    events?.tell(event)
    log?(event.line)
  }
}

/// One attempt, as the work is told of it.
public struct RetryAttempt: Sendable, Hashable {
  /// Its number, from 1.
  public var number: Int
  /// The wait before it; zero before the first, unless the policy begins with one.
  public var wait: Duration
  /// The time since the run began.
  public var elapsed: Duration
  /// The time that the attempt has.
  public var timeout: Duration

  /// An attempt as a test of the work would have it.
  public init(
    number: Int = 1, wait: Duration = .zero, elapsed: Duration = .zero, timeout: Duration = .seconds(30)
  ) {
    self.number = number
    self.wait = wait
    self.elapsed = elapsed
    self.timeout = timeout
  }
}

/// Runs work until it succeeds, in one line:
///
/// ```swift
/// let user = try await retry { try await fetchUser() }
/// ```
///
/// - Throws: ``RetryError`` when the policy says to stop; `CancellationError` when the task is cancelled.
public func retry<Value: Sendable>(
  _ policy: RetryPolicy = RetryPolicy(), _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await Retrier(policy).run { _ in try await work() }
}
