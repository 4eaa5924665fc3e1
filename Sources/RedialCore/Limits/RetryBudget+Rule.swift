extension RetryBudget {
  /// How a budget decides.
  public enum Rule: Sendable, Hashable {
    /// A bucket of tokens that successes refill.
    case tokens(TokenRule)
    /// Retries are at most `share` (0...100) of the first tries of the last `window` (10 ms to a day), and
    /// `minimumPerSecond` (0 to a million) on top, over the same window (Finagle, `RetryBudget.apply`).
    case ratio(share: Double, minimumPerSecond: Int, window: Duration)
    /// Retries, from withdrawal to end, are at most `share` (0...1) of all attempts that have begun and not ended,
    /// or `minimum` if that is more (Envoy, `CircuitBreakers.Thresholds.RetryBudget`). With a minimum of 0 nothing is
    /// retried when all have failed, because then nothing is active.
    case concurrent(share: Double, minimum: Int)
    /// Every retry is allowed.
    case unlimited

    /// gRPC's retry throttling: see ``TokenRule/gRPC(capacity:tokenRatio:)``.
    public static let gRPC = Rule.tokens(.gRPC())
    /// The retry quota of the AWS SDKs: see ``TokenRule/aws``.
    public static let aws = Rule.tokens(.aws)
    /// Finagle's defaults: a fifth of the requests and 10 per second, over 10 seconds.
    public static let finagle = Rule.ratio(share: 0.2, minimumPerSecond: 10, window: .seconds(10))
    /// Envoy's defaults: a fifth of what is active, or 3.
    public static let envoy = Rule.concurrent(share: 0.2, minimum: 3)
  }
}
