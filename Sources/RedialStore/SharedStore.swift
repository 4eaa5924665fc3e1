package import RedialCore
package import RedialModel

/// A store that several instances share: what they exchange beside their work on calls.
///
/// Nothing here is needed for a correct result. A lost message makes something later, up to the next heartbeat.
package protocol SharedStore: AnyObject, Sendable {
  /// A look at the store's clock. The clocks of its instances start with it, because due times and expiries of one are read by
  /// others; heartbeats bring more looks, see ``PeerNews/heard(_:)``.
  ///
  /// - Throws: `unavailable` if the store cannot be reached.
  func time() throws(StoreError) -> ClockSample

  /// Begins to renew the lease by a connection of its own, and to listen to the other instances. Called once, before the
  /// first lease is requested.
  ///
  /// - Parameters:
  ///   - address: The URL at which the others can reach this instance; nil if they cannot.
  ///   - version: The version of this instance, for people.
  ///   - listener: Gets the news, on a thread of the store.
  func meet(at address: String?, version: String, _ listener: @escaping @Sendable (PeerNews) -> Void)

  /// Makes and stores the data key of a namespace that has none, from any thread.
  func prepareKey(of namespace: String) throws(StoreError)

  /// Tells the owners of these shards that calls were stored which they do not have in memory. It returns at once, from
  /// any thread; several calls within some milliseconds are sent together.
  func tellOwners(of shards: ShardSet)
}

/// What an instance learns from the others, or about them.
package enum PeerNews: Sendable, Hashable {
  /// The lease of the session was renewed. It is valid from when that was requested.
  case renewed(session: Int64, asked: ContinuousClock.Instant)
  /// The database has answered a look at what others have changed, and at its clock.
  case heard(ClockSample)
  /// There may be shards that this instance should take or give back.
  case changed
  /// There may be calls for this instance that it does not know.
  case callsStored
  /// The instances that share the store, and their shards, are these.
  case peers([Peer])
  /// Documents of these kinds were changed, perhaps by another instance. Read them again.
  case documentsChanged(Set<StoredDocument.Kind>)
  /// The last commits that a failover has lost, as one of the instances has stored them.
  case commitsLost(LostCommits)
}

/// A look at the clock of a store that is elsewhere: it showed the time at some moment between the question and the answer.
package struct ClockSample: Sendable, Hashable {
  /// When it was asked.
  package var asked: ContinuousClock.Instant
  /// When the answer arrived.
  package var answered: ContinuousClock.Instant
  /// What it showed.
  package var time: Timestamp

  /// Creates a sample.
  package init(asked: ContinuousClock.Instant, answered: ContinuousClock.Instant, time: Timestamp) {
    self.asked = asked
    self.answered = answered
    self.time = time
  }
}

/// An instance that shares the store.
package struct Peer: Sendable, Hashable {
  package var session: LeaseSession
  /// The URL at which the others can reach it; nil if they cannot.
  package var address: String?
  package var version: String
  package var shards: ShardSet
  /// When its session ends unless it is renewed, by the store's clock; nil for never.
  package var expiresAt: Timestamp?
  /// Whether it is the instance that was asked.
  package var isSelf: Bool

  /// Creates an instance.
  package init(
    session: LeaseSession, address: String?, version: String, shards: ShardSet, expiresAt: Timestamp?, isSelf: Bool
  ) {
    self.session = session
    self.address = address
    self.version = version
    self.shards = shards
    self.expiresAt = expiresAt
    self.isSelf = isSelf
  }
}
