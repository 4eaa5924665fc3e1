internal import RedialCore
internal import RedialModel

/// How namespaces share one engine, so that none can starve another.
///
/// Attempts start alternately between namespaces, and within each alternately between its targets. So the number of
/// targets or calls of one namespace makes no difference to the others. While there is only one namespace, all of
/// this costs a comparison. The first call or key of another one switches the limits on, until its calls have ended
/// and its keys are revoked.
///
/// ``EngineSettings/namespaceShare`` is the share of each limited resource that one namespace may take. For attempts
/// in flight the limit moves (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2),
/// 1998): with a share of a half, a namespace may have as many as are left free. So one alone has a half, two have a
/// third each, and something is always free for the next, because attempts in flight cannot be taken back. Waiting
/// calls can be moved to the store, so for them the limit is simply the share, which also tells nobody how much
/// others have.
extension Roster {
  /// Whether its share allows a namespace to start another attempt.
  func mayBegin(_ place: Int) -> Bool {
    guard isShared, settings.namespaceShare < 1 else { return true }
    let free = settings.maxInFlight - occupancy.inFlight
    return Double(namespaces[place].occupancy.inFlight) * (1 - settings.namespaceShare)
      < Double(free) * settings.namespaceShare
  }

  /// The share of a limit that one namespace may have.
  func namespaceShare(of bound: Int) -> Int {
    guard isShared, settings.namespaceShare < 1 else { return bound }
    return max(1, Int(min(Double(bound) * settings.namespaceShare, 9e18)))
  }

  /// Whether its share allows one more call of a namespace to wait in memory.
  func hasNamespaceRoom(_ place: Int) -> Bool {
    !isShared || namespaces[place].occupancy.waiting < namespaceShare(of: settings.maxHeld)
  }

  /// The maximum of unfinished calls of a namespace, if it has reached that; nil otherwise.
  func backlogBoundReached(at place: Int) -> Int? {
    let bound = namespaceShare(of: settings.maxUnfinished)
    return namespaces[place].unfinished + namespaces[place].elsewhere >= bound ? bound : nil
  }

  /// Whether a namespace has less than an equal part of the backlog. It is not refused because of others then.
  func hasGuaranteedBacklog(at place: Int) -> Bool {
    namespaces[place].unfinished + namespaces[place].elsewhere < settings.maxUnfinished / (1 + sharing)
  }

  /// Whether all instances together have the maximum of unfinished calls.
  var isBacklogFull: Bool { unfinished + elsewhere >= settings.maxUnfinished }

  /// Whether a target is new and there are so many that no more can be remembered: twice as many as are wanted, because
  /// most can be forgotten soon.
  func isOneTooMany(_ key: TargetKey) -> Bool { count >= 2 * settings.maxTargets && place(of: key) == nil }

  /// Whether a namespace has its equal part of the remembered targets.
  func hasItsTargets(at place: Int) -> Bool {
    namespaces[place].targets >= max(1, settings.maxTargets / namespaces.count)
  }

  /// The maximum of remembered targets of a namespace, if it has reached that; nil otherwise.
  func targetBoundReached(at place: Int) -> Int? {
    let bound = namespaceShare(of: settings.maxTargets)
    return namespaces[place].targets >= bound ? bound : nil
  }
}
