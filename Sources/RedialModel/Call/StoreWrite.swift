public import RedialCore

/// One change to the store. The engine requests it; the store reports when it is on disk.
public enum StoreWrite: Sendable {
  /// A new call.
  case insert(CallRecord)
  /// A call's new progress and, when an attempt ended, its record.
  case update(CallID, CallProgress, AttemptRecord?)
  /// The key under which a new call was accepted.
  case key(KeyRecord)
  /// Removes a call and its key: it was refused, but it is unknown whether its insert took effect.
  case discard(CallID)
  /// A target's breaker: open until a time, or closed if nil.
  case breaker(target: TargetKey, OpenBreaker?)
  /// What a target's pace has learned.
  case pace(target: TargetKey, SavedPace)
  /// Until when a target asked to be left alone; nil if an operator has ended that.
  case asked(target: TargetKey, until: Timestamp?)
  /// The settings that operators have given a target.
  case controls(target: TargetKey, TargetControls)
  /// The call, which the write before made `queued` until its deadline, waits for the turn of its ordering key. If no
  /// call of the key has the turn, the store gives it to this one at once: it becomes `scheduled`, due at its round's
  /// start.
  case awaitTurn(CallID, target: TargetKey, orderingKey: String)
  /// The call has ended: its turn, if it had it, goes to the oldest call that waits for it.
  case passTurn(CallID)
  /// A manual retry of the call.
  case retried(CallID, ManualRetry)
  /// The payloads of an ended call are erased, and this is its remaining spec.
  case erase(CallID, CallSpec)
  /// A new version of a policy. If it is a removal, all earlier versions are removed; otherwise those beyond the given
  /// number. With the number 0 the name is forgotten.
  case policy(StoredPolicy, keeping: Int)
  /// A bulk operation in its current state.
  case operation(BulkOperation)
  /// Counts of ends and attempts, to be added to the earlier counts.
  case tallied([MinuteTally])
  /// A bulk operation is forgotten.
  case removeOperation(BulkOperationID)
}

/// The part of a breaker that is not closed which outlives the process.
public struct OpenBreaker: Sendable, Hashable {
  /// When it becomes half-open.
  public var until: Timestamp
  /// Openings since it last closed.
  public var trips: Int

  /// Creates the durable part of an open breaker.
  public init(until: Timestamp, trips: Int) {
    self.until = until
    self.trips = trips
  }
}

/// What a target's pace has learned and the next owner of the target uses.
public struct SavedPace: Sendable, Hashable {
  /// Requests per second that the target processed; 0 if unknown.
  public var delivered: Double
  /// Whether the pace had a limit.
  public var isLimited: Bool
  /// When it was saved.
  public var at: Timestamp

  /// After this time it is not used any more, unless the target's breaker is open.
  public static let memory = Duration.seconds(3600)

  /// Creates the durable part of a pace.
  public init(delivered: Double, isLimited: Bool, at: Timestamp) {
    self.delivered = delivered
    self.isLimited = isLimited
    self.at = at
  }
}

/// The content of a store that an engine must know when the store is opened.
public struct RecoveredState: Sendable {
  /// Calls with an attempt in flight when the last process ended.
  public var running: [CallRecord]
  /// The earliest time at which a call in the store is due.
  public var nextDue: Timestamp?
  /// How many calls wait in each target's queue.
  public var queued: [(target: TargetKey, count: Int)]
  /// Breakers that were open.
  public var breakers: [(target: TargetKey, breaker: OpenBreaker)]
  /// The paces of targets whose breaker is open, and those saved within ``SavedPace/memory``.
  public var paces: [(target: TargetKey, pace: SavedPace)] = []
  /// Targets that asked to be left alone until a time that has not come.
  public var asked: [(target: TargetKey, until: Timestamp)] = []
  /// Targets with settings of operators.
  public var controls: [(target: TargetKey, controls: TargetControls)]
  /// Calls that have not ended.
  public var unfinished: Int
  /// Every namespace in the store, and its number of unfinished calls; if empty, all are the default's.
  public var namespaces: [(namespace: Namespace, unfinished: Int)]
  /// The highest id so far.
  public var lastID: CallID

  /// Creates the state of a store; by default of an empty one.
  public init(
    running: [CallRecord] = [], nextDue: Timestamp? = nil, queued: [(target: TargetKey, count: Int)] = [],
    breakers: [(target: TargetKey, breaker: OpenBreaker)] = [],
    controls: [(target: TargetKey, controls: TargetControls)] = [], unfinished: Int = 0,
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

/// Calls that an engine has claimed from the store.
public struct Claim: Sendable {
  /// The calls, which are now held.
  public var calls: [CallRecord]
  /// The earliest time at which a call still in the store is due.
  public var nextDue: Timestamp?

  /// Creates a claim.
  public init(calls: [CallRecord], nextDue: Timestamp?) {
    self.calls = calls
    self.nextDue = nextDue
  }
}
