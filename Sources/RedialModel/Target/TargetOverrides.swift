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
    for member in Self.members { member.take(&self, settings) }
  }

  /// The settings of a target: these, and the defaults for the nil ones.
  public func applied(to defaults: TargetSettings) -> TargetSettings {
    var settings = defaults
    for member in Self.members { member.apply(self, &settings) }
    return settings
  }
}
