/// A bucket of tokens that failures or retries draw from and successes refill. It starts full.
public struct TokenRule: Sendable, Hashable {
  /// What the success of a retry brings back.
  public enum Repayment: Sendable, Hashable {
    /// What that retry had cost.
    case refund
    /// This much, whatever the retry had cost.
    case deposit(Tokens)
  }

  /// What the bucket holds at most, and at first.
  public var capacity: Tokens
  /// Retries are lent only while the balance is above this.
  public var threshold: Tokens
  /// What an attempt that failed costs, a first try or a retry.
  public var failureCost: Tokens
  /// What a retry after a transient failure costs, paid before its wait.
  public var transientCost: Tokens
  /// What a retry after a throttling answer costs, paid before its wait.
  public var throttlingCost: Tokens
  /// What the success of a first try brings in.
  public var firstSuccess: Tokens
  /// What the success of a retry brings back.
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

  /// The retry quota of the AWS SDKs' standard mode, as of 2026 (AWS SDKs and Tools Reference Guide, "Retry
  /// behavior"): a retry costs 14, after throttling 5; a first try that succeeds brings 1, a retry that succeeds
  /// brings back what it had cost.
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

  /// Takes the cost of a retry, or nothing if the bucket does not lend.
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
