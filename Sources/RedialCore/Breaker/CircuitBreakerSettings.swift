/// When a circuit breaker trips, and how it recovers.
public struct CircuitBreakerSettings: Sendable, Hashable {
  /// Failures in a row that open the breaker; 0 switches this rule off.
  public var consecutiveFailures: Int
  /// The failure rate, 0...1, over the window at or above which the breaker opens; above 1 switches this rule off.
  public var failureRate: Double
  /// The share of slow calls, 0...1, over the window at or above which the breaker opens; above 1 switches this rule off.
  public var slowCallRate: Double
  /// What takes longer than this is a slow call, however it ended.
  public var slowCallDuration: Duration
  /// How far back the rates look.
  public var window: Window
  /// Outcomes that the window must hold before a rate is judged.
  public var minimumCalls: Int
  /// How long the breaker stays open the first time.
  public var openInterval: Duration
  /// What the interval is multiplied by each time a half-open breaker opens again; 1 or more.
  public var openMultiplier: Double
  /// The longest the breaker stays open at a time, unless the first interval is longer already.
  public var maximumOpenInterval: Duration
  /// By how much, 0...1, each open interval is spread around its length, so that many breakers do not probe together;
  /// no interval exceeds the longest.
  public var openJitter: Double
  /// How many calls a half-open breaker lets through at a time, 1...``mostProbes``, also where fewer successes close it.
  /// In all it lets so many through, or as many as it can take to decide, ``successesToClose`` +
  /// ``halfOpenFailuresAllowed``, if that is more.
  public var halfOpenProbes: Int
  /// How many probes must succeed to close it; nil for as many as may be in flight at a time.
  public var successesToClose: Int?
  /// How many probes may fail without opening it again.
  public var halfOpenFailuresAllowed: Int
  /// How long a half-open breaker waits for probes in flight, from the first of them, before it counts them as failed.
  /// One that nobody calls, or whose probes say nothing, goes on waiting for a verdict.
  public var probeTimeout: Duration
  /// How long a permit is valid: a later result changes nothing, and a probe's place is free again.
  /// The default is longer than any attempt may take.
  public var permitLease: Duration

  /// How far back the rates look.
  public enum Window: Sendable, Hashable {
    /// The outcomes of this much time, forgotten in steps of a tenth of it.
    case time(Duration)
    /// So many outcomes, 1...``CircuitBreakerSettings/largestWindow``.
    case calls(Int)
  }

  /// The most probes at a time.
  public static let mostProbes = 1000

  /// Probes at a time, within their bounds.
  var probesAtATime: Int { min(max(1, halfOpenProbes), Self.mostProbes) }

  /// Beyond this no number of probes is meant; sums of two fit into 32 bits.
  private static let mostToDecide = 1_000_000_000

  /// Probes that must succeed, within their bounds.
  var successesNeeded: Int { min(max(1, successesToClose ?? probesAtATime), Self.mostToDecide) }

  /// Probes that may fail, within their bounds.
  var failuresBorne: Int { min(max(0, halfOpenFailuresAllowed), Self.mostToDecide) }

  /// The most probes that a half-open breaker lets through in all, except those without a result.
  var probesToDecide: Int { max(probesAtATime, successesNeeded + failuresBorne) }

  /// The most outcomes that a window of calls remembers.
  public static let largestWindow = 100_000

  /// Creates settings; every argument left out has Redial's default.
  public init(
    consecutiveFailures: Int = 10, failureRate: Double = 0.5, slowCallRate: Double = 2,
    slowCallDuration: Duration = .seconds(60), window: Window = .time(.seconds(60)), minimumCalls: Int = 20,
    openInterval: Duration = .seconds(5), openMultiplier: Double = 2, maximumOpenInterval: Duration = .seconds(60),
    openJitter: Double = 0, halfOpenProbes: Int = 1, successesToClose: Int? = nil, halfOpenFailuresAllowed: Int = 0,
    probeTimeout: Duration = .seconds(120), permitLease: Duration = .seconds(2 * 3600)
  ) {
    self.consecutiveFailures = consecutiveFailures
    self.failureRate = failureRate
    self.slowCallRate = slowCallRate
    self.slowCallDuration = slowCallDuration
    self.window = window
    self.minimumCalls = minimumCalls
    self.openInterval = openInterval
    self.openMultiplier = openMultiplier
    self.maximumOpenInterval = maximumOpenInterval
    self.openJitter = openJitter
    self.halfOpenProbes = halfOpenProbes
    self.successesToClose = successesToClose
    self.halfOpenFailuresAllowed = halfOpenFailuresAllowed
    self.probeTimeout = probeTimeout
    self.permitLease = permitLease
  }

  /// How long the breaker stays open for the time that follows so many trips in a row.
  ///
  /// - Parameter draw: Uniform in [0, 1), for the jitter.
  func openInterval(afterTrips trips: Int, draw: Double) -> Duration {
    let first = max(0, openInterval.inSeconds)
    let longest = max(first, maximumOpenInterval.inSeconds)
    let grown = first == 0 ? 0 : first * Elementary.power(openMultiplier > 1 ? openMultiplier : 1, trips)
    let jitter = Jitter.proportional(factor: openJitter)
    return Duration(clampingSeconds: min(grown, longest / jitter.largestScale) * jitter.scale(draw))
  }
}
