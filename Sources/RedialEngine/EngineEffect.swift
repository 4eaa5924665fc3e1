public import RedialCore
public import RedialModel

/// What the engine wants done after a turn: first the store's part, in order, then the rest.
public struct Effects: Sendable {
  /// Requests to the store, to be served in this order.
  public var store: [StoreRequest] = []
  /// Everything that need not wait for the store.
  public var actions: [Action] = []
  /// When the engine wants its next turn if nothing happens before; nil when never.
  public var wakeAt: Timestamp?

  /// No effects.
  public init() {}
}

/// One request to the store.
///
/// Requests carry the engine's epoch. When one fails, so must every later one
/// of the same epoch, unserved and in order: the engine learns of the failure
/// only afterwards, and what it asked for in between stood on what failed.
public struct StoreRequest: Sendable {
  /// What is asked.
  public enum Body: Sendable {
    /// Make these changes, all or none, and then do the actions.
    case commit([StoreWrite], then: [Action])
    /// Take calls that are due before then.
    case claimDue(before: Timestamp, limit: Int)
    /// Take calls from a target's queue.
    case claimQueued(target: String, limit: Int)
    /// Take the call that an operation is about.
    case fetch(Operation)
    /// Look for the call that was accepted under a key.
    case findKey(KeyedSubmission, at: Timestamp)
    /// Renew the lease, or join those who share the store.
    case lease(LeaseAsk)
    /// Write something, whatever it is, behind everything older: it tells whether the store can be written, or fails with
    /// what has failed, behind all of it.
    case barrier
  }

  /// What is asked.
  public var body: Body
  /// The engine's epoch when it asked.
  public var epoch: UInt64

  /// Creates a request.
  public init(_ body: Body, epoch: UInt64) {
    self.body = body
    self.epoch = epoch
  }
}

/// A request for a lease.
public struct LeaseAsk: Sendable {
  /// What is wanted.
  public var request: LeaseRequest
  /// The session that is to be renewed; nil for a new one, with which an earlier one of the same instance ends.
  public var session: Int64?
  /// When it was asked for, by the engine's clock.
  var at: Timestamp
  /// Which lease of the engine it is for.
  var round: UInt64
}

/// Something to do outside the engine.
public enum Action: Sendable {
  /// Tell a client.
  case reply(ReplyToken, Reply)
  /// Begin an attempt.
  case start(AttemptStart)
  /// Abort a call's attempt; its end is reported all the same.
  case abort(CallID)
  /// Tell people.
  case notice(Notice)
  /// Know what was found of shards that have come to this instance.
  case tookOver(ShardSet, RecoveredState)
  /// Everything that was under way has ended and is on disk.
  case drained
}

/// What a client is told.
public enum Reply: Sendable {
  /// Its call is on disk.
  case accepted(CallRecord)
  /// Its call was accepted before, under the same key, and is on disk.
  case replayed(CallID)
  /// What it wanted done to a call is done and on disk.
  case done(CallID)
  /// What it wanted done to a target is done and on disk; so it stands.
  indirect case controlled(TargetSnapshot)
  /// How things stand.
  case report(EngineReport)
  /// What was counted in each namespace since this was last asked.
  case tallied([(namespace: Namespace, tally: CallTally)])
  /// It cannot be.
  case refused(Problem)
}

/// An attempt to begin.
public struct AttemptStart: Sendable {
  /// The call.
  public var call: CallRecord
  /// The attempt's number.
  public var number: Int
  /// The most time it may take.
  public var timeout: Duration
  /// What is set about TLS; nil when nothing is, for any target.
  public var tls: CallTLS?
  /// The attempt must not be begun at or after that time, by the clock that the engine goes by, for others may have the
  /// call then, or its deadline has passed; nil when nobody shares the store. One that comes too late is to be said to have
  /// ended as ``AttemptResult/init(tooLate:)``.
  public var startBefore: Timestamp?
}

/// How things stand.
public struct EngineReport: Sendable, Hashable {
  /// The targets that were asked for; every one that is remembered in a report on all.
  public var targets: [TargetSnapshot]
  /// The qualified key of the last target of a page, when there are more behind it.
  public var next: String?
  /// Attempts under way.
  public var inFlight: Int
  /// Calls that have not ended.
  public var unfinished: Int
  /// Calls in memory.
  public var held: Int
  /// Whether new calls are refused, since the last write failed or the instance has no lease on the store.
  public var storeFailing: Bool
}

/// Something worth a person's attention.
public enum Notice: Sendable, Hashable {
  /// What an earlier process left was taken over.
  case recovered(unfinished: Int, interrupted: Int)
  /// A target's breaker let nothing through from now on.
  case breakerOpened(target: String, until: Timestamp, trips: Int)
  /// A target's breaker lets probes through.
  case breakerHalfOpen(target: String)
  /// A target's breaker lets calls through again.
  case breakerClosed(target: String)
  /// Somebody did something to a target, by that name.
  case targetControlled(target: String, action: String)
  /// What calls to a target wait for has changed; the notices of its breaker come apart.
  case targetStands(target: String, TargetStanding)
  /// A call ended without success.
  ///
  /// `traceparent` is the trace that its client's request belongs to, if the client said so.
  case callFailed(
    CallID, kind: CallKind, target: String, reason: StopReason, attempts: Int, traceparent: String?)
  /// The store failed; new calls are refused until it works again.
  case storeFailed(message: String)
  /// The store is tried again with what it failed to write.
  case storeRetried(writes: Int)
  /// Shards have come to this instance.
  case shardsGained(ShardSet)
  /// Shards were given back, and nothing of them is held.
  case shardsReleased(ShardSet)
  /// Others may have all that was this instance's: it has dropped everything.
  case leaseLost
}
