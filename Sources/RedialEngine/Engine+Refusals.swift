internal import RedialCore
internal import RedialModel

/// Why calls are not accepted.
extension Engine {
  /// Why a call cannot be accepted now; nil when it can.
  mutating func refusal(of spec: CallSpec) -> Refusal? {
    if let refusal = refusal(in: spec.namespace) { return refusal }
    return owns(spec.target) ? refusalOfNewTarget(spec.target) : nil
  }

  /// Why a namespace may have no further call; nil if it may. A namespace with less than an equal part of the backlog
  /// is not refused because of others.
  mutating func refusal(in namespace: Namespace) -> Refusal? {
    if let refusal = standstill { return refusal }
    guard roster.isShared else { return refusal() }
    let place = roster.place(of: namespace)
    if !roster.hasGuaranteedBacklog(at: place), let refusal = refusal() { return refusal }
    return roster.backlogBoundReached(at: place).map { .namespaceBacklogFull($0) }
  }

  /// Why no call can be accepted now; nil when one can.
  func refusal() -> Refusal? {
    // Of the whole store, whichever instance runs them.
    standstill ?? (roster.isBacklogFull ? .backlogFull(settings.maxUnfinished) : nil)
  }

  /// Why no call can be accepted now, even if there are few; nil if calls can be accepted.
  var standstill: Refusal? { isDraining ? .draining : desk.refusal }

  /// Why a namespace may have no call to a target that is not remembered; nil if it may. Calls may go to twice as
  /// many targets as are remembered, because most can be forgotten soon. Beyond that, a namespace that has more than
  /// its equal part cannot add targets.
  private mutating func refusalOfNewTarget(_ key: TargetKey) -> Refusal? {
    guard roster.isOneTooMany(key) else { return nil }
    forgetIdleTargets()
    let place = roster.place(of: key.namespace)
    guard roster.count >= 2 * settings.maxTargets, roster.hasItsTargets(at: place) else { return nil }
    return .tooManyTargets(roster.count, key)
  }

  /// Why a namespace may not configure a further target; nil if it may.
  func refusalOfTarget(at place: Int) -> Refusal? {
    roster.targetBoundReached(at: place).map { .tooManyTargetsInUse($0) }
  }
}
