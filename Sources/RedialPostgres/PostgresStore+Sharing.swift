public import RedialModel
public import RedialStore
internal import Synchronization

extension PostgresStore: SharedStore {
  /// Begins to renew the lease by a connection of its own, and to listen to the other instances. Called once, before the
  /// first lease is requested.
  ///
  /// Without a file descriptor for it, the leases that are requested renew the lease, and news come with them.
  public func meet(at address: String?, version: String, _ listener: @escaping @Sendable (PeerNews) -> Void) {
    lane.introduction.withLock { $0 = PostgresLane.Introduction(address: address, version: version) }
    heartbeat.withLock { heartbeat in
      guard heartbeat == nil else { return }
      heartbeat = Heartbeat(side.settings, lane, listener)
    }
  }

  /// Tells the owners of these shards that calls were stored which they do not have in memory.
  public func tellOwners(of shards: ShardSet) {
    guard !shards.isEmpty else { return }
    heartbeat.withLock { $0 }?.tell(shards)
  }
}
