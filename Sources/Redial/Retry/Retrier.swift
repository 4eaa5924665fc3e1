/// Runs work again until it succeeds or its policy says to stop.
///
/// ```swift
/// var retrier = Retrier(.http)
/// retrier.breaker = breakers["api.example.com"]
/// let user = try await retrier.run { try await fetchUser() }
/// ```
///
/// A value: copies share the breaker, the budget and the events that they refer to, and nothing else.
public struct Retrier: Sendable {
  /// What to retry, how often, for how long and at what pace.
  public var policy: RetryPolicy
  /// Your own backoff in place of the policy's.
  public var strategy: (any BackoffStrategy)?
  /// The wait before the next attempt, in place of the one that the backoff has computed. It can see the error:
  ///
  /// ```swift
  /// struct Busy: Error { var freeAfter: Duration }
  /// var retrier = Retrier()
  /// retrier.wait = { error, computed in (error as? Busy)?.freeAfter ?? computed }
  /// ```
  ///
  /// The deadline bounds it like any other wait, and a wait that the target has requested is never made shorter by it.
  public var wait: (@Sendable (_ error: any Error, _ computed: Duration) -> Duration)?
  /// A breaker that this work shares with other work on the same target. While it is open runs end at once, with
  /// ``RetryError/Reason/tripped``, unless the policy's `onTrip` is `wait`.
  public var breaker: SharedCircuitBreaker?
  /// A budget of retries that this work shares with other work.
  public var budget: SharedRetryBudget?
  /// Shares successes on the same target: one ends a backoff wait early, but never a wait that the target has
  /// requested.
  public var successes: SuccessSignals.Target?
  /// The meaning of an error. The default asks the error (``RetryOutcomeProviding``), and treats any other as
  /// ``AttemptOutcome/maybeSent``.
  public var outcome: @Sendable (any Error) -> AttemptOutcome = Retrier.outcome
  /// What is thrown when the policy says to stop.
  public var throwing = RetryThrowing.history
  /// Its name in events and log lines.
  public var name: String
  /// Receives the events.
  public var events: (any RetryObserver)?
  /// Receives the attempts of each run, which can be read after any error, and after a success.
  public var history: RetryHistory?
  /// Receives log lines; nil for none. They contain no secrets of requests: errors are described by their own text.
  public var log: (@Sendable (String) -> Void)?
  /// The clock. A breaker and a budget have their own clocks: in a test, give all of them the same.
  public var clock: any RetryClock
  /// The source of each run's jitter seed; a constant makes runs repeatable.
  public var seed: @Sendable () -> UInt64 = {
    var system = SystemRandomNumberGenerator()
    return system.next()
  }

  /// Creates a retrier from parts; omitted ones can be set later.
  public init(
    _ policy: RetryPolicy = RetryPolicy(), name: String = "retry", strategy: (any BackoffStrategy)? = nil,
    breaker: SharedCircuitBreaker? = nil, budget: SharedRetryBudget? = nil, successes: SuccessSignals.Target? = nil,
    events: (any RetryObserver)? = nil, clock: any RetryClock = SystemRetryClock(),
    log: (@Sendable (String) -> Void)? = nil
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

  /// The meaning of an error by itself.
  @Sendable
  public static func outcome(of error: any Error) -> AttemptOutcome {
    if let error = error as? any RetryOutcomeProviding { return error.retryOutcome }
    // Something on this side, for which the work waited, was cancelled.
    return error is CancellationError ? .localFault : .maybeSent
  }

  /// Runs work until it succeeds.
  ///
  /// The work runs on the actor of the caller, whose state it may use, and does not outlive this call. Its result need
  /// not be `Sendable`.
  ///
  /// - Parameters:
  ///   - isolation: The actor of the caller.
  ///   - work: One attempt. It is cancelled when its time is up, and the run continues when it has ended: work that
  ///     ignores cancellation delays the run.
  /// - Returns: The result of the first successful attempt.
  /// - Throws: When the policy says to stop, according to ``throwing``: ``RetryError``, or the error of the last
  ///   attempt. `CancellationError` if the task is cancelled, also during a wait.
  public func run<Value>(
    isolation: isolated (any Actor)? = #isolation,
    _ work: nonisolated(nonsending) (RetryAttempt) async throws -> Value
  ) async throws -> Value {
    try await carried(isolation: isolation) { Ferry(try await work($0)) }.value
  }

  /// Runs work that does not need to know which attempt it is, until it succeeds; else like the other `run`.
  public func run<Value>(
    isolation: isolated (any Actor)? = #isolation, _ work: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    try await carried(isolation: isolation) { _ in Ferry(try await work()) }.value
  }

  /// Runs work whose result can be sent, like that of ``Ferry``.
  func carried<Value: Sendable>(
    isolation: isolated (any Actor)?, _ work: nonisolated(nonsending) (RetryAttempt) async throws -> Value
  ) async throws -> Value {
    do throws(RetryError) {
      return try await course(isolation: isolation, work)
    } catch {
      if error.reason == .cancelled { throw CancellationError() }
      if throwing == .original, let last = error.lastError { throw last }
      throw error
    }
  }

  /// Runs work until it succeeds, and returns how that ended: for code that needs a single type of error.
  ///
  /// ```swift
  /// func user(_ retrier: Retrier) async throws(RetryError) -> User {
  ///   try await retrier.result { try await fetchUser() }.get()
  /// }
  /// ```
  ///
  /// ``throwing`` changes nothing here. A cancelled task ends with ``RetryError/Reason/cancelled``.
  public func result<Value>(
    isolation: isolated (any Actor)? = #isolation,
    _ work: nonisolated(nonsending) (RetryAttempt) async throws -> Value
  ) async -> Result<Value, RetryError> {
    do throws(RetryError) {
      return .success(try await course(isolation: isolation) { Ferry(try await work($0)) }.value)
    } catch {
      return .failure(error)
    }
  }

  /// Runs work that does not need to know which attempt it is; else like the other `result`.
  public func result<Value>(
    isolation: isolated (any Actor)? = #isolation, _ work: nonisolated(nonsending) () async throws -> Value
  ) async -> Result<Value, RetryError> {
    await result(isolation: isolation) { (_: RetryAttempt) in try await work() }
  }

  private func course<Value: Sendable>(
    isolation: isolated (any Actor)?, _ work: nonisolated(nonsending) (RetryAttempt) async throws -> Value
  ) async throws(RetryError) -> Value {
    var course = RetryCourse(self)
    defer { course.abandon() }
    do {
      return try await course.run(isolation: isolation, work)
    } catch let error as RetryError {
      course.end(error)
      tell(.gaveUp(name: name, error))
      throw error
    } catch {
      // A course ends in no other way.
      let error = course.error(.cancelled)
      course.end(error)
      tell(.cancelled(name: name, attempts: course.attempts))
      throw error
    }
  }

  func tell(_ event: RetryEvent) {
    events?.tell(event)
    log?(event.line)
  }
}

/// One attempt, as the work sees it.
public struct RetryAttempt: Sendable, Hashable {
  /// The attempt of the innermost retrier of a ``Pipeline`` in whose work this runs; nil outside of one.
  public static var current: RetryAttempt? { local.get() }
  static let local = TaskLocal<RetryAttempt?>(wrappedValue: nil)

  /// Its number, from 1.
  public var number: Int
  /// The wait before it; zero before the first, unless the policy begins with one.
  public var wait: Duration
  /// The time since the run began.
  public var elapsed: Duration
  /// The timeout of the attempt.
  public var timeout: Duration

  /// An attempt for a test of the work.
  public init(
    number: Int = 1, wait: Duration = .zero, elapsed: Duration = .zero, timeout: Duration = .seconds(30)
  ) {
    self.number = number
    self.wait = wait
    self.elapsed = elapsed
    self.timeout = timeout
  }
}
