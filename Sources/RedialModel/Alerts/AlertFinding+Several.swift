internal import RedialText

/// Several that begin at once are one message: an outage of a network, not one for each target.
extension AlertFinding {
  /// How many begin together before they are one.
  static let fewestTogether = 5
  /// The most that one message is about.
  static let mostTogether = 1000
  /// By their targets, so that the same are named whatever their ids are.
  var order: (target: String, subject: String) { (target ?? "", subject) }
  /// How many are named.
  private static let mostNamed = 3

  /// What distinguishes the notice about all for which there is no room.
  static let beyond = "beyond"

  /// The finding about those that get no notice of their own, because too many are open.
  ///
  /// - Parameter found: At least one, all of one kind.
  static func beyond(_ found: [AlertFinding]) -> AlertFinding {
    var all = found.count == 1 ? found[0] : together(found)
    (all.subject, all.members) = (beyond, [])
    all.summary = "So many alerts are open that this has none of its own: \(all.summary)"
    return all
  }

  /// Several findings in one.
  ///
  /// - Parameter found: At least one, all of one kind.
  static func together(_ found: [AlertFinding]) -> AlertFinding {
    let sorted = found.sorted { $0.order < $1.order }
    var all = sorted[0]
    all.members = sorted.map(\.subject)
    // Never that of one, nor of others: these may have notices of their own.
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
      let name = PlainText.escaped(one.target ?? one.summary)
      if !names.contains(name) { names.append(name) }
    }
    let calls = all.calls == 0 ? "" : " They have \(all.calls) calls."
    all.summary =
      "\(found.count) \(all.kind.ofSeveral)\(why). Among them: \(names.joined(separator: ", ")).\(calls)"
    all.action = all.kind == .failed || all.kind == .stuck ? "redial issues" : "redial targets"
    return all
  }
}

extension IssueKind {
  /// The words after a number.
  fileprivate var ofSeveral: String {
    switch self {
    case .down: "targets are down"
    case .failing: "targets, or parts of them, fail again and again"
    case .held: "targets are held, and calls wait for them"
    case .late: "targets are late"
    case .failed: "groups of calls have failed"
    case .stuck: "checks of the store find calls"
    }
  }
}
