import RedialCore

extension RetryBudget {
  struct Refused: Error { var budget: RetryBudget }

  /// A withdrawal that the test counts on.
  mutating func lend(for cause: Cause, at now: Timestamp) throws -> Withdrawal {
    guard let withdrawal = withdraw(for: cause, at: now) else { throw Refused(budget: self) }
    return withdrawal
  }
}
