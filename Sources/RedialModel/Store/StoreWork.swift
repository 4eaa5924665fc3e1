public import RedialCore

/// What a store can be asked to do. All of it belongs to one sequence, see `CallStore.submit`.
public enum StoreWork: Sendable {
  /// Makes all of the changes, in order, or none of them.
  case commit([StoreWrite])
  /// Loads calls that are due before a time: `scheduled` and `queued` ones become `held`. Each namespace contributes
  /// equally, as far as it has due calls, earliest first. Answered by ``StoreAnswer/due(_:)``.
  case claimDue(before: Timestamp, limit: Int)
  /// Loads calls from the queue of a target, the most urgent first, then the oldest: `queued` ones become `held`,
  /// unless they wait for their turn. Answered by ``StoreAnswer/calls(_:)``.
  case claimQueued(target: TargetKey, limit: Int)
  /// Loads some calls. One that has not ended becomes `held`. One that has ended, or whose shard belongs to another
  /// instance, is returned unchanged. Answered by ``StoreAnswer/fetched(_:)``.
  case fetch([CallAddress])
  /// The calls that were accepted under keys which have not expired, in the order of the keys. Answered by
  /// ``StoreAnswer/keys(_:)``.
  case find([IdempotencyName], at: Timestamp)
  /// For a store that several instances share: begins a session with a lease, or renews one. It gives back shards,
  /// and takes shards without an owner up to an even share. Gained shards are taken over as by `CallStore.recover`,
  /// which need not be called for such stores. Answered by ``StoreAnswer/leased(_:)``.
  ///
  /// It also ends sessions whose time is over by the store's clock, whoever asks. Their shards are then free, and
  /// further requests of their owners are refused. All other work is done only within the session's shards, except
  /// that a call may be inserted for any shard.
  ///
  /// After a failover to another server, which may not have the last changes, a store ends no session and gives no
  /// shard to anybody for one whole duration. By then every lease from before the failover is over.
  ///
  /// `renewing` is the session to renew; nil for a new one, which ends the one before. If the session to renew has
  /// ended, the error is `leaseLost`.
  case lease(LeaseRequest, renewing: Int64?)
  /// Writes something, whatever it is, which shows that the store can be written.
  case prove

  /// Whether it changes something in the store. A look-up does not, nor does a commit without changes.
  public var isChange: Bool {
    switch self {
    case .find: false
    case .commit(let writes): !writes.isEmpty
    case .claimDue, .claimQueued, .fetch, .lease, .prove: true
    }
  }
}

/// A call, and the namespace that it must belong to.
public struct CallAddress: Sendable, Hashable {
  public var id: CallID
  /// Of whoever asks for it.
  public var namespace: Namespace

  /// Creates an address.
  public init(_ id: CallID, in namespace: Namespace) {
    self.id = id
    self.namespace = namespace
  }
}

/// The result of work that a store has done.
public enum StoreAnswer: Sendable {
  case done
  /// The due calls.
  case due(Claim)
  case calls([CallRecord])
  /// Each of the calls in their order; nil if the namespace has none with that id, and an error if it cannot be read. The
  /// store itself works.
  case fetched([Result<CallRecord?, StoreError>])
  /// A record for each key, or nil.
  case keys([KeyRecord?])
  case leased(LeaseGrant)
}
