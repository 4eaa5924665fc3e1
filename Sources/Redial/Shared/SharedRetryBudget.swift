/// A budget of retries that any number of runs share, from any thread.
public final class SharedRetryBudget: Sendable {
  private let clock: any RetryClock
  private let budget: Guarded<RetryBudget>

  /// A full budget.
  public init(_ rule: RetryBudget.Rule = .finagle, clock: any RetryClock = SystemRetryClock()) {
    self.clock = clock
    budget = Guarded(RetryBudget(rule))
  }

  /// What could still be withdrawn: tokens if the rule counts them, otherwise retries.
  public var balance: Double { budget.withLock { $0.balance(at: clock.now) } }

  /// Counts a first attempt.
  public func begin() {
    budget.withLock { $0.begin(at: clock.now) }
  }

  /// Pays for one retry; nil if the budget does not allow it. Call it before the wait.
  public func withdraw(for cause: RetryBudget.Cause = .transient) -> RetryBudget.Withdrawal? {
    budget.withLock { $0.withdraw(for: cause, at: clock.now) }
  }

  /// Records the result of an attempt: of a retry, with its withdrawal, or of a first attempt, without one.
  public func end(_ outcome: RetryBudget.Outcome, of withdrawal: RetryBudget.Withdrawal? = nil) {
    budget.withLock { $0.end(outcome, of: withdrawal, at: clock.now) }
  }
}
