internal import RedialCore
internal import RedialModel

/// What an engine may work on: everything, if it is alone on its store, or the shards of its lease.
///
/// Times are the engine's own. A lease counts from when it was requested, not from when it was granted, so only the
/// rates of two clocks matter, not what they show (Gray and Cheriton, Leases, SOSP 1989).
struct LeaseTable: Sendable {
  /// The relation of an engine to its store.
  enum Standing: Sendable {
    /// Nobody shares the store, as long as it is open. Leads to `evicted`.
    case alone
    /// It has no lease, or lost it, and requests one. Leads to `member`.
    case joining
    /// It has a lease. Leads to `joining` when that is lost.
    case member(LeaseSession)
    /// It was alone on its store, and another process has taken the store: there is no way back.
    case evicted
  }

  let settings: LeaseSettings?
  var standing: Standing
  /// Its shards.
  var held: ShardSet
  /// Shards of its lease in which it starts nothing any more, to give them back.
  var leaving = ShardSet.none
  /// Shards that the current request gives back.
  var returning = ShardSet.none
  /// After this time others may have its shards.
  var validUntil = Timestamp.distantFuture
  /// When to make the next request.
  var nextAsk = Timestamp.epoch
  var isAsking = false
  /// Counts the lost leases: answers to requests under an earlier one are void.
  var round: UInt64 = 0
  /// Requests under a lost lease have an epoch below this.
  var lostBelow: UInt64 = 0
  /// Calls whose attempts were aborted when the lease was lost, and whose ends have not been reported yet. It joins
  /// again only after these, so that it never overlaps with itself.
  var aborting: Set<CallID> = []

  init(_ settings: LeaseSettings?) {
    self.settings = settings
    standing = settings == nil ? .alone : .joining
    held = settings == nil ? .all : .none
  }

  /// Whether it may decide anything at all.
  var canWork: Bool {
    switch standing {
    case .alone, .member: true
    case .joining, .evicted: false
    }
  }

  /// Whether the calls of a target belong to this engine.
  func owns(_ target: String) -> Bool { held == .all || held.contains(target: target) }

  /// No attempt may start at or after this time; nil if there is no such time.
  var startBefore: Timestamp? { settings == nil ? nil : validUntil }

  /// When the lease needs attention.
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
