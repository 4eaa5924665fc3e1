internal import RedialCore
internal import RedialModel

/// The limits on stored API keys, and which revoked keys are forgotten to make room for a new one.
///
/// The namespaces other than the default one also have a common limit, so that however many keys they make, the
/// operator of the service can still make keys.
enum KeyQuota {
  /// The maximum number of stored keys, including revoked ones.
  static let most = 10_000
  /// The maximum number in all namespaces except the default one, which has the rest.
  static let mostOfOthers = 9000
  /// The maximum number in one namespace other than the default one.
  static let mostOfNamespace = 1000
  /// The minimum time that a revoked key is kept, unless its place is needed.
  static let memory = Duration.seconds(90 * 86_400)
  /// The maximum number of keys that are forgotten at a time because of their age, so that a client waits only shortly
  /// for a new key.
  static let mostForgotten = 100

  /// The keys to forget before another one is made.
  ///
  /// - Parameter namespace: The namespace of the new key.
  /// - Returns: Revoked keys, the earliest revoked first; nil if there is no room even so.
  static func forgotten(for namespace: Namespace, among keys: [APIKey], at now: Timestamp) -> [APIKey]? {
    var revoked = keys.compactMap { key in key.revokedAt.map { (key: key, at: $0) } }
      .sorted { ($0.at, $0.key.id) < ($1.at, $1.key.id) }[...]
    var forgotten: [APIKey] = []
    while let oldest = revoked.first, now - oldest.at >= memory, forgotten.count < mostForgotten {
      forgotten.append(oldest.key)
      revoked.removeFirst()
    }
    /// Forgets as many of the allowed keys as the counted keys exceed a limit that leaves room for one more.
    func keep(fewerThan bound: Int, of counts: (APIKey) -> Bool, shedding sheds: (APIKey) -> Bool) -> Bool {
      let excess = keys.count(where: counts) - forgotten.count(where: counts) - (bound - 1)
      guard excess > 0 else { return true }
      let shed = revoked.filter { sheds($0.key) }.prefix(excess)
      guard shed.count == excess else { return false }
      let ids = Set(shed.map(\.key.id))
      revoked.removeAll { ids.contains($0.key.id) }
      forgotten += shed.map(\.key)
      return true
    }
    func isOwn(_ key: APIKey) -> Bool { key.namespace == namespace }
    func isOthers(_ key: APIKey) -> Bool { !key.namespace.isDefault }
    if !namespace.isDefault {
      guard keep(fewerThan: mostOfNamespace, of: isOwn, shedding: isOwn),
        keep(fewerThan: mostOfOthers, of: isOthers, shedding: isOthers)
      else { return nil }
    }
    // Other namespaces must not displace the revoked keys of the default namespace.
    let fits = keep(fewerThan: most, of: { _ in true }, shedding: { namespace.isDefault || isOthers($0) })
    return fits ? forgotten : nil
  }

  /// The problem if there is no room. It reveals nothing about other namespaces.
  static func problem(in namespace: Namespace) -> Problem {
    Problem(
      .tooManyAPIKeys,
      detail: namespace.isDefault
        ? "At most \(most) API keys are kept. Revoke keys that are not needed, to make room."
        : "At most \(mostOfNamespace) API keys of a namespace are kept, or fewer if the service has no room. Revoke keys that "
          + "are not needed, to make room.")
  }
}
