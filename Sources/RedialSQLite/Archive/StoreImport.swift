package import RedialStore
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

  private let store: SQLiteStore
  private let now: Timestamp
  private var waiting: [CallID: ArchivedCall] = [:]
  private var order: [CallID] = []
  private var waitingBytes = 0

  /// Opens a store, or creates it if there is none.
  ///
  /// - Parameter now: The time of the wall clock: expired keys are left out.
  /// - Throws: `inUse` if a service uses the store, because the service would not see the calls.
  package init(path: String, payloads: PayloadRule = PayloadRule(), at now: Timestamp) throws(StoreError) {
    self.now = now
    store = try SQLiteStore(path: path, payloads: payloads)
    // A copy of a running service's store, and a killed service's store, have calls that only the log knows. Archived calls
    // go to the tables, and are looked for there.
    try store.fold()
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
    try store.grantFreeTurns()
    store.close()
  }

  private func flush() throws(StoreError) {
    var calls: [ArchivedCall] = []
    var known = 0
    for id in order {
      if try store.calls.contains(id) {
        known += 1
      } else if let call = waiting[id] {
        calls.append(call)
      }
    }
    try store.insert(calls, at: now)
    tally.imported += order.count - known
    tally.known += known
    waiting.removeAll(keepingCapacity: true)
    order.removeAll(keepingCapacity: true)
    waitingBytes = 0
  }
}
