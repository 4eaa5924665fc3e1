internal import RedialCore
internal import RedialModel

/// Why calls are not accepted.
extension Engine {
  /// Why a call cannot be accepted now; nil when it can.
  mutating func refusal(of spec: CallSpec) -> Problem? {
    if let problem = refusal(in: spec.namespace) { return problem }
    return owns(spec.target) ? refusalOfNewTarget(spec.target) : nil
  }

  /// Why a namespace may have no further call; nil if it may. A namespace with less than an equal part of the backlog
  /// is not refused because of others.
  mutating func refusal(in namespace: Namespace) -> Problem? {
    if let problem = standstill { return problem }
    guard roster.isShared else { return refusal() }
    let place = roster.place(of: namespace)
    if !roster.hasGuaranteedBacklog(at: place), let problem = refusal() { return problem }
    guard let bound = roster.backlogBoundReached(at: place) else { return nil }
    return Problem(
      status: 503, code: "namespaceBacklogFull", title: "The backlog of the namespace is full",
      detail: "\(bound) calls of this namespace have not ended yet, which is the maximum for one "
        + "(namespaceShare of maxUnfinished). Try again later.",
      retryAfter: 30)
  }

  /// Why no call can be accepted now; nil when one can.
  func refusal() -> Problem? {
    if let problem = standstill { return problem }
    // Of the whole store, whichever instance runs them.
    guard roster.isBacklogFull else { return nil }
    return Problem(
      status: 503, code: "backlogFull", title: "The backlog is full",
      detail:
        "\(settings.maxUnfinished) calls have not ended yet, which is the maximum (maxUnfinished). Try again later.",
      retryAfter: 30)
  }

  /// Why no call can be accepted now, even if there are few; nil if calls can be accepted.
  var standstill: Problem? {
    guard isDraining else { return desk.refusal }
    return Problem(
      status: 503, code: "draining", title: "Redial is stopping",
      detail: "No new calls are accepted while the service stops. Try again.",
      retryAfter: 5)
  }

  /// The answer to a command for which the service stops too soon.
  static let draining = Problem(
    status: 503, code: "draining", title: "Redial is stopping",
    detail: "The service stops, and does not change this any more. Try again later.", retryAfter: 5)

  /// Why a namespace may have no call to a target that is not remembered; nil if it may. Calls may go to twice as
  /// many targets as are remembered, because most can be forgotten soon. Beyond that, a namespace that has more than
  /// its equal part cannot add targets.
  private mutating func refusalOfNewTarget(_ key: TargetKey) -> Problem? {
    guard roster.isOneTooMany(key) else { return nil }
    forgetIdleTargets()
    let place = roster.place(of: key.namespace)
    guard roster.count >= 2 * settings.maxTargets, roster.hasItsTargets(at: place) else { return nil }
    return Problem(
      status: 503, code: "tooManyTargets", title: "There are too many targets",
      detail: "\(roster.count) targets have calls or a breaker that is not closed, and \(key.bare) "
        + "would be one more. Try again later.",
      retryAfter: 30)
  }

  /// Why a namespace may not configure a further target; nil if it may.
  func refusalOfTarget(at place: Int) -> Problem? {
    guard let bound = roster.targetBoundReached(at: place) else { return nil }
    return Problem(
      status: 409, code: "tooManyTargets", title: "There are too many targets",
      detail: "\(bound) targets are remembered, and all of them are in use or have settings.")
  }
}
