internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Who has which shards: of this instance as its engine knows it, of the others as was last learned.
final class PeerTable: Sendable {
  /// Whoever has this shard is the leader: it makes the changes of what belongs to no target.
  static let leadersShard = Engine.leadersShard

  private struct State: Sendable {
    var peers: [Peer] = []
    /// The shards of this instance. The peers show them later.
    var own = ShardSet.none
    var isLeading = false
    var loss: LostCommits?
  }

  private let state = Mutex(State())

  /// All instances, by their numbers.
  var all: [Peer] { state.withLock { $0.peers } }
  /// Whether this instance is the leader, and has read what it needs for that.
  var isLeading: Bool { state.withLock { $0.isLeading && $0.own.contains(Self.leadersShard) } }

  /// The last commits that a failover has lost; nil if there are none.
  var loss: LostCommits? { state.withLock { $0.loss } }

  /// Takes the last loss, as the store has it.
  func set(_ loss: LostCommits) { state.withLock { $0.loss = loss } }

  /// Takes what was learned of the instances.
  func set(_ peers: [Peer]) {
    state.withLock { $0.peers = peers.sorted { $0.session.instance < $1.session.instance } }
  }

  /// This instance has gained shards.
  ///
  /// - Returns: Whether the leader's is among them.
  func gain(_ shards: ShardSet) -> Bool {
    state.withLock { $0.own = $0.own.union(shards) }
    return shards.contains(Self.leadersShard)
  }

  /// This instance has no longer some shards.
  ///
  /// - Returns: Whether the leader's was among them.
  func lose(_ shards: ShardSet) -> Bool {
    state.withLock { state in
      let led = state.own.contains(Self.leadersShard) && shards.contains(Self.leadersShard)
      state.own = state.own.subtracting(shards)
      if led { state.isLeading = false }
      return led
    }
  }

  /// This instance can lead from now on, as long as it has the leader's shard.
  ///
  /// - Returns: False if it has lost that shard meanwhile.
  func lead() -> Bool {
    state.withLock { state in
      state.isLeading = state.own.contains(Self.leadersShard)
      return state.isLeading
    }
  }

  /// The instance that has a shard, which may be this one; nil if nobody is known to.
  func owner(ofShard shard: Int) -> Peer? {
    state.withLock { state in
      state.own.contains(shard)
        ? state.peers.first { $0.isSelf } : state.peers.first { !$0.isSelf && $0.shards.contains(shard) }
    }
  }

  /// The shards of this instance.
  var own: ShardSet { state.withLock { $0.own } }

  /// Whether this instance runs the calls of a target.
  func owns(_ target: TargetKey) -> Bool { state.withLock { $0.own.contains(target: target) } }
}
