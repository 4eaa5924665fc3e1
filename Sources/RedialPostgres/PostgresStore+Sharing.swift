public import RedialCore
public import RedialModel
public import RedialStore
internal import Synchronization

extension PostgresStore: SharedStore {
  /// The time of the database, as of the middle of the look-up.
  public func time() throws(StoreError) -> Timestamp {
    if let clock { return clock() }
    let asked = ContinuousClock.now
    let rows = try side.run([PostgresStatement(Self.readTime)])[0]
    return Timestamp(microseconds: rows.integer(0, 0)) + (.now - asked) / 2
  }

  private static let readTime = PostgresQuery("time", "read the time", "SELECT \(LeaseQueries.now("NULL"))")

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
