/// What an instance has of a store that it shares with others: one session, which has a time, and the shards that
/// belong to it.
///
/// The lease belongs to the session, not to each shard: one heartbeat renews one row, each transaction checks with
/// one look-up by key whether the lease is still valid, and it is lost as a whole. So a batch of changes is either
/// written or not. A single shard changes its owner only when the owner gives it back.
public struct LeaseSession: Sendable, Hashable {
  /// The session; no two of a store ever have the same.
  public var id: Int64
  /// A number that no other session has that is alive, 0...1023, for the identities of calls.
  public var instance: Int

  /// Creates a session.
  public init(id: Int64, instance: Int) {
    self.id = id
    self.instance = instance
  }
}

/// What an instance asks for with each heartbeat.
public struct LeaseRequest: Sendable, Hashable {
  /// How long the session is to stand from now on.
  public var duration: Duration
  /// Shards that it gives back: it holds nothing of them any more, and has asked for no change of them behind this.
  public var giveBack: ShardSet
  /// Whether it wants more shards, up to its share.
  public var takesShards: Bool

  /// Creates a request.
  public init(duration: Duration, giveBack: ShardSet = .none, takesShards: Bool = true) {
    self.duration = duration
    self.giveBack = giveBack
    self.takesShards = takesShards
  }
}

/// What a heartbeat was answered.
public struct LeaseGrant: Sendable {
  /// The session that stands now.
  public var session: LeaseSession
  /// All shards that belong to it.
  public var shards: ShardSet
  /// Those that have just come to it.
  public var gained: ShardSet
  /// The most shards that are its share among the instances that are alive.
  public var share: Int
  /// What was found of the shards gained. Its `nextDue` and `unfinished` are those of all shards of the session, also of
  /// what other instances have put there; its `lastID` is the highest of the store.
  public var state: RecoveredState
  /// How many calls in the shards of others, or of nobody, have not ended, by namespace.
  public var elsewhere: [(namespace: Namespace, unfinished: Int)]

  /// Creates a grant.
  public init(
    session: LeaseSession, shards: ShardSet, gained: ShardSet, share: Int, state: RecoveredState,
    elsewhere: [(namespace: Namespace, unfinished: Int)] = []
  ) {
    self.elsewhere = elsewhere
    self.session = session
    self.shards = shards
    self.gained = gained
    self.share = share
    self.state = state
  }
}
