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
  /// How long each run may take before another begins.
  public var delay: Duration
  /// The maximum number of runs besides the first, 0 or more.
  public var additional: Int
  /// Whether the work may be executed more than once. If not, it runs once.
  public var isIdempotent: Bool
  /// The budget for the further runs.
  public var budget: SharedRetryBudget
  /// The clock.
  public var clock: any RetryClock

  /// Creates a hedge.
  public init(
    after delay: Duration, additional: Int = 1, isIdempotent: Bool, budget: SharedRetryBudget,
    clock: any RetryClock = SystemRetryClock()
  ) {
    self.delay = delay
    self.additional = additional
    self.isIdempotent = isIdempotent
    self.budget = budget
    self.clock = clock
  }

  private enum Event<Value: Sendable>: Sendable {
    case ended(Result<Value, any Error>)
    case slow
  }

  /// Runs work. When one run has succeeded the others are cancelled, and awaited.
  ///
  /// - Throws: The error of the last run that ended, if none has succeeded and none is in flight.
  public func perform<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard isIdempotent, additional > 0 else { return try await work() }
    budget.begin()
    return try await withThrowingTaskGroup(of: Event<Value>.self) { group in
      defer { group.cancelAll() }
      func start(_ withdrawal: RetryBudget.Withdrawal?) {
        group.addTask {
          let result: Result<Value, any Error>
          do {
            result = .success(try await work())
            budget.end(.success, of: withdrawal)
          } catch {
            result = .failure(error)
            // A run that was cancelled, because another was first, says nothing about the target.
            budget.end(Task.isCancelled ? .ignored : .failure, of: withdrawal)
          }
          return .ended(result)
        }
      }
      func startTimer() {
        group.addTask { [clock, delay] in
          try? await clock.timeout(after: delay)
          return .slow
        }
      }
      start(nil)
      startTimer()
      var (inFlight, started) = (1, 0)
      while let event = try await group.next() {
        switch event {
        case .ended(.success(let value)): return value
        case .ended(.failure(let error)):
          inFlight -= 1
          if inFlight == 0 { throw error }
        case .slow:
          guard !Task.isCancelled, started < additional, let withdrawal = budget.withdraw() else { continue }
          started += 1
          inFlight += 1
          start(withdrawal)
          if started < additional { startTimer() }
        }
      }
      throw CancellationError()
    }
  }
}
