public import RedialCore
public import RedialJSON

/// The limits and the breaker of a target.
public struct TargetSettings: Sendable, Hashable {
  /// When its breaker trips and how it recovers.
  public var breaker: CircuitBreakerSettings
  /// Maximum attempts in flight, 1...100,000.
  public var maxInFlight: Int
  /// Attempts begun per second, 0.001...1,000,000; 0 for no limit.
  public var ratePerSecond: Double
  /// Attempts that may begin at once after a pause, 1...1,000,000; without effect if there is no rate.
  public var rateBurst: Int
  /// Retries as a share of the first attempts of the last ``retryWindow``, 0...1; without effect if
  /// ``retriesPerSecond`` is 0.
  public var retryShare: Double
  /// Retries per second that are always allowed, 1...1,000,000; 0 for no limit on retries.
  public var retriesPerSecond: Int
  /// How fast its attempts start.
  public var pace: Pace
  /// The share of the starts that new calls get while a backlog waits too, one of ``newCallShares``; 0 for calls to start by age.
  public var newCallShare: Double
  /// How long after its breaker has closed it gets a growing share of ``maxInFlight``, if its pace is fixed; zero for
  /// all at once.
  public var slowStart: Duration
  /// The maximum duration of an attempt, whatever a call's policy says.
  public var attemptTimeout: Duration

  /// Whether its new calls are sensitive, see ``CallFields/isSensitive``.
  public var isSensitive = false

  /// The members of JSON bodies that nobody sees of its new calls, besides their own, see ``CallFields/redact``.
  public var redact: [JSONPointer] = []

  /// Its TLS settings; nil for the general settings.
  public var tls: TargetTLS?
  /// The stored credential of calls that name none; calls to origins that may not see it go without.
  public var credential: String?
  /// How calls are signed that do not say it.
  public var signing: RequestSigning?

  /// The shares that new calls may have. The rest keeps the backlog from starving.
  public static let newCallShares = 0...FairShare.most

  /// The default share of new calls.
  public static let newCallShareByDefault = FairShare.usual

  /// The window of the retry budget.
  public static let retryWindow = Duration.seconds(10)

  /// The default maximum duration of an attempt: the longest that a policy may request.
  public static let longestAttempt = Duration.seconds(3600)

  /// Creates settings; omitted arguments have Redial's defaults.
  public init(
    breaker: CircuitBreakerSettings = CircuitBreakerSettings(), maxInFlight: Int = 64, ratePerSecond: Double = 0,
    rateBurst: Int = 1, retryShare: Double = 0.2, retriesPerSecond: Int = 0, pace: Pace = .adaptive,
    newCallShare: Double = Self.newCallShareByDefault, slowStart: Duration = .zero,
    attemptTimeout: Duration = Self.longestAttempt
  ) {
    self.breaker = breaker
    self.maxInFlight = maxInFlight
    self.ratePerSecond = ratePerSecond
    self.rateBurst = rateBurst
    self.retryShare = retryShare
    self.retriesPerSecond = retriesPerSecond
    self.pace = pace
    self.newCallShare = newCallShare
    self.slowStart = slowStart
    self.attemptTimeout = attemptTimeout
  }

  /// A rate limiter with its full burst; nil without a rate.
  public var rateLimiter: RateLimiter? {
    // In thousandths, so that rates below one per second are possible.
    ratePerSecond > 0
      ? RateLimiter(permits: Int((ratePerSecond * 1000).rounded(.up)), per: .seconds(1000), burst: rateBurst) : nil
  }

  /// A full retry budget; nil if retries are not limited.
  public var retryBudget: RetryBudget? {
    retriesPerSecond > 0
      ? RetryBudget(.ratio(share: retryShare, minimumPerSecond: retriesPerSecond, window: Self.retryWindow)) : nil
  }

  /// Writes the settings as one object, in the words of ``TargetOverrides``.
  public func write(to writer: inout JSONWriter) {
    TargetOverrides(all: self).write(hidingSecrets: true, to: &writer)
  }
}
