internal import RedialCore

/// What an alert watches for. The names are those of the API.
public enum AlertCondition: String, Sendable, Hashable, CaseIterable {
  /// A target has an outage.
  case targetDown
  /// A target has answered no attempt with success for a while; so few calls fail that it is not down.
  case targetFails
  /// An operator holds a target, and its calls wait.
  case targetHeld
  /// Calls have waited for a target that is neither down nor held.
  case callsLate
  /// Calls have failed, all their attempts used or given up.
  case callsFailed
  /// A check of the store finds calls that nothing moves.
  case callsStuck

  /// How long it has to be true before anybody is notified, unless the alert says something else.
  public var usualAfter: Duration {
    switch self {
    case .targetDown, .targetFails, .callsLate, .callsStuck: .seconds(300)
    case .targetHeld: .seconds(1800)
    case .callsFailed: .seconds(60)
    }
  }

  /// How long it has to be untrue until the incident is over, so that one that comes and goes is one incident.
  ///
  /// A target's outage has a pause of its own before it is over.
  public var calmTime: Duration {
    switch self {
    case .targetDown, .targetHeld: .seconds(30)
    case .targetFails, .callsLate, .callsFailed, .callsStuck: .seconds(300)
    }
  }

  /// Calls that failed longer ago are no reason to notify anybody.
  public static let recentFailure = Duration.seconds(900)

  /// Whether it is about a target, and so known to whoever runs the target's calls.
  public var isOfTarget: Bool { self != .callsFailed && self != .callsStuck }

  /// Whether it is about the whole service, and so of the default namespace alone.
  public var isOfService: Bool { self == .callsStuck }

  /// Those that can be true in a namespace.
  static func known(in namespace: Namespace) -> [AlertCondition] {
    allCases.filter { !$0.isOfService || namespace.isDefault }
  }

  /// The severity in the words of PagerDuty.
  var severity: String {
    switch self {
    case .targetDown, .callsFailed, .callsStuck: "error"
    case .targetFails, .targetHeld, .callsLate: "warning"
    }
  }
}
