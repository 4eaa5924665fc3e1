/// The TLS settings of all targets and rules, found by the origin that a request goes to.
///
/// TLS settings belong to origins. The name of a target is chosen by whoever submits a call, so it must not decide who is
/// shown a certificate, nor whether pins are checked:
/// - A request shows the certificate that is set for its target, if that names the origin; else the one that is set for
///   the origin itself. A request that a redirect led to another origin shows none, for then the server that answered has
///   chosen where it goes.
/// - Pins, issuers and the oldest version hold for every request to an origin that they are set for, under any name. Where
///   several sets of pins hold, a key must be in all of them.
public struct OriginTLS: Sendable {
  /// By the qualified key of a target, what is set for it alone.
  private var byTarget: [String: TargetTLS] = [:]
  /// By the qualified key of an origin, the targets whose settings list it.
  private var listing: [String: [String]] = [:]
  private let rules: [TargetRule]
  /// By origin, what rules say that list it.
  private let listingRules: [String: [TargetTLS]]

  /// Nothing is set but what rules say.
  public init(rules: [TargetRule] = []) {
    self.rules = rules.contains { $0.settings.tls != nil } ? rules : []
    var listingRules: [String: [TargetTLS]] = [:]
    for tls in rules.compactMap(\.settings.tls) {
      for origin in tls.origins { listingRules[origin, default: []].append(tls) }
    }
    self.listingRules = listingRules
  }

  /// Whether nothing is set for any target.
  public var isEmpty: Bool { byTarget.isEmpty && rules.isEmpty }

  /// Sets what holds for one target alone.
  ///
  /// - Parameters:
  ///   - tls: Nil to remove it.
  ///   - key: The target's qualified key.
  public mutating func set(_ tls: TargetTLS?, of key: String) {
    guard byTarget[key] != tls else { return }
    let namespace = QualifiedKey.namespace(of: key)
    for origin in byTarget[key]?.origins ?? [] {
      let place = QualifiedKey.make(origin, in: namespace)
      let left = listing[place]?.filter { $0 != key } ?? []
      listing[place] = left.isEmpty ? nil : left
    }
    byTarget[key] = tls
    for origin in tls?.origins ?? [] {
      let place = QualifiedKey.make(origin, in: namespace)
      // In an order that is the same in every process, since the first that names issuers counts.
      listing[place] = ((listing[place] ?? []) + [key]).sorted()
    }
  }

  /// What holds for a request; nil when nothing does.
  ///
  /// - Parameters:
  ///   - origin: The origin that the request goes to.
  ///   - target: The qualified key of the call's target.
  ///   - isRedirected: Whether a redirect has led to another origin on the way.
  public func settings(for origin: String, of target: String, isRedirected: Bool = false) -> TargetTLS? {
    let own = QualifiedKey.make(origin, in: QualifiedKey.namespace(of: target))
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

  /// What is set for a target, if it holds for the origin.
  private func settings(of key: String, for origin: String) -> TargetTLS? {
    guard let tls = byTarget[key] ?? TargetRule.first(of: rules, for: key)?.settings.tls,
      tls.origins(of: key).contains(origin)
    else { return nil }
    return tls
  }
}

/// What is set about TLS for the requests of one call.
public struct CallTLS: Sendable {
  private let settings: OriginTLS
  private let target: String

  /// - Parameter target: The qualified key of the call's target.
  public init(_ settings: OriginTLS, target: String) {
    self.settings = settings
    self.target = target
  }

  /// What holds for a request; nil when nothing does.
  ///
  /// - Parameters:
  ///   - url: Where it goes.
  ///   - isRedirected: Whether a redirect has led to another origin on the way.
  public func settings(for url: String, isRedirected: Bool) -> TargetTLS? {
    guard let origin = try? TargetURL(url).origin else { return nil }
    return settings.settings(for: origin, of: target, isRedirected: isRedirected)
  }
}

extension TargetTLS {
  /// A digest that no key is known to have: pins that exclude each other let no connection through.
  static let impossiblePin = String(repeating: "A", count: 43) + "="

  /// Has other settings hold besides, but for the certificate: the first that names issuers counts.
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
