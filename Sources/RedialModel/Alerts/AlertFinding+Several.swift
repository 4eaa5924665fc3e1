internal import RedialText

/// What begins for several at once is one incident: an outage of a network is one message, not one for each target.
extension AlertFinding {
  /// How many begin together before they are one incident.
  static let fewestTogether = 5
  /// The most that one incident is about.
  static let mostTogether = 1000
  /// How many are named.
  private static let mostNamed = 3

  /// What distinguishes the incident about all for which there is no room.
  static let beyond = "beyond"

  /// What is true of those that get no incident of their own, because too many are open.
  ///
  /// - Parameter found: At least one, all of one condition.
  static func beyond(_ found: [AlertFinding]) -> AlertFinding {
    var all = found.count == 1 ? found[0] : together(found)
    (all.subject, all.members) = (beyond, [])
    all.summary = "So many incidents are open that this has none of its own: \(all.summary)"
    return all
  }

  /// What is true of several, in one.
  ///
  /// - Parameter found: At least one, all of one condition.
  static func together(_ found: [AlertFinding]) -> AlertFinding {
    let sorted = found.sorted { $0.subject < $1.subject }
    var all = sorted[0]
    all.members = sorted.map(\.subject)
    // Never that of one, nor of others: these may have incidents of their own.
    var hash = FNV1a()
    for member in all.members { hash.add("\(member)\n") }
    all.subject = "several/\(all.subject)/\(hash.value)"
    all.calls = found.reduce(0) { $0 + $1.calls }
    all.since = found.compactMap(\.since).min()
    all.isEnding = found.allSatisfy(\.isEnding)
    var counts: [String: Int] = [:]
    for one in found where !one.cause.isEmpty { counts[one.cause, default: 0] += 1 }
    let causes = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(mostNamed).map { cause, count in
      count == found.count ? cause : "\(cause) (\(count))"
    }
    let why = causes.isEmpty ? "" : ": " + causes.joined(separator: ", ")
    var names: [String] = []
    for one in sorted where names.count < mostNamed {
      let name = PlainText.escaped(one.target ?? one.subject)
      if !names.contains(name) { names.append(name) }
    }
    let calls = all.calls == 0 ? "" : " They have \(all.calls) calls."
    all.summary =
      "\(found.count) \(all.condition.ofSeveral)\(why). Among them: \(names.joined(separator: ", ")).\(calls)"
    all.action = all.condition == .callsFailed || all.condition == .callsStuck ? "redial issues" : "redial targets"
    return all
  }
}

extension AlertCondition {
  /// The words after a number.
  fileprivate var ofSeveral: String {
    switch self {
    case .targetDown: "targets are down"
    case .targetFails: "targets have not answered with success in 15 minutes"
    case .targetHeld: "targets are held, and calls wait for them"
    case .callsLate: "targets are late"
    case .callsFailed: "groups of calls have failed"
    case .callsStuck: "checks of the store find calls"
    }
  }
}
