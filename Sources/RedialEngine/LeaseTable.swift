internal import RedialCore
internal import RedialModel

/// What an engine may work on: everything, where it is alone on its store, or the shards of its lease.
///
/// Time is the engine's own. A lease is counted from when it was asked for, not from when it was granted, so that only
/// the rates of two clocks matter and never what they show (Gray and Cheriton, Leases, SOSP 1989).
struct LeaseTable: Sendable {
  /// How an engine stands with its store.
  enum Standing: Sendable {
    /// Nobody shares the store; for as long as it is open. Leads to `evicted`.
    case alone
    /// It has no lease, or lost it, and asks for one. Leads to `member`.
    case joining
    /// It has a lease. Leads to `joining`, when it is lost.
    case member(LeaseSession)
    /// It was alone on its store, and another has taken it: there is no way back.
    case evicted
  }

  let settings: LeaseSettings?
  var standing: Standing
  /// Shards that it works on.
  var held: ShardSet
  /// Shards of its lease that it starts nothing of any more, to give them back.
  var leaving = ShardSet.none
  /// Shards that it gives back with what it has asked for.
  var returning = ShardSet.none
  /// From then on others may have its shards.
  var validUntil = Timestamp.distantFuture
  /// When it asks next.
  var nextAsk = Timestamp.epoch
  var isAsking = false
  /// Counts the leases that were lost: answers to what was asked under an earlier one are void.
  var round: UInt64 = 0
  /// What the store was asked for under a lease that was lost has an epoch below.
  var lostBelow: UInt64 = 0
  /// Calls whose attempts were aborted when the lease was lost, and have not been said to have ended: it joins again only
  /// then, so that it never overlaps with itself.
  var aborting: Set<CallID> = []

  init(_ settings: LeaseSettings?) {
    self.settings = settings
    standing = settings == nil ? .alone : .joining
    held = settings == nil ? .all : .none
  }

  /// Whether anything may be decided on at all.
  var canWork: Bool {
    switch standing {
    case .alone, .member: true
    case .joining, .evicted: false
    }
  }

  /// Whether the calls of a target are this engine's.
  func owns(_ target: String) -> Bool { held == .all || held.contains(target: target) }

  /// No attempt may begin at or after then; nil when there is no such time.
  var startBefore: Timestamp? { settings == nil ? nil : validUntil }

  /// When the lease has to be seen to.
  func wake(canAsk: Bool) -> Timestamp {
    guard settings != nil else { return .distantFuture }
    let ask = canAsk && !isAsking && aborting.isEmpty ? nextAsk : .distantFuture
    if case .member = standing { return min(validUntil, ask) }
    return ask
  }

  /// The lease is gone.
  mutating func lose(at now: Timestamp, epoch: UInt64) {
    standing = settings == nil ? .evicted : .joining
    held = .none
    leaving = .none
    returning = .none
    validUntil = .distantFuture
    nextAsk = now
    isAsking = false
    round += 1
    lostBelow = epoch
  }
}
