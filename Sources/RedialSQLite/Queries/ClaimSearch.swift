internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Finds the calls to claim: in the whole store, or in the shards of one session if several instances share it.
final class ClaimSearch {
  private let all: ClaimQueries
  /// Nil if this process has the store for itself.
  private let ofShards: ShardQueries?

  /// Prepares the queries.
  init(on connection: SQLiteConnection, isShared: Bool) throws(StoreError) {
    all = try ClaimQueries(on: connection)
    ofShards = isShared ? try ShardQueries(on: connection) : nil
  }

  /// Calls that are due by a time, alternating between namespaces, earliest first.
  ///
  /// - Parameter session: Only those in the shards of this session, if the store is shared.
  func due(by time: Timestamp, limit: Int, of session: Int64?) throws(StoreError) -> [CallID] {
    guard let ofShards, let session else { return try all.due.due(by: time, limit: limit) }
    return try ofShards.due.due(by: time, limit: limit, of: session)
  }

  /// The earliest time at which a call is due.
  func nextDue(of session: Int64?) throws(StoreError) -> Timestamp? {
    guard let ofShards, let session else { return try all.due.next() }
    return try ofShards.due.next(of: session)
  }

  /// Calls in the queue of a target, the most urgent first, then the oldest.
  func queued(targetID: Int64, limit: Int) throws(StoreError) -> [CallID] {
    try all.queued(targetID: targetID, limit: limit)
  }

  /// Calls with an attempt in flight: of all shards, or of some if the store is shared.
  func running(in shards: ShardSet? = nil) throws(StoreError) -> [CallID] {
    guard let ofShards, let shards else { return try all.allRunning() }
    return try ofShards.running(in: shards)
  }

  /// The unfinished calls of which a time lies in the future, in the whole store.
  func unfinished(after now: Timestamp) throws(StoreError) -> [CallID] { try all.unfinished(after: now) }

  /// How many calls are in each target's queue: of all shards, or of some if the store is shared.
  func queueLengths(in shards: ShardSet? = nil) throws(StoreError) -> [(target: TargetKey, count: Int)] {
    guard let ofShards, let shards else { return try all.queueLengths() }
    return try ofShards.queueLengths(in: shards)
  }

  /// Puts every held call of these shards back to where it was claimed from. Returns whether that was possible, which
  /// it is in a shared store.
  func releaseHeld(in shards: ShardSet) throws(StoreError) -> Bool {
    guard let ofShards else { return false }
    try ofShards.releaseHeld(in: shards)
    return true
  }

  /// The highest id in the store; 0 for an empty one.
  func lastID() throws(StoreError) -> CallID { try all.lastID() }
}
