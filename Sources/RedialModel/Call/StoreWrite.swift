public import RedialCore

/// One change to the store. The engine says what; the store says when it is on disk.
public enum StoreWrite: Sendable {
  /// A new call.
  case insert(CallRecord)
  /// A call's new progress and, when an attempt ended, its record.
  case update(CallID, CallProgress, AttemptRecord?)
  /// The key that a new call was accepted under.
  case key(KeyRecord)
  /// No such call, nor its key: it was refused, though nobody knows whether its insert took effect.
  case discard(CallID)
  /// A target's breaker: open until then, or closed when nil.
  case breaker(target: String, OpenBreaker?)
  /// What operators have made of a target.
  case controls(target: String, TargetControls)
  /// The call, `queued` until its deadline by the write before, waits for its turn among the calls of its target with
  /// one ordering key. If none of them has its turn the store gives it to this one at once: it becomes `scheduled`,
  /// due at its round's start.
  case awaitTurn(CallID, target: String, orderingKey: String)
  /// The call has ended: the turn, if it had it, goes to the oldest that awaits it.
  case passTurn(CallID)
  /// Somebody had the call run at once, or again.
  case retried(CallID, ManualRetry)
  /// The payloads of an ended call are erased, and this is what is left of its spec.
  case erase(CallID, CallSpec)
  /// A new version of a policy; with its removal the versions before it go, and else those beyond so many. With none to
  /// be kept, everything that is known of the name goes.
  case policy(StoredPolicy, keeping: Int)
  /// An operation on many calls, as it is now.
  case operation(BulkOperation)
  /// What was counted of ends and attempts, to be added to what was counted before.
  case tallied([MinuteTally])
  /// An operation on many calls is forgotten.
  case removeOperation(BulkOperationID)
}

/// What outlives a process of a breaker that is not closed.
public struct OpenBreaker: Sendable, Hashable {
  /// When it lets probes through.
  public var until: Timestamp
  /// Openings since it last closed.
  public var trips: Int

  /// Creates the durable part of an open breaker.
  public init(until: Timestamp, trips: Int) {
    self.until = until
    self.trips = trips
  }
}

/// What a store holds when it is opened, as far as an engine must know.
public struct RecoveredState: Sendable {
  /// Calls with an attempt in flight when the last process ended.
  public var running: [CallRecord]
  /// The earliest time at which a call in the store is due.
  public var nextDue: Timestamp?
  /// How many calls wait in each target's queue.
  public var queued: [(target: String, count: Int)]
  /// Breakers that were open.
  public var breakers: [(target: String, breaker: OpenBreaker)]
  /// Targets that operators have touched.
  public var controls: [(target: String, controls: TargetControls)]
  /// Calls that have not ended.
  public var unfinished: Int
  /// Every namespace that the store knows, and how many of those calls it has; without any, all are the default's.
  public var namespaces: [(namespace: Namespace, unfinished: Int)]
  /// The highest identity given out.
  public var lastID: CallID

  /// Creates the state of a store; without arguments, of an empty one.
  public init(
    running: [CallRecord] = [], nextDue: Timestamp? = nil, queued: [(target: String, count: Int)] = [],
    breakers: [(target: String, breaker: OpenBreaker)] = [],
    controls: [(target: String, controls: TargetControls)] = [], unfinished: Int = 0,
    namespaces: [(namespace: Namespace, unfinished: Int)] = [], lastID: CallID = CallID(rawValue: 0)
  ) {
    self.namespaces = namespaces
    self.running = running
    self.nextDue = nextDue
    self.queued = queued
    self.breakers = breakers
    self.controls = controls
    self.unfinished = unfinished
    self.lastID = lastID
  }
}

/// Calls that an engine has taken over from the store.
public struct Claim: Sendable {
  /// The calls, now held.
  public var calls: [CallRecord]
  /// The earliest time at which a call still in the store is due.
  public var nextDue: Timestamp?

  /// Creates a claim.
  public init(calls: [CallRecord], nextDue: Timestamp?) {
    self.calls = calls
    self.nextDue = nextDue
  }
}
