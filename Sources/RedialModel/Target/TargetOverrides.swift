internal import RedialCore
public import RedialJSON

/// Settings of one target; a nil one follows the service's settings, also when those change.
public struct TargetOverrides: Sendable, Hashable {
  /// See ``CircuitBreakerSettings/consecutiveFailures``.
  public var consecutiveFailures: Int?
  /// See ``CircuitBreakerSettings/significance``.
  public var significance: Double?
  /// See ``CircuitBreakerSettings/failureTime``.
  public var failureTime: Duration?
  /// See ``CircuitBreakerSettings/failureRate``; 0 turns the rule off.
  public var failureRate: Double?
  /// The window of the failure rate.
  public var window: Duration?
  /// See ``CircuitBreakerSettings/minimumCalls``.
  public var minimumCalls: Int?
  /// See ``CircuitBreakerSettings/openInterval``.
  public var openInterval: Duration?
  /// See ``CircuitBreakerSettings/maximumOpenInterval``.
  public var maxOpenInterval: Duration?
  /// See ``CircuitBreakerSettings/halfOpenProbes``.
  public var probes: Int?
  /// See ``TargetSettings/maxInFlight``.
  public var maxInFlight: Int?
  /// See ``TargetSettings/ratePerSecond``.
  public var ratePerSecond: Double?
  /// See ``TargetSettings/rateBurst``.
  public var rateBurst: Int?
  /// See ``TargetSettings/retryShare``.
  public var retryShare: Double?
  /// See ``TargetSettings/retriesPerSecond``.
  public var retriesPerSecond: Int?
  /// See ``TargetSettings/pace``.
  public var pace: Pace?
  /// See ``TargetSettings/newCallShare``.
  public var newCallShare: Double?
  /// See ``TargetSettings/slowStart``.
  public var slowStart: Duration?
  /// See ``TargetSettings/attemptTimeout``.
  public var attemptTimeout: Duration?

  /// See ``TargetSettings/isSensitive``.
  public var isSensitive: Bool?

  /// See ``TargetSettings/redact``.
  public var redact: [JSONPointer]?

  /// See ``TargetSettings/tls``.
  public var tls: TargetTLS?
  /// See ``TargetSettings/credential``.
  public var credential: String?
  /// See ``TargetSettings/signing``.
  public var signing: RequestSigning?

  /// Whether it has secrets that are never stored in clear text.
  public var hasSecrets: Bool { signing?.hasSecrets ?? false }

  /// No overrides.
  public init() {}

  /// Refuses secrets, where there is no key to encrypt them with, and where the target is not an origin: they sign nothing else.
  public func checkSecrets(of key: TargetKey, canEncrypt: Bool) throws(Problem) {
    guard hasSecrets else { return }
    let isOrigin = (try? TargetURL(key.bare).origin) == key.bare
    guard !canEncrypt || !isOrigin else { return }
    let fault =
      canEncrypt
      ? "must be the name of a credential, because the target is not the origin of a URL, to which secrets could be bound"
      : RequestSigning.keyFault
    throw Problem(
      .invalidTargetSettings, detail: "/sign \(fault).", errors: [.init(pointer: "/sign", detail: fault)])
  }

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
    isSensitive = settings.isSensitive ? true : nil
    redact = settings.redact.isEmpty ? nil : settings.redact
    tls = settings.tls
    credential = settings.credential
    signing = settings.signing
  }

  /// The settings of a target: these, and the defaults for the nil ones.
  public func applied(to defaults: TargetSettings) -> TargetSettings {
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
    set(isSensitive, \.isSensitive)
    set(redact, \.redact)
    if let tls { settings.tls = tls }
    if let credential { settings.credential = credential }
    if let signing { settings.signing = signing }
    return settings
  }
}
