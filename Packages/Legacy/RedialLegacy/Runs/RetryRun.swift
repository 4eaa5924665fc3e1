public import Dispatch
public import Redial

/// A run of retries that can be examined, stopped and started again.
///
/// ```swift
/// let run = RetryRun(Retrier()) { attempt, report in
///   connection.ping { report($0 == nil) }
/// }
/// run.onEnd(queue: .main) { state in print(state, run.attempts) }
/// run.start()
/// ```
public final class RetryRun: Sendable {
  /// The state of a run.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Not started. Leads to `running`.
    case idle
    /// Attempts are made, or awaited. Leads to the three ends.
    case running
    /// An attempt has succeeded. ``RetryRun/reset()`` leads to `idle`.
    case succeeded
    /// The policy has said to stop. ``RetryRun/reset()`` leads to `idle`.
    case failed
    /// It was stopped. ``RetryRun/reset()`` leads to `idle`.
    case stopped
  }

  private struct Ending: Sendable {
    var queue: DispatchQueue?
    var handler: @Sendable (State) -> Void
  }

  private struct Inner {
    var state = State.idle
    var attempts = 0
    var lastError: RetryError?
    /// Counts starts; later reports of an earlier start change nothing.
    var generation: UInt64 = 0
    var task: Task<Void, Never>?
    var ending: Ending?
    var waiters: [CheckedContinuation<State, Never>] = []
  }

  private let retrier: Retrier
  private let registry: RetryRunRegistry
  private let work: @Sendable (RetryAttempt) async throws -> Void
  private let inner = Guarded(Inner())

  // MARK: Making one

  /// A run of async work.
  public init(
    _ retrier: Retrier = Retrier(), registry: RetryRunRegistry = .shared,
    work: @escaping @Sendable (RetryAttempt) async throws -> Void
  ) {
    self.retrier = retrier
    self.registry = registry
    self.work = work
  }

  /// A run of work that reports by a callback, once per attempt.
  ///
  /// Work that reports by a callback cannot be cancelled. When the time of an attempt is up, it counts as failed; the next
  /// attempt begins the work once the one before has reported, and may itself run out of time while it waits.
  ///
  /// With `overlapping` the work may begin again while the one before has not reported.
  public convenience init(
    _ retrier: Retrier = Retrier(), registry: RetryRunRegistry = .shared, overlapping: Bool = false,
    reporting work: @escaping @Sendable (RetryAttempt, @escaping @Sendable (Bool) -> Void) -> Void
  ) {
    let turn = CallbackTurn()
    self.init(retrier, registry: registry) { attempt in
      let number = overlapping ? nil : try await turn.take()
      let hasBegun = Guarded(false)
      defer { if let number, !hasBegun.withLock({ $0 }) { turn.end(number) } }
      try await CallbackAttempt.run { call in
        hasBegun.withLock { $0 = true }
        work(attempt) { isSuccess in
          if let number { turn.end(number) }
          if isSuccess { call.success() } else { call.failure(AttemptReportedFailure()) }
        }
      }
    }
  }

  /// A run of an object's work.
  public convenience init(
    _ retrier: Retrier = Retrier(), registry: RetryRunRegistry = .shared, task: some RetryableTask
  ) {
    self.init(retrier, registry: registry, reporting: { task.attempt($0, report: $1) })
  }

  // MARK: Looking at it

  /// Its state.
  public var state: State { inner.withLock { $0.state } }
  /// Attempts begun since it was started.
  public var attempts: Int { inner.withLock { $0.attempts } }
  /// Why it has failed.
  public var lastError: RetryError? { inner.withLock { $0.lastError } }

  /// Sets a handler for the end of each run, which is called exactly once per run, on a queue of the caller's choice,
  /// or by default on the thread on which it ends. It replaces the handler before.
  public func onEnd(queue: DispatchQueue? = nil, _ handler: @escaping @Sendable (State) -> Void) {
    inner.withLock { $0.ending = Ending(queue: queue, handler: handler) }
  }

  /// Waits for the end of the current run; returns at once if there is none.
  public func ended() async -> State {
    await withCheckedContinuation { continuation in
      let state = inner.withLock { inner in
        guard inner.state == .running else { return inner.state as State? }
        inner.waiters.append(continuation)
        return nil
      }
      if let state { continuation.resume(returning: state) }
    }
  }

  // MARK: Controlling it

  /// Starts it.
  ///
  /// - Returns: Whether it was idle; otherwise nothing happens.
  @discardableResult
  public func start() -> Bool {
    let generation = inner.withLock { inner -> UInt64? in
      guard inner.state == .idle else { return nil }
      inner.state = .running
      inner.attempts = 0
      inner.lastError = nil
      inner.generation += 1
      // Within the lock, so that the registry sees starts and ends in their order.
      registry.add(self)
      return inner.generation
    }
    guard let generation else { return false }
    let task = Task { await self.drive(generation) }
    let isOver = inner.withLock { inner in
      guard inner.generation == generation, inner.state == .running else { return true }
      inner.task = task
      return false
    }
    if isOver { task.cancel() }
    return true
  }

  /// Stops it at once: a wait ends, an attempt in flight is cancelled, and its later reports change nothing.
  ///
  /// - Returns: Whether it was running; otherwise nothing happens.
  @discardableResult
  public func stop() -> Bool {
    guard let generation = inner.withLock({ $0.state == .running ? $0.generation : nil }) else { return false }
    // If there was another start in between, that one must not be stopped.
    return end(generation, .stopped)
  }

  /// Prepares a run that has ended, or was never started, for another start with the same work and handler.
  ///
  /// - Returns: Whether it was not running; otherwise nothing happens.
  @discardableResult
  public func reset() -> Bool {
    inner.withLock { inner in
      guard inner.state != .running else { return false }
      inner.state = .idle
      inner.attempts = 0
      inner.lastError = nil
      return true
    }
  }

  // MARK: The run

  private func drive(_ generation: UInt64) async {
    // Not `run`: what it throws depends on the retrier's `throwing`, and may not say whether the run was stopped.
    let result = await retrier.result { attempt in
      guard self.begin(attempt, generation) else { throw CancellationError() }
      try await self.work(attempt)
    }
    switch result {
    case .success: end(generation, .succeeded)
    case .failure(let error) where error.reason == .cancelled: end(generation, .stopped)
    case .failure(let error): end(generation, .failed, error)
    }
  }

  private func begin(_ attempt: RetryAttempt, _ generation: UInt64) -> Bool {
    inner.withLock { inner in
      guard inner.generation == generation, inner.state == .running else { return false }
      inner.attempts = attempt.number
      return true
    }
  }

  /// Ends the run of that generation, if it has not ended, and reports that.
  @discardableResult
  private func end(_ generation: UInt64, _ state: State, _ error: RetryError? = nil) -> Bool {
    let told = inner.withLock { inner -> (Ending?, [CheckedContinuation<State, Never>], Task<Void, Never>?)? in
      guard inner.generation == generation, inner.state == .running else { return nil }
      inner.state = state
      inner.lastError = error
      registry.remove(self)
      defer {
        inner.waiters = []
        inner.task = nil
      }
      return (inner.ending, inner.waiters, inner.task)
    }
    guard let (ending, waiters, task) = told else { return false }
    // For one that has ended by itself this does nothing.
    task?.cancel()
    for waiter in waiters { waiter.resume(returning: state) }
    guard let ending else { return true }
    if let queue = ending.queue {
      queue.async { ending.handler(state) }
    } else {
      ending.handler(state)
    }
    return true
  }
}
