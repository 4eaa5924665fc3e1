public import RedialCore
public import RedialModel

/// Where calls are kept. The one source of truth: what is not here has not been accepted.
///
/// A store is used from one lane at a time; a ``CallReader`` of the same data
/// serves queries beside it. Every method that changes something returns only
/// after the change is on disk.
public protocol CallStore: AnyObject {
  /// Takes the store over from a process that is gone: calls held in its memory go back to `scheduled`, or to `queued`
  /// those that waited for their target; those whose attempt was under way are answered as `held`, and stay `running`
  /// in the store until their interruption is committed. Called once, before anything else.
  func recover(at now: Timestamp) throws(StoreError) -> RecoveredState

  /// For a store that several instances share: begins a session with a lease, or renews one; gives back shards, and takes
  /// of those that are nobody's up to an even share. What is gained is taken over as by ``recover(at:)``, which such
  /// stores need not be asked for.
  ///
  /// Sessions whose time is over are ended by it, whoever asks: then their shards are free, and whatever their owners
  /// still ask for is refused. All other methods work within the session's shards, but that a call may be inserted for any.
  ///
  /// - Parameters:
  ///   - session: The one to renew; nil for a new one, which ends the one before.
  ///   - now: The time by a clock that all who share the store have in common.
  /// - Throws: `leaseLost` when the session has ended.
  func lease(_ request: LeaseRequest, renewing session: Int64?, at now: Timestamp) throws(StoreError) -> LeaseGrant

  /// Gives everything back, so that whoever comes next need not wait for a lease to be over; to be called when nothing is
  /// under way, and before ``close()``.
  func leave() throws(StoreError)

  /// Makes all of the changes, in order, or none of them.
  func commit(_ writes: [StoreWrite]) throws(StoreError)

  /// Takes calls that are due before a time: `scheduled` and `queued` ones become `held`. Of each namespace that has some
  /// come as many as of any other, as far as it has so many, and the earliest of it first.
  func claimDue(before time: Timestamp, limit: Int) throws(StoreError) -> Claim

  /// Takes calls from the queue of a target, the most urgent first and the oldest of those: `queued` ones that do not
  /// await their turn become `held`.
  func claimQueued(target: String, limit: Int) throws(StoreError) -> [CallRecord]

  /// Takes one call: if it has not ended it becomes `held`; if it has, or is of a shard that is somebody else's, it is
  /// answered as it is. Nil when the namespace has none of that identity.
  ///
  /// - Throws: With ``StoreError/damaged`` when the call cannot be understood, and the store is well.
  func claim(_ id: CallID, in namespace: Namespace) throws(StoreError) -> CallRecord?

  /// The call that was accepted under a key which has not expired.
  func find(key: String, at now: Timestamp) throws(StoreError) -> KeyRecord?

  /// Removes some of the finished calls that a rule does not keep, those first that ended first, with their attempts
  /// and keys, and makes the store smaller where it can; to be called again until there is nothing left to do.
  ///
  /// - Parameter budget: About how long it may take.
  func tidy(_ retention: Retention, at now: Timestamp, within budget: Duration) throws(StoreError) -> TidyStep

  /// The value kept under a name for the service's own use.
  func setting(_ name: String) throws(StoreError) -> String?

  /// Keeps a value under a name for the service's own use.
  func setSetting(_ name: String, to value: String) throws(StoreError)

  /// Closes the store; nothing may be asked of it afterwards.
  func close()
}

/// Reads calls for people, from any thread, without waiting for writes. It sees what is committed.
public protocol CallReader: Sendable {
  /// A call with all its attempts, the newest last; the response bodies of all of them, or of the last only.
  ///
  /// - Parameter namespace: The only one that it may be of; nil for any.
  func call(_ id: CallID, in namespace: Namespace?, allResponses: Bool) throws(StoreError) -> StoredCall?

  /// The attempts of a call, the newest last, with what was kept of all responses, or with no more than their heads; nil
  /// when the namespace has no such call.
  func attempts(of id: CallID, in namespace: Namespace, withBodies: Bool) throws(StoreError) -> [AttemptRecord]?

  /// Calls by their identities, in that order, without bodies and attempts: the failure for one that cannot be read, nil
  /// where there is none.
  func records(of ids: [CallID]) throws(StoreError) -> [Result<CallRecord, StoreError>?]

  /// Calls without bodies, newest first.
  func calls(_ query: CallQuery) throws(StoreError) -> CallPage<StoredCall>

  /// The identities of calls, newest first.
  func ids(_ query: CallQuery) throws(StoreError) -> CallPage<CallID>

  /// How many calls in nobody's memory wait for their time, or for their turn, by target and reason.
  ///
  /// - Parameters:
  ///   - target: Of which target; nil for all of the namespace.
  ///   - limit: The most calls of each of the two that are counted.
  func backlog(of target: String?, in namespace: Namespace, limit: Int) throws(StoreError) -> StoredBacklog

  /// What the store takes, and how many finished calls it holds. The cost does not depend on how many.
  func usage() throws(StoreError) -> StoreUsage

  /// How the calls of a namespace ended and their attempts went, by step, from a time on; steps without any are left out.
  func statistics(
    of namespace: Namespace, by step: StatisticsStep, from time: Timestamp
  ) throws(StoreError) -> [(start: Timestamp, tally: CallTally)]

  /// What should have happened by now and has not, by the wall clock; at the cost of what is late or in memory.
  func lateness(at now: Timestamp) throws(StoreError) -> [StoreFinding]

  /// Whether the store answers.
  func ping() throws(StoreError)
}

/// A call as the store has it.
public struct StoredCall: Sendable {
  /// The call; its `history` is empty.
  public var record: CallRecord
  /// Its attempts, the newest last.
  public var attempts: [AttemptRecord]

  /// Creates a stored call.
  public init(record: CallRecord, attempts: [AttemptRecord]) {
    self.record = record
    self.attempts = attempts
  }
}

/// Why a store could not do what was asked.
public struct StoreError: Error, Sendable, Hashable {
  /// What to do about it.
  public enum Kind: Sendable, Hashable {
    /// The disk is full.
    case full
    /// It may work later: a failed write, a busy database.
    case unavailable
    /// An fsync failed: nothing that was written since the last one that succeeded can be trusted, so this process must
    /// not write any more. The next one that opens the store begins with what it can make durable.
    case syncFailed
    /// The data is damaged, or of a newer version: somebody has to look.
    case corrupt
    /// The store is in use by another process.
    case inUse
    /// Others may have what this instance had of the store.
    case leaseLost
    /// Another instance has just accepted calls under some of the same idempotency keys, see ``StoreError/taken``.
    case keyTaken
  }

  /// What to do about it.
  public var kind: Kind
  /// What was attempted, on what, what went wrong, what to do.
  public var message: String
  /// The one call that cannot be understood, when that is all: nothing else in the store is the worse for it.
  public var damaged: Damage?
  /// The keys that others were first with, when that is all.
  public var taken: [TakenKey] = []

  /// A call that cannot be understood.
  public struct Damage: Sendable, Hashable {
    /// Which.
    public var id: CallID
    /// Whether it has ended, so that nobody has it in memory.
    public var hasEnded: Bool

    /// Creates a damage.
    public init(id: CallID, hasEnded: Bool) {
      self.id = id
      self.hasEnded = hasEnded
    }
  }

  /// Creates an error.
  public init(kind: Kind, message: String, damaged: Damage? = nil) {
    self.kind = kind
    self.message = message
    self.damaged = damaged
  }
}
