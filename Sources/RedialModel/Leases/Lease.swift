/// An instance's part of a store that it shares with others: one session, which ends at a time, and the shards that
/// belong to it.
///
/// The lease belongs to the session, not to each shard: one heartbeat renews one row, each transaction checks with
/// one look-up by key whether the lease is still valid, and it is lost as a whole. So a batch of changes is either
/// written or not. A single shard changes its owner only when the owner gives it back.
public struct LeaseSession: Sendable, Hashable {
  /// The session; no two of a store ever have the same.
  public var id: Int64
  /// A number that no other live session has, 0...1023, for the ids of calls.
  public var instance: Int

  /// Creates a session.
  public init(id: Int64, instance: Int) {
    self.id = id
    self.instance = instance
  }
}

/// What an instance requests with each heartbeat.
public struct LeaseRequest: Sendable, Hashable {
  /// How long the session is valid from now on.
  public var duration: Duration
  /// Shards that it gives back: it has no call of them in memory any more, and requests no changes of them after this.
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

/// The answer to a heartbeat.
public struct LeaseGrant: Sendable {
  public var session: LeaseSession
  /// All shards that belong to it.
  public var shards: ShardSet
  public var gained: ShardSet
  /// The maximum number of its shards: its share among the live instances.
  public var share: Int
  /// The calls found in the new shards. Its `nextDue` and `unfinished` are those of all shards of the session,
  /// including calls that other instances have put there; its `lastID` is the highest of the store.
  public var state: RecoveredState
  /// The number of unfinished calls in the shards of other sessions or of none, by namespace.
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
