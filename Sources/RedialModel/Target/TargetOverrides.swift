internal import RedialCore

/// Settings of one target; a nil one follows the service's settings, also when those change.
package struct TargetOverrides: Sendable, Hashable {
  /// See ``CircuitBreakerSettings/consecutiveFailures``.
  package var consecutiveFailures: Int?
  /// See ``CircuitBreakerSettings/significance``.
  package var significance: Double?
  /// See ``CircuitBreakerSettings/failureTime``.
  package var failureTime: Duration?
  /// See ``CircuitBreakerSettings/failureRate``; 0 turns the rule off.
  package var failureRate: Double?
  /// The window of the failure rate.
  package var window: Duration?
  /// See ``CircuitBreakerSettings/minimumCalls``.
  package var minimumCalls: Int?
  /// See ``CircuitBreakerSettings/openInterval``.
  package var openInterval: Duration?
  /// See ``CircuitBreakerSettings/maximumOpenInterval``.
  package var maxOpenInterval: Duration?
  /// See ``CircuitBreakerSettings/halfOpenProbes``.
  package var probes: Int?
  /// See ``TargetSettings/maxInFlight``.
  package var maxInFlight: Int?
  /// See ``TargetSettings/ratePerSecond``.
  package var ratePerSecond: Double?
  /// See ``TargetSettings/rateBurst``.
  package var rateBurst: Int?
  /// See ``TargetSettings/retryShare``.
  package var retryShare: Double?
  /// See ``TargetSettings/retriesPerSecond``.
  package var retriesPerSecond: Int?
  /// See ``TargetSettings/pace``.
  package var pace: Pace?
  /// See ``TargetSettings/newCallShare``.
  package var newCallShare: Double?
  /// See ``TargetSettings/slowStart``.
  package var slowStart: Duration?
  /// See ``TargetSettings/attemptTimeout``.
  package var attemptTimeout: Duration?

  /// See ``TargetSettings/tls``.
  package var tls: TargetTLS?

  /// No overrides.
  package init() {}

  /// Overrides everything with these settings.
  init(all settings: TargetSettings) {
    consecutiveFailures = settings.breaker.consecutiveFailures
    significance = settings.breaker.significance
    failureTime = settings.breaker.failureTime
    failureRate = settings.breaker.failureRate > 1 ? 0 : settings.breaker.failureRate
    if case .time(let length) = settings.breaker.window { window = length }
    minimumCalls = settings.breaker.minimumCalls
    openInterval = settings.breaker.openInterval
    maxOpenInterval = settings.breaker.maximumOpenInterval
    probes = settings.breaker.halfOpenProbes
    maxInFlight = settings.maxInFlight
    ratePerSecond = settings.ratePerSecond
    rateBurst = settings.rateBurst
    retryShare = settings.retryShare
    retriesPerSecond = settings.retriesPerSecond
    pace = settings.pace
    newCallShare = settings.newCallShare
    slowStart = settings.slowStart
    attemptTimeout = settings.attemptTimeout
    tls = settings.tls
  }

  /// The settings of a target: these, and the defaults for the nil ones.
  package func applied(to defaults: TargetSettings) -> TargetSettings {
    var settings = defaults
    func set<Value>(_ value: Value?, _ path: WritableKeyPath<TargetSettings, Value>) {
      if let value { settings[keyPath: path] = value }
    }
    set(consecutiveFailures, \.breaker.consecutiveFailures)
    set(significance, \.breaker.significance)
    set(failureTime, \.breaker.failureTime)
    // The breaker expresses "never" as a rate that cannot be reached.
    set(failureRate.map { $0 == 0 ? 2 : $0 }, \.breaker.failureRate)
    set(window.map { .time($0) }, \.breaker.window)
    set(minimumCalls, \.breaker.minimumCalls)
    set(openInterval, \.breaker.openInterval)
    set(maxOpenInterval, \.breaker.maximumOpenInterval)
    set(probes, \.breaker.halfOpenProbes)
    set(maxInFlight, \.maxInFlight)
    set(ratePerSecond, \.ratePerSecond)
    set(rateBurst, \.rateBurst)
    set(retryShare, \.retryShare)
    set(retriesPerSecond, \.retriesPerSecond)
    set(pace, \.pace)
    set(newCallShare, \.newCallShare)
    set(slowStart, \.slowStart)
    set(attemptTimeout, \.attemptTimeout)
    if let tls { settings.tls = tls }
    return settings
  }
}
