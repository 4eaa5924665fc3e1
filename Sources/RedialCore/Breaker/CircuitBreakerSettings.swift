/// When a circuit breaker trips, and how it recovers.
public struct CircuitBreakerSettings: Sendable, Hashable {
  /// Failures in a row that open the breaker, if ``significance`` does not ask for more; 0 turns this rule off.
  public var consecutiveFailures: Int
  /// A run of failures opens the breaker only if it comes by chance with this probability at most, 0...1, at the share of
  /// failures that is usual for the target (see ``UsualFailures``). 1 opens it at each run of ``consecutiveFailures``.
  public var significance: Double
  /// The least time that a run of failures lasts before it opens the breaker, and twice the usual duration of a call that
  /// succeeds is added. A target that gets many requests fails ten in a row within milliseconds, and that is no outage;
  /// and failures may come quicker than successes. Zero opens it at once.
  public var failureTime: Duration
  /// The failure rate, 0...1, over the window at or above which the breaker opens; above 1 turns this rule off.
  public var failureRate: Double
  /// The share of slow calls, 0...1, over the window at or above which the breaker opens; above 1 turns this rule off.
  public var slowCallRate: Double
  /// A call that takes longer than this is slow, whatever its result.
  public var slowCallDuration: Duration
  /// The window of the rates.
  public var window: Window
  /// Outcomes needed in the window before a rate counts.
  public var minimumCalls: Int
  /// How long the breaker stays open the first time.
  public var openInterval: Duration
  /// The factor of the interval each time a half-open breaker opens again; 1 or more.
  public var openMultiplier: Double
  /// The maximum time the breaker stays open at a time, unless the first interval is longer.
  public var maximumOpenInterval: Duration
  /// How much, 0...1, each open interval is spread around its length, so that many breakers do not probe together; no
  /// interval exceeds the maximum.
  public var openJitter: Double
  /// How many calls a half-open breaker lets through at a time, 1...``mostProbes``, even if fewer successes close it.
  /// In all it lets this many through, or as many as the decision can need, ``successesToClose`` +
  /// ``halfOpenFailuresAllowed``, if that is more.
  public var halfOpenProbes: Int
  /// How many probes must succeed to close it; nil for as many as may be in flight at a time.
  public var successesToClose: Int?
  /// How many probes may fail without opening it again.
  public var halfOpenFailuresAllowed: Int
  /// How long a half-open breaker waits for probes in flight, from the first of them, before it counts them as failed.
  /// Without calls, or with probes that say nothing, it continues to wait.
  public var probeTimeout: Duration
  /// How long a permit is valid: a later result changes nothing, and a probe's place is free again. The default is
  /// longer than any attempt.
  public var permitLease: Duration

  /// The window of the rates.
  public enum Window: Sendable, Hashable {
    /// The outcomes of this time, forgotten in steps of a tenth of it.
    case time(Duration)
    /// This number of outcomes, 1...``CircuitBreakerSettings/largestWindow``, of the last hour.
    case calls(Int)
  }

  /// Whether no rule opens the breaker.
  package var isOff: Bool { consecutiveFailures <= 0 && failureRate > 1 && slowCallRate > 1 }

  /// The maximum number of probes at a time.
  public static let mostProbes = 1000

  /// Probes at a time, within their limits.
  var probesAtATime: Int { min(max(1, halfOpenProbes), Self.mostProbes) }

  /// No larger number of probes is useful; sums of two fit into 32 bits.
  private static let mostToDecide = 1_000_000_000

  /// Probes that must succeed, within their limits.
  var successesNeeded: Int { min(max(1, successesToClose ?? probesAtATime), Self.mostToDecide) }

  /// Probes that may fail, within their limits.
  var failuresBorne: Int { min(max(0, halfOpenFailuresAllowed), Self.mostToDecide) }

  /// The maximum number of probes that a half-open breaker lets through in all, except those without a result.
  var probesToDecide: Int { max(probesAtATime, successesNeeded + failuresBorne) }

  /// The maximum number of outcomes in a window of calls.
  public static let largestWindow = 100_000

  /// Creates settings; omitted arguments have Redial's defaults.
  public init(
    consecutiveFailures: Int = 10, significance: Double = 1e-6, failureTime: Duration = .zero,
    failureRate: Double = 2, slowCallRate: Double = 2,
    slowCallDuration: Duration = .seconds(60), window: Window = .time(.seconds(60)), minimumCalls: Int = 20,
    openInterval: Duration = .seconds(5), openMultiplier: Double = 2, maximumOpenInterval: Duration = .seconds(60),
    openJitter: Double = 0, halfOpenProbes: Int = 1, successesToClose: Int? = nil, halfOpenFailuresAllowed: Int = 0,
    probeTimeout: Duration = .seconds(120), permitLease: Duration = .seconds(2 * 3600)
  ) {
    self.consecutiveFailures = consecutiveFailures
    self.significance = significance
    self.failureTime = failureTime
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

  /// How long the breaker stays open after a number of trips in a row.
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
