package import Dispatch
package import RedialCore
package import RedialModel

/// Where calls are stored. The only source of truth: a call that is not here has not been accepted.
///
/// A store is used from one lane at a time; a ``CallReader`` of the same data serves queries beside it. Work on calls is
/// submitted, and its outcome is known at once or later; all other methods return when what they change is on disk.
package protocol CallStore: AnyObject {
  /// Takes the store over from a process that is gone. Calls in its memory go back to `scheduled`, or to `queued` if
  /// they waited for their target. Calls with an attempt in flight are returned as `held`, and stay `running` in the
  /// store until their interruption is committed. Called once, before anything else.
  func recover(at now: Timestamp) throws(StoreError) -> RecoveredState

  /// From now on it is used on this queue only.
  func pass(to queue: DispatchQueue)

  /// Submits work. The outcome is returned if it is known at once; otherwise it comes later, by
  /// ``report(to:)``, in the order of submission.
  ///
  /// A store that answers later takes up to `StorePipeline.mostInFlight` works at a time. Works that change something
  /// form a chain by their sequence numbers, which count from 1 and never skip one: a store makes none unless the one
  /// before was made. So if one fails, all that were submitted after it fail too. The number of a failed work is used
  /// again for the next one.
  ///
  /// - Parameters:
  ///   - sequence: The place of the work in the chain. If it changes nothing (`find`), that of the last change before
  ///     it.
  ///   - trial: Whether it is submitted again, and why.
  func submit(_ work: StoreWork, as sequence: Int64, _ trial: StoreTrial) -> StoreOutcome?

  /// Sets who receives what is not known at once, on any thread. Called once, before anything is submitted: who receives
  /// it counts the losses. A store that reports anything by this way reports all outcomes by it.
  func report(to listener: @escaping @Sendable (StoreOutcome) -> Void)

  /// Gives everything back, so that the next owner need not wait for the lease to end. Call it when no attempt is in
  /// flight, and before ``close()``.
  func resign(at now: Timestamp) throws(StoreError)

  /// Removes some of the finished calls that a rule does not keep, earliest ended first, with their attempts and
  /// keys, and makes the store smaller if it can. Call it again until nothing is left to do.
  ///
  /// - Parameter budget: About how long it may take.
  func tidy(_ retention: Retention, at now: Timestamp, within budget: Duration) throws(StoreError) -> TidyStep

  /// A value of the service, stored under a name.
  func setting(_ name: String) throws(StoreError) -> String?

  /// Stores a value of the service under a name.
  func setSetting(_ name: String, to value: String) throws(StoreError)

  /// Stores a value of the service under a name, unless there is one. Returns the value that is stored then: all who
  /// do this at the same time get the same.
  func keepSetting(_ name: String, orElse value: String) throws(StoreError) -> String

  /// Closes the store; it must not be used afterwards.
  func close()
}

extension CallStore {
  /// For stores that any thread may use.
  package func pass(to queue: DispatchQueue) {}
}

/// Reads calls for clients, from any thread, without waiting for writes. It sees committed data.
package protocol CallReader: Sendable {
  /// A call with all its attempts, newest last; with the response bodies of all of them, or of the last only.
  ///
  /// - Parameter namespace: The namespace that it must belong to; nil for any.
  func call(_ id: CallID, in namespace: Namespace?, allResponses: Bool) throws(StoreError) -> StoredCall?

  /// The attempts of a call, newest last, with the stored parts of all responses, or only with their heads; nil if
  /// the namespace has no such call.
  func attempts(of id: CallID, in namespace: Namespace, withBodies: Bool) throws(StoreError) -> [AttemptRecord]?

  /// Calls by their ids, in that order, without bodies and attempts: an error for a call that cannot be read, nil for
  /// one that does not exist.
  func records(of ids: [CallID]) throws(StoreError) -> [Result<CallRecord, StoreError>?]

  /// The keys with these names that have not expired, in that order; nil for one under which no call was accepted.
  func keys(_ names: [IdempotencyName], at now: Timestamp) throws(StoreError) -> [KeyRecord?]

  /// Those of some calls that have ended.
  func ended(among ids: [CallID]) throws(StoreError) -> [CallID]

  /// Calls without bodies and attempts, newest first, and what the last attempt of each came to.
  func calls(_ query: CallQuery) throws(StoreError) -> CallPage<StoredCall>

  /// The ids of calls, newest first.
  func ids(_ query: CallQuery) throws(StoreError) -> CallPage<CallID>

  /// How many calls that are not in memory wait for their time, or for their turn, by target and reason.
  ///
  /// - Parameters:
  ///   - target: The target; nil for all of the namespace.
  ///   - limit: Maximum number of calls that are counted of each kind.
  func backlog(of target: TargetKey?, in namespace: Namespace, limit: Int) throws(StoreError) -> StoredBacklog

  /// The size of the store, and the number of finished calls in it. The cost does not depend on that number.
  func usage() throws(StoreError) -> StoreUsage

  /// The results of a namespace's calls and attempts, by step, from a time on; empty steps are left out.
  func statistics(
    of namespace: Namespace, by step: StatisticsStep, from time: Timestamp
  ) throws(StoreError) -> [(start: Timestamp, tally: CallTally)]

  /// The groups of failed calls of a namespace, those with the most calls first. The cost depends on the number of failed
  /// calls.
  func failed(_ query: FailedQuery) throws(StoreError) -> [FailedCalls]

  /// Calls that are overdue or stuck, by the wall clock. The cost depends on the number of late calls and of calls in
  /// memory.
  func lateness(at now: Timestamp) throws(StoreError) -> LateCalls

  /// Throws if the store does not work.
  func ping() throws(StoreError)

  func documents(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument]

  /// Some documents of a kind whose ids are in a range, those with the highest ids first.
  func documents(
    _ kind: StoredDocument.Kind, in ids: Range<String>, limit: Int
  ) throws(StoreError) -> [StoredDocument]

  /// A value of the service, stored under a name.
  func setting(_ name: String) throws(StoreError) -> String?

  /// How many threads it serves at a time; others wait.
  var connections: Int { get }
}

package struct StoredCall: Sendable {
  /// The call; its `history` is empty.
  package var record: CallRecord
  /// Its attempts, newest last.
  package var attempts: [AttemptRecord]
  /// What the last attempt came to, in a list, which has no attempts.
  package var last: LastAnswer?
  /// The record of its target, for instances that do not run its calls; nil if the store has one instance alone.
  package var target: TargetRecord?
  /// Why it cannot be read, if the rest of it only stands for it in a list.
  package var damage: String?

  /// Creates a stored call.
  package init(
    record: CallRecord, attempts: [AttemptRecord], last: LastAnswer? = nil, target: TargetRecord? = nil
  ) {
    self.record = record
    self.attempts = attempts
    self.last = last
    self.target = target
  }
}
