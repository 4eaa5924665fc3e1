internal import RedialModel
internal import RedialStore
internal import Synchronization

/// The instances that share the store, as this one last learned of them.
final class PeerTable: Sendable {
  /// Whoever has this shard is the leader: it makes the changes of what belongs to no target.
  static let leadersShard = 0

  private let table = Mutex<[Peer]>([])

  /// All of them, by the number of the instance.
  var all: [Peer] { table.withLock { $0 } }
  /// All others.
  var others: [Peer] { all.filter { !$0.isSelf } }
  /// Whether this instance is the leader.
  var isLeading: Bool { owner(ofShard: Self.leadersShard)?.isSelf == true }

  /// Takes what was learned.
  func set(_ peers: [Peer]) {
    table.withLock { $0 = peers.sorted { $0.session.instance < $1.session.instance } }
  }

  /// The instance that has a shard; nil if nobody is known to.
  func owner(ofShard shard: Int) -> Peer? {
    table.withLock { $0.first { $0.shards.contains(shard) } }
  }

  /// Whether this instance runs the calls of a target, as far as it knows.
  func owns(_ target: TargetKey) -> Bool { owner(ofShard: ShardSet.shard(of: target))?.isSelf == true }
}
