internal import RedialCore

/// What is wrong, in an issue. The names are those of the API.
public enum IssueKind: String, Sendable, Hashable, CaseIterable {
  /// A target has an outage.
  case down
  /// Calls are late for a target that is neither down nor held.
  case late
  /// An operator holds a target, and its calls wait.
  case held
  /// Calls fail again and again and are tried again: those of a part of a target, or all; so few that it is not down.
  case failing
  /// Calls have failed, all their attempts used or given up.
  case failed
  /// A check of the store finds calls that nothing moves.
  case stuck

  /// How long there has to be one before an alert notifies, unless the alert says something else.
  public var usualAfter: Duration {
    switch self {
    case .down, .failing, .late, .stuck: .seconds(300)
    case .held: .seconds(1800)
    case .failed: .seconds(60)
    }
  }

  /// How long there has to be none until an alert says that it is over, so that one that comes and goes is reported once.
  ///
  /// A target's outage has a pause of its own before it is over.
  public var calmTime: Duration {
    switch self {
    case .down, .held: .seconds(30)
    case .failing, .late, .failed, .stuck: .seconds(300)
    }
  }

  /// Calls that failed longer ago are no reason to notify anybody.
  public static let recentFailure = Duration.seconds(900)

  /// Whether it is about a target, and so known to whoever runs the target's calls.
  public var isOfTarget: Bool { self != .failed && self != .stuck }

  /// Those that there can be in a namespace: what the store's checks find is of the whole service.
  static func known(in namespace: Namespace) -> [IssueKind] {
    allCases.filter { $0 != .stuck || namespace.isDefault }
  }

  /// The severity in the words of PagerDuty.
  var severity: String {
    switch self {
    case .down, .failed, .stuck: "error"
    case .failing, .held, .late: "warning"
    }
  }

  /// Reads the word in a stored alert; nil for one of an earlier version that stands for none.
  init?(stored word: String) {
    guard let kind = Self(rawValue: word) ?? Self.earlierWords[word] else { return nil }
    self = kind
  }

  private static let earlierWords: [String: IssueKind] = [
    "targetDown": .down, "targetFails": .failing, "targetHeld": .held, "callsLate": .late, "callsFailed": .failed,
    "callsStuck": .stuck,
  ]
}
