/// The TLS settings of all targets and rules, found by the origin that a request goes to.
///
/// TLS settings belong to origins. The client that submits a call chooses the name of its target, so the name must not
/// decide who gets a certificate, nor whether pins are checked:
/// - A request uses its target's certificate, if the target lists the request's origin; else the certificate of the
///   origin itself. A request that a redirect led to another origin uses none, because the server that redirected has
///   chosen its destination.
/// - Pins, issuers and the minimum version apply to every request to their origin, under any target name. If several
///   sets of pins apply, a key must be in all of them.
public struct OriginTLS: Sendable {
  /// The targets' own settings.
  private var byTarget: [TargetKey: TargetTLS] = [:]
  /// By the key that an origin has as a target, the targets whose settings list it.
  private var listing: [TargetKey: [TargetKey]] = [:]
  private let rules: [TargetRule]
  /// By origin, the settings of rules that list it.
  private let listingRules: [String: [TargetTLS]]

  /// No settings except those of rules.
  public init(rules: [TargetRule] = []) {
    self.rules = rules.contains { $0.settings.tls != nil } ? rules : []
    var listingRules: [String: [TargetTLS]] = [:]
    for tls in rules.compactMap(\.settings.tls) {
      for origin in tls.origins { listingRules[origin, default: []].append(tls) }
    }
    self.listingRules = listingRules
  }

  /// Whether no target has settings.
  public var isEmpty: Bool { byTarget.isEmpty && rules.isEmpty }

  /// Sets the settings of one target.
  ///
  /// - Parameter tls: Nil to remove them.
  public mutating func set(_ tls: TargetTLS?, of key: TargetKey) {
    guard byTarget[key] != tls else { return }
    let namespace = key.namespace
    for origin in byTarget[key]?.origins ?? [] {
      let place = TargetKey(origin, in: namespace)
      let left = listing[place]?.filter { $0 != key } ?? []
      listing[place] = left.isEmpty ? nil : left
    }
    byTarget[key] = tls
    for origin in tls?.origins ?? [] {
      let place = TargetKey(origin, in: namespace)
      // In an order that is the same in every process, because the first with issuers counts.
      listing[place] = ((listing[place] ?? []) + [key]).sorted()
    }
  }

  /// The settings for a request; nil if there are none.
  ///
  /// - Parameters:
  ///   - origin: The origin that the request goes to.
  ///   - target: The call's target.
  ///   - isRedirected: Whether a redirect has led to another origin on the way.
  public func settings(for origin: String, of target: TargetKey, isRedirected: Bool = false) -> TargetTLS? {
    let own = TargetKey(origin, in: target.namespace)
    let ofOrigin = settings(of: own, for: origin)
    let ofTarget = target == own ? nil : settings(of: target, for: origin)
    let listed = (listing[own] ?? []).compactMap { byTarget[$0] } + (listingRules[origin] ?? [])
    let all = [ofOrigin, ofTarget].compactMap { $0 } + listed
    guard !all.isEmpty else { return nil }
    var result = TargetTLS()
    for tls in all { result.tighten(by: tls) }
    if !isRedirected, let shown = [ofTarget, ofOrigin].compactMap({ $0 }).first(where: { $0.certificate != nil }) {
      (result.certificate, result.key) = (shown.certificate, shown.key)
    }
    return result == TargetTLS() ? nil : result
  }

  /// A target's own settings, if they apply to the origin.
  private func settings(of key: TargetKey, for origin: String) -> TargetTLS? {
    guard let tls = byTarget[key] ?? TargetRule.first(of: rules, for: key)?.settings.tls,
      tls.origins(of: key).contains(origin)
    else { return nil }
    return tls
  }
}

/// The TLS settings for the requests of one call.
public struct CallTLS: Sendable {
  private let settings: OriginTLS
  private let target: TargetKey

  /// - Parameter target: The call's target.
  public init(_ settings: OriginTLS, target: TargetKey) {
    self.settings = settings
    self.target = target
  }

  /// The settings for a request; nil if there are none.
  ///
  /// - Parameters:
  ///   - url: The URL of the request.
  ///   - isRedirected: Whether a redirect has led to another origin on the way.
  public func settings(for url: String, isRedirected: Bool) -> TargetTLS? {
    guard let origin = try? TargetURL(url).origin else { return nil }
    return settings.settings(for: origin, of: target, isRedirected: isRedirected)
  }
}

extension TargetTLS {
  /// A digest that no known key has: pins that exclude each other allow no connection.
  static let impossiblePin = String(repeating: "A", count: 43) + "="

  /// Adds other settings, except for the certificate: the first with issuers counts.
  fileprivate mutating func tighten(by other: TargetTLS) {
    if caFile == nil { caFile = other.caFile }
    if let version = other.minVersion, minVersion.map({ $0.rawValue < version.rawValue }) ?? true {
      minVersion = version
    }
    guard !other.pins.isEmpty else { return }
    pins = pins.isEmpty ? other.pins : pins.filter(other.pins.contains)
    if pins.isEmpty { pins = [Self.impossiblePin] }
  }
}
