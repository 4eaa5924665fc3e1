public import RedialCore

/// What a target may be asked for at a time, and when it is left alone.
public struct TargetSettings: Sendable, Hashable {
  /// When its breaker trips and how it recovers.
  public var breaker: CircuitBreakerSettings
  /// Maximum attempts in flight, 1...100,000.
  public var maxInFlight: Int
  /// Attempts begun a second, 0.001...1,000,000; 0 for no bound.
  public var ratePerSecond: Double
  /// Attempts that may begin at once after a pause, 1...1,000,000; of no effect without a rate.
  public var rateBurst: Int
  /// Retries as a share of the first tries of the last ``retryWindow``, 0...1; of no effect without
  /// ``retriesPerSecond``.
  public var retryShare: Double
  /// Retries a second that are allowed however few first tries there are, 1...1,000,000; 0 for no bound on retries.
  public var retriesPerSecond: Int
  /// How long after its breaker has closed it is given a growing share of ``maxInFlight``; zero for all at once.
  public var slowStart: Duration
  /// The longest that an attempt may take, whatever a call's policy says.
  public var attemptTimeout: Duration

  /// How it and Redial prove who they are; nil for the general settings.
  public var tls: TargetTLS?

  /// How far back the retry budget looks.
  public static let retryWindow = Duration.seconds(10)

  /// The longest that an attempt may take when nobody says: as long as any policy may ask for.
  public static let longestAttempt = Duration.seconds(3600)

  /// Creates settings; every argument left out has Redial's default.
  public init(
    breaker: CircuitBreakerSettings = CircuitBreakerSettings(), maxInFlight: Int = 64, ratePerSecond: Double = 0,
    rateBurst: Int = 1, retryShare: Double = 0.2, retriesPerSecond: Int = 0, slowStart: Duration = .zero,
    attemptTimeout: Duration = Self.longestAttempt
  ) {
    self.breaker = breaker
    self.maxInFlight = maxInFlight
    self.ratePerSecond = ratePerSecond
    self.rateBurst = rateBurst
    self.retryShare = retryShare
    self.retriesPerSecond = retriesPerSecond
    self.slowStart = slowStart
    self.attemptTimeout = attemptTimeout
  }

  /// A limiter of the rate whose burst is unused; nil without a rate.
  public var rateLimiter: RateLimiter? {
    // In thousandths, so that less than one a second can be said.
    ratePerSecond > 0
      ? RateLimiter(permits: Int((ratePerSecond * 1000).rounded(.up)), per: .seconds(1000), burst: rateBurst) : nil
  }

  /// A budget of retries that nothing has been taken from; nil where retries are not bounded.
  public var retryBudget: RetryBudget? {
    retriesPerSecond > 0
      ? RetryBudget(.ratio(share: retryShare, minimumPerSecond: retriesPerSecond, window: Self.retryWindow)) : nil
  }

  /// Writes the settings as one object, in the words of ``TargetOverrides``.
  public func write(to writer: inout JSONWriter) {
    TargetOverrides(all: self).write(to: &writer)
  }
}
