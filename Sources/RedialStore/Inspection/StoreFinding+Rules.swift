package import RedialModel

/// Faults that every store can have, in the same words.
extension StoreFinding {
  /// Counts a target, if it is in another shard than its key requires.
  package mutating func checkShard(of target: TargetKey, found shard: Int64?) {
    let right = ShardSet.shard(of: target)
    guard shard != Int64(right) else { return }
    add("\(target) is in shard \(shard.map { "\($0)" } ?? "none"), and belongs into \(right)")
  }

  /// Counts a shard that a session has which does not exist.
  package mutating func add(shard: Int64, ofMissingSession session: Int64) {
    add("shard \(shard) is leased by session \(session), which is not there")
  }

  /// Counts a session that has the store to itself, although there are others.
  package mutating func add(exclusiveSession session: Int64) {
    add("session \(session) has the store to itself, and is not alone")
  }

  /// Counts a lease that has ended and that nobody has taken over.
  package mutating func add(expiredSession session: Int64, shards: Int64) {
    add("session \(session) with \(shards) shards")
  }

  /// Counts a number of finished calls that is not the real one. Kind and state are nil if their codes are unknown.
  package mutating func add(kept: Int64, kind: CallKind?, state: StoredState?, found: Int64) {
    add(
      "\(kept) kept of kind \(kind?.name ?? "unknown") and state \(state?.visible.rawValue ?? "unknown"), \(found) found"
    )
  }

  /// Counts a number of unfinished calls that is not the real one.
  package mutating func add(kept: Int64, shard: Int64, namespace: Int64, found: Int64) {
    add("\(kept) kept as not ended in shard \(shard) of namespace \(namespace), \(found) found")
  }

  /// Counts a row that belongs to a call which does not exist.
  package mutating func add(_ what: String, ofMissing id: CallID) {
    add("\(what) of \(id), which is not there")
  }

  /// Counts a call without a request.
  package mutating func add(withoutRequest id: CallID) {
    add("\(id) has no request")
  }

  /// Counts a webhook about a call that does not exist.
  package mutating func add(webhook: CallID, aboutMissing call: CallID) {
    add("\(webhook) is about \(call), which does not exist")
  }

  /// Counts a call that has a place in the order, and must not: it does not exist, or has ended.
  package mutating func add(turnOf id: CallID, isMissing: Bool) {
    add("\(id) has a place in the order and \(isMissing ? "is not there" : "has ended")")
  }

  /// Counts a call whose place in the order belongs to another namespace.
  package mutating func add(turnElsewhere id: CallID) {
    add("\(id) has a place in the order of another namespace than its own")
  }

  /// Counts calls that wait for a turn that no call has: the first, and how many there are.
  package mutating func add(waitingForNobody id: CallID, count: Int64) {
    add("nobody has the turn that \(id) awaits, and with it \(count - 1) others")
  }
}
