internal import Dispatch
internal import RedialCore
package import RedialModel
package import RedialStore
internal import Synchronization

extension PostgresStore: SharedStore {
  /// A look at the database's clock: of several the one that took the shortest time, because the instance starts with it.
  package func time() throws(StoreError) -> ClockSample {
    var best: ClockSample?
    try side.use { connection throws(StoreError) in
      let began = ContinuousClock.now
      for look in 0..<Self.looks where look < Self.fewestLooks || .now - began < Self.looking {
        let asked = ContinuousClock.now
        do throws(PostgresFailure) {
          let rows = try connection.run([PostgresStatement(Self.readTime)], within: side.settings.answerTimeout)[0]
          let answered = ContinuousClock.now
          if let best, best.answered - best.asked <= answered - asked { continue }
          let time = clock?() ?? Timestamp(microseconds: rows.integer(0, 0))
          best = ClockSample(asked: asked, answered: answered, time: time)
        } catch {
          throw error.error(at: side.settings.place)
        }
      }
    }
    return best ?? ClockSample(asked: .now, answered: .now, time: .epoch)
  }

  /// How often it looks at most, and at least, and how long it goes on looking.
  private static let looks = 8
  private static let fewestLooks = 3
  private static let looking = Duration.seconds(1)

  private static let readTime = PostgresQuery("time", "read the time", "SELECT \(LeaseQueries.now("NULL"))")

  /// Begins to renew the lease by a connection of its own, and to listen to the other instances. Called once, before the
  /// first lease is requested.
  ///
  /// Without a file descriptor for it, the leases that are requested renew the lease, and news come with them.
  package func meet(at address: String?, version: String, _ listener: @escaping @Sendable (PeerNews) -> Void) {
    lane.introduction.withLock { $0 = PostgresLane.Introduction(address: address, version: version) }
    heartbeat.withLock { heartbeat in
      guard heartbeat == nil else { return }
      heartbeat = Heartbeat(side.settings, lane) { [vault] news in
        if case .documentsChanged(let kinds) = news, kinds.contains(.dataKey) {
          // Not on the heart's thread: a program that unwraps keys may take its time.
          DispatchQueue.global().async { try? vault.readAgain() }
        }
        listener(news)
      }
    }
  }

  /// Makes and stores the data key of a namespace that has none.
  package func prepareKey(of namespace: String) throws(StoreError) { try StoredDataKeys.ensure([namespace], side) }

  /// Tells the owners of these shards that calls were stored which they do not have in memory.
  package func tellOwners(of shards: ShardSet) {
    guard !shards.isEmpty else { return }
    heartbeat.withLock { $0 }?.tell(shards)
  }
}
