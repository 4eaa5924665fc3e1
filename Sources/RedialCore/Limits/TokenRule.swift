/// A bucket of tokens: failures or retries withdraw, successes deposit. It starts full.
public struct TokenRule: Sendable, Hashable {
  /// The tokens that the success of a retry gives back.
  public enum Repayment: Sendable, Hashable {
    /// The cost of that retry.
    case refund
    /// This amount, whatever the cost of the retry.
    case deposit(Tokens)
  }

  /// The maximum and the initial amount of the bucket.
  public var capacity: Tokens
  /// Retries are allowed only while the balance is above this.
  public var threshold: Tokens
  /// The cost of a failed attempt, a first attempt or a retry.
  public var failureCost: Tokens
  /// The cost of a retry after a transient failure, paid before its wait.
  public var transientCost: Tokens
  /// The cost of a retry after a throttling response, paid before its wait.
  public var throttlingCost: Tokens
  /// The deposit for the success of a first attempt.
  public var firstSuccess: Tokens
  /// The deposit for the success of a retry.
  public var retrySuccess: Repayment

  /// Creates a rule; every amount is within 0...1000.
  public init(
    capacity: Tokens, threshold: Tokens = 0, failureCost: Tokens = 0, transientCost: Tokens = 0,
    throttlingCost: Tokens = 0, firstSuccess: Tokens, retrySuccess: Repayment
  ) {
    self.capacity = capacity
    self.threshold = threshold
    self.failureCost = failureCost
    self.transientCost = transientCost
    self.throttlingCost = throttlingCost
    self.firstSuccess = firstSuccess
    self.retrySuccess = retrySuccess
  }

  /// gRPC's retry throttling (gRFC A6): a failure costs 1, a success brings `tokenRatio`, and there are retries
  /// while the bucket is more than half full. The defaults are those of the gRFC's example.
  public static func gRPC(capacity: Tokens = 10, tokenRatio: Tokens = 0.1) -> TokenRule {
    TokenRule(
      capacity: capacity, threshold: Tokens(thousandths: capacity.thousandths / 2), failureCost: 1,
      firstSuccess: tokenRatio, retrySuccess: .deposit(tokenRatio))
  }

  /// The retry quota of the AWS SDKs' standard mode, as of 2026 (AWS SDKs and Tools Reference Guide, "Retry behavior"):
  /// a retry costs 14, after throttling 5; a successful first attempt deposits 1, a successful retry gives its cost
  /// back.
  public static let aws = TokenRule(
    capacity: 500, transientCost: 14, throttlingCost: 5, firstSuccess: 1, retrySuccess: .refund)
}

/// The state of a bucket: 0 ≤ balance ≤ capacity, always.
struct TokenBudget: Sendable, Hashable {
  let rule: TokenRule
  private(set) var balance: Tokens

  init(_ rule: TokenRule) {
    self.rule = rule
    balance = rule.capacity
  }

  func cost(of cause: RetryBudget.Cause) -> Tokens {
    switch cause {
    case .transient: rule.transientCost
    case .throttling: rule.throttlingCost
    }
  }

  /// Takes the cost of a retry, or nothing if the bucket does not allow it.
  mutating func withdraw(_ cost: Tokens) -> Bool {
    guard balance > rule.threshold, balance >= cost else { return false }
    balance = balance - cost
    return true
  }

  mutating func end(_ outcome: RetryBudget.Outcome, cost: Tokens?) {
    switch outcome {
    case .success: deposit(income(ofRetryFor: cost))
    case .failure: balance = balance - rule.failureCost
    case .ignored: break
    case .neverSent: deposit(cost ?? 0)
    }
  }

  private func income(ofRetryFor cost: Tokens?) -> Tokens {
    guard let cost else { return rule.firstSuccess }
    return switch rule.retrySuccess {
    case .refund: cost
    case .deposit(let amount): amount
    }
  }

  private mutating func deposit(_ amount: Tokens) {
    balance = (balance + amount).capped(at: rule.capacity)
  }
}
