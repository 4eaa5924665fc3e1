internal import RedialCore
internal import RedialModel

/// How many API keys are kept, and which revoked ones are forgotten so that there is room for another.
///
/// Namespaces besides the default one have their bounds together, too, so that however many of them make keys, who
/// operates the service can still make his.
enum KeyQuota {
  /// The most keys that are kept, revoked ones too.
  static let most = 10_000
  /// The most of them in all namespaces but the default one; the rest is for that.
  static let mostOfOthers = 9000
  /// The most of them in one namespace besides the default one.
  static let mostOfNamespace = 1000
  /// How long a revoked key is kept at least, unless its room is needed.
  static let memory = Duration.seconds(90 * 86_400)
  /// The most keys that are forgotten at a time for their age alone, so that nobody waits long for a new one.
  static let mostForgotten = 100

  /// The keys to forget when another one is made.
  ///
  /// - Parameter namespace: The namespace of the new key.
  /// - Returns: Revoked keys, earliest revoked first; nil if there is still no room.
  static func forgotten(for namespace: Namespace, among keys: [APIKey], at now: Timestamp) -> [APIKey]? {
    var revoked = keys.compactMap { key in key.revokedAt.map { (key: key, at: $0) } }
      .sorted { ($0.at, $0.key.id) < ($1.at, $1.key.id) }[...]
    var forgotten: [APIKey] = []
    while let oldest = revoked.first, now - oldest.at >= memory, forgotten.count < mostForgotten {
      forgotten.append(oldest.key)
      revoked.removeFirst()
    }
    /// Forgets as many keys, of those that may be, as those that count are over a bound that leaves room for one more.
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
    // What the default namespace has revoked is not for others to use up.
    let fits = keep(fewerThan: most, of: { _ in true }, shedding: { namespace.isDefault || isOthers($0) })
    return fits ? forgotten : nil
  }

  /// The problem if there is no room. It says nothing about other namespaces.
  static func problem(in namespace: Namespace) -> Problem {
    Problem(
      status: 409, code: "tooManyAPIKeys", title: "There are too many API keys",
      detail: namespace.isDefault
        ? "At most \(most) are kept. Revoke keys that are not needed, to make room."
        : "At most \(mostOfNamespace) of a namespace are kept, or fewer if the service has no room. Revoke keys that "
          + "are not needed, to make room.")
  }
}
