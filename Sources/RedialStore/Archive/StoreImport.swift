package import RedialCore
package import RedialModel

/// Puts archived calls into a store, many at a time. A call that exists already stays unchanged, so that an interrupted
/// import can be repeated.
package final class StoreImport {
  /// Calls in a transaction.
  private static let batch = 1000
  /// Bytes of payload in a transaction.
  private static let batchBytes = 16 << 20

  /// The counts of the calls so far.
  package struct Tally: Sendable, Hashable {
    /// Added to the store.
    package var imported = 0
    /// Already in the store.
    package var known = 0
  }

  /// The counts of the calls that are on disk.
  package private(set) var tally = Tally()

  private let store: any ArchiveDestination
  private let now: Timestamp
  private var waiting: [CallID: ArchivedCall] = [:]
  private var order: [CallID] = []
  private var waitingBytes = 0

  /// Begins to put calls into a store.
  ///
  /// - Parameter now: The time of the wall clock: expired keys are left out.
  package init(into store: any ArchiveDestination, at now: Timestamp) {
    self.store = store
    self.now = now
  }

  /// Adds a call, at the latest when the import finishes.
  package func add(_ call: ArchivedCall) throws(StoreError) {
    let id = call.record.id
    if waiting[id] != nil {
      tally.known += 1
      return
    }
    waiting[id] = call
    order.append(id)
    waitingBytes += call.record.body.count + call.attempts.reduce(0) { $0 + ($1.response?.body.count ?? 0) }
    if order.count >= Self.batch || waitingBytes >= Self.batchBytes { try flush() }
  }

  /// Makes everything durable, and closes the store.
  package func finish() throws(StoreError) {
    try flush()
    try store.finish()
  }

  private func flush() throws(StoreError) {
    if order.isEmpty { return }
    let known = try store.known(order)
    let calls = order.filter { !known.contains($0) }.compactMap { waiting[$0] }
    if !calls.isEmpty { try store.insert(calls, at: now) }
    tally.imported += calls.count
    tally.known += order.count - calls.count
    waiting.removeAll(keepingCapacity: true)
    order.removeAll(keepingCapacity: true)
    waitingBytes = 0
  }
}

/// A store without a service, which gets archived calls.
package protocol ArchiveDestination: AnyObject {
  /// Which of these calls it already has.
  func known(_ ids: [CallID]) throws(StoreError) -> Set<CallID>

  /// Puts in calls that it does not have, and what belongs to them: all of them or none.
  ///
  /// A call continues if it had the turn of its ordering key, unless a call of this store has that turn now: then it waits
  /// behind that call. A key is left out if it has expired, or if another call was accepted under it and keeps it longer.
  func insert(_ calls: [ArchivedCall], at now: Timestamp) throws(StoreError)

  /// Gives the turns that nobody has, and closes the store.
  func finish() throws(StoreError)
}
