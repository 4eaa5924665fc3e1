public import RedialCore

/// One change to the store. The engine requests it; the store reports when it is on disk.
public enum StoreWrite: Sendable {
  case insert(CallRecord)
  /// A call's new progress and, when an attempt ended, its record.
  case update(CallID, CallProgress, AttemptRecord?)
  /// The key under which a new call was accepted.
  case key(KeyRecord)
  /// Removes a call and its key: it was refused, but it is unknown whether its insert took effect.
  case discard(CallID)
  /// All that outlives the process of a target.
  case target(TargetKey, TargetRecord)
  /// The call, which the write before made `queued` until its deadline, waits for the turn of its ordering key. If no
  /// call of the key has the turn, the store gives it to this one at once: it becomes `scheduled`, due at its round's
  /// start.
  case awaitTurn(CallID, target: TargetKey, orderingKey: String)
  /// The call has ended: its turn, if it had it, goes to the oldest call that waits for it.
  case passTurn(CallID)
  case retried(CallID, ManualRetry)
  /// The payloads of an ended call are erased, and this is its remaining spec.
  case erase(CallID, CallSpec)
  /// A document, in place of the one with its id.
  case put(StoredDocument)
  /// A document with an id that none has: otherwise nothing of the commit is made.
  case add(StoredDocument)
  /// A document is removed, if there is one with this id.
  case remove(StoredDocument.Kind, id: String)
  /// Counts of ends and attempts, to be added to the earlier counts.
  case tallied([MinuteTally])
}

extension StoreWrite {
  /// The last progress of a call that ends with it; nil if none does. Asked of a write in its array, it copies nothing of the
  /// write.
  public var end: CallProgress? {
    if case .update(_, let progress, _) = self, progress.state.isFinal { progress } else { nil }
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
  /// The records of targets, as far as they still matter.
  public var targets: [(target: TargetKey, record: TargetRecord)]
  /// Calls that have not ended.
  public var unfinished: Int
  /// Every namespace in the store, and its number of unfinished calls; if empty, all are the default's.
  public var namespaces: [(namespace: Namespace, unfinished: Int)]
  /// The highest id so far.
  public var lastID: CallID
  /// How the last process crashed; nil if it did not, or could not say.
  public var crash: CrashRecord?

  /// Creates the state of a store; by default of an empty one.
  public init(
    running: [CallRecord] = [], nextDue: Timestamp? = nil, queued: [(target: TargetKey, count: Int)] = [],
    targets: [(target: TargetKey, record: TargetRecord)] = [], unfinished: Int = 0,
    namespaces: [(namespace: Namespace, unfinished: Int)] = [], lastID: CallID = CallID(rawValue: 0),
    crash: CrashRecord? = nil
  ) {
    self.crash = crash
    self.namespaces = namespaces
    self.running = running
    self.nextDue = nextDue
    self.queued = queued
    self.targets = targets
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
