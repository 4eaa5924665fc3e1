/// Limits how much load retries add to a target, over all calls to it.
///
/// Limits per call cannot do that: n attempts over L layers of callers multiply the load by up to n^L, and keep a
/// target down long after the original cause has passed (Bronson et al., "Metastable Failures in Distributed Systems",
/// HotOS 2021; Huang et al., "Metastable Failures in the Wild", OSDI 2022).
///
/// ```swift
/// var budget = RetryBudget(.aws)
/// budget.begin(at: now)
/// // The first try fails.
/// budget.end(.failure, at: now)
/// guard let withdrawal = budget.withdraw(for: .transient, at: now) else { return giveUp() }
/// // Wait, then try again.
/// budget.end(.success, of: withdrawal, at: now)
/// ```
///
/// A retry is paid for before its wait: waiting retries have been counted, so they cannot all return at once. The
/// balance is never negative and never above the rule's limit. Nothing is allocated.
public struct RetryBudget: Sendable, Hashable {
  /// The reason for a retry.
  public enum Cause: UInt8, Sendable, Hashable, CaseIterable {
    /// The attempt failed in a way that may pass.
    case transient = 0
    /// The target asked for fewer requests.
    case throttling = 1
  }

  /// The result of an attempt.
  public enum Outcome: UInt8, Sendable, Hashable, CaseIterable {
    /// The target did what was requested.
    case success = 0
    /// The target failed in a way that is retried.
    case failure = 1
    /// The attempt was made and says nothing about the target. Its cost stays spent.
    case ignored = 2
    /// The attempt was cancelled before it was made. Its cost is given back.
    case neverSent = 3
  }

  /// The permission for one retry, to be returned once, with the retry's result.
  public struct Withdrawal: Sendable, Hashable {
    /// The cost of the retry; 0 unless the rule counts tokens.
    public let cost: Tokens
    /// When it was withdrawn.
    public let withdrawnAt: Timestamp
  }

  private enum State: Sendable, Hashable {
    case tokens(TokenBudget)
    case ratio(RatioBudget)
    case concurrent(ConcurrentBudget)
    case unlimited
  }

  private var state: State

  /// A full budget.
  public init(_ rule: Rule) {
    state =
      switch rule {
      case .tokens(let rule): .tokens(TokenBudget(rule))
      case .ratio(let share, let minimumPerSecond, let window):
        .ratio(RatioBudget(share: share, minimumPerSecond: minimumPerSecond, window: window))
      case .concurrent(let share, let minimum): .concurrent(ConcurrentBudget(share: share, minimum: minimum))
      case .unlimited: .unlimited
      }
  }

  /// Counts a first attempt, which no budget refuses.
  public mutating func begin(at now: Timestamp) {
    switch state {
    case .ratio(var budget):
      budget.begin(at: now)
      state = .ratio(budget)
    case .concurrent(var budget):
      budget.begin()
      state = .concurrent(budget)
    case .tokens, .unlimited: break
    }
  }

  /// Pays for one retry; nil when the budget does not allow it, and then nothing has changed.
  ///
  /// Call it after ``end(_:of:at:)`` of the attempt before, and before the wait.
  public mutating func withdraw(for cause: Cause, at now: Timestamp) -> Withdrawal? {
    var cost: Tokens = 0
    let isLent: Bool
    switch state {
    case .tokens(var budget):
      cost = budget.cost(of: cause)
      isLent = budget.withdraw(cost)
      state = .tokens(budget)
    case .ratio(var budget):
      isLent = budget.withdraw(at: now)
      if isLent { state = .ratio(budget) }
    case .concurrent(var budget):
      isLent = budget.withdraw()
      state = .concurrent(budget)
    case .unlimited:
      isLent = true
    }
    return isLent ? Withdrawal(cost: cost, withdrawnAt: now) : nil
  }

  /// Records the result of an attempt: of a retry, with its withdrawal, or of a first attempt, without one.
  public mutating func end(_ outcome: Outcome, of withdrawal: Withdrawal? = nil, at now: Timestamp) {
    switch state {
    case .tokens(var budget):
      budget.end(outcome, cost: withdrawal?.cost)
      state = .tokens(budget)
    case .ratio(var budget):
      guard outcome == .neverSent, let withdrawal else { return }
      budget.giveBack(withdrawnAt: withdrawal.withdrawnAt)
      state = .ratio(budget)
    case .concurrent(var budget):
      budget.end(isRetry: withdrawal != nil)
      state = .concurrent(budget)
    case .unlimited: break
    }
  }

  /// What could still be withdrawn at this time, 0 or more: tokens where the rule counts them, else retries;
  /// infinity if the budget is unlimited.
  public func balance(at now: Timestamp) -> Double {
    switch state {
    case .tokens(let budget): Double(budget.balance.thousandths) / 1000
    case .ratio(var budget): Double(budget.available(at: now))
    case .concurrent(let budget): Double(budget.available)
    case .unlimited: .infinity
    }
  }
}
