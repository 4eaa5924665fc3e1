internal import RedialCore
internal import RedialModel

/// Busy shards that an engine has beyond its share. A shard can be given back only while none of its attempts is in flight.
/// So the engine starts nothing in a few of them, and waits a short time for the end of their attempts. If these last
/// longer, it goes on with the shards, and tries others: a long attempt must not stop the other targets of its shard.
struct YieldingShards: Sendable {
  /// The maximum number of shards that are tried at a time.
  static let most = 8

  /// The shards in which nothing starts.
  private(set) var shards = ShardSet.none
  private var until = Timestamp.epoch
  /// Those that were tried in vain, until all others were tried, too.
  private var tried = ShardSet.none
  private var nextTry = Timestamp.epoch

  /// Chooses shards to try, unless some are still being tried, or were a short time ago.
  ///
  /// - Parameters:
  ///   - busy: Those that may be chosen, the preferred ones first.
  ///   - count: How many are to be given back.
  ///   - patience: How long their attempts are waited for.
  mutating func choose(among busy: [Int], _ count: Int, for patience: Duration, at now: Timestamp) -> ShardSet {
    guard shards.isEmpty, now >= nextTry, count > 0 else { return .none }
    var left = busy.filter { !tried.contains($0) }
    if left.isEmpty { (tried, left) = (.none, busy) }
    shards = ShardSet(left.prefix(min(count, Self.most)))
    until = now + patience
    return shards
  }

  /// These are given back.
  mutating func remove(_ idle: ShardSet) {
    shards = shards.subtracting(idle)
  }

  /// Ends a trial that has lasted too long. Returns the shards with which the engine goes on.
  ///
  /// - Parameter pause: How long to wait before the next trial.
  mutating func giveUp(pause: Duration, at now: Timestamp) -> ShardSet {
    guard now >= until else { return .none }
    let kept = keep()
    tried = tried.union(kept)
    if !kept.isEmpty { nextTry = now + pause }
    return kept
  }

  /// Ends a trial. Returns the shards with which the engine goes on.
  mutating func keep() -> ShardSet {
    defer { shards = .none }
    return shards
  }
}
