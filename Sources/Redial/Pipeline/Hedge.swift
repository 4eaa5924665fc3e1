/// Runs work a second time in parallel if the first run is slow, and takes the first answer (Dean and Barroso, "The
/// Tail at Scale", 2013).
///
/// ```swift
/// let hedge = Hedge(after: .milliseconds(300), isIdempotent: true, budget: SharedRetryBudget(.finagle))
/// let user = try await hedge.perform { try await fetchUser() }
/// ```
///
/// Each further run is paid for from a budget, so that a target that is slow for everybody does not get twice as many
/// requests. Only work that may be executed twice may be hedged.
public struct Hedge: PipelinePart {
  /// How long the latest run may take before another begins. After a run that fails in a way that may pass the next begins at
  /// once, unless the target has requested a wait.
  public var delay: Duration
  /// The maximum number of runs besides the first, 0 or more.
  public var additional: Int
  /// Whether the work may be executed more than once. If not, it runs once.
  public var isIdempotent: Bool
  /// The budget for the further runs.
  public var budget: SharedRetryBudget
  /// What an error shows about the target.
  public var outcome: @Sendable (any Error) -> AttemptOutcome = Retrier.outcome
  /// Its name in events.
  public var name: String
  /// The clock.
  public var clock: any RetryClock
  /// Receives an event when a further run begins.
  public var events: (any RetryObserver)?

  /// Creates a hedge.
  public init(
    after delay: Duration, additional: Int = 1, isIdempotent: Bool, budget: SharedRetryBudget, name: String = "hedge",
    clock: any RetryClock = SystemRetryClock(), events: (any RetryObserver)? = nil
  ) {
    self.delay = delay
    self.additional = additional
    self.isIdempotent = isIdempotent
    self.budget = budget
    self.name = name
    self.clock = clock
    self.events = events
  }

  private enum Event<Value: Sendable>: Sendable {
    case ended(Result<Value, any Error>)
    /// The run with this number has taken long.
    case slow(Int)
  }

  /// Runs work. When one run has succeeded the others are cancelled, and awaited.
  ///
  /// - Throws: The error of the last run that ended, if none has succeeded and none is in flight; at once an error that no
  ///   further run can change: ``Permanent``, or one that is ``AttemptOutcome/unusable``.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard isIdempotent, additional > 0 else { return try await work() }
    budget.begin()
    return try await withThrowingTaskGroup(of: Event<Value>.self) { group in
      defer { group.cancelAll() }
      var (inFlight, runs) = (0, 0)
      func start(_ withdrawal: RetryBudget.Withdrawal?) {
        inFlight += 1
        runs += 1
        group.addTask {
          let result: Result<Value, any Error>
          do {
            result = .success(try await work())
            budget.end(.success, of: withdrawal)
          } catch {
            result = .failure(error)
            budget.end(settlement(of: error), of: withdrawal)
          }
          return .ended(result)
        }
        guard runs <= additional else { return }
        group.addTask { [clock, delay, runs] in
          try? await clock.timeout(after: delay)
          return .slow(runs)
        }
      }
      func startFurther() {
        guard !Task.isCancelled, runs <= additional, let withdrawal = budget.withdraw() else { return }
        start(withdrawal)
        events?.tell(.hedged(name: name, run: runs))
      }
      start(nil)
      while let event = try await group.next() {
        switch event {
        case .ended(.success(let value)): return value
        case .ended(.failure(let error)):
          inFlight -= 1
          if error is Permanent { throw error }
          switch outcome(error) {
          case .unusable: throw error
          case .notSent, .maybeSent: startFurther()
          case .answered(let status, nil, _) where status >= 500 || status == 429: startFurther()
          case .answered, .localFault: break
          }
          if inFlight == 0 { throw error }
        case .slow(let run): if run == runs { startFurther() }
        }
      }
      throw CancellationError()
    }
  }

  /// How the budget of a run that failed is settled.
  private func settlement(of error: any Error) -> RetryBudget.Outcome {
    // A run that was cancelled, because another was first, says nothing about the target.
    if Task.isCancelled { return .ignored }
    if case .localFault = outcome(error) { return .neverSent }
    return .failure
  }
}
