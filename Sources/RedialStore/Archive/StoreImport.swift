public import RedialCore
internal import RedialModel

/// Puts archived calls into a store, many at a time. A call that is there already is left as it is, so that an import
/// which was cut off can be done again.
public final class StoreImport {
  /// Calls that go into a transaction.
  private static let batch = 1000
  /// Bytes of payload that go into a transaction.
  private static let batchBytes = 16 << 20

  /// The results of the calls so far.
  public struct Tally: Sendable, Hashable {
    /// Put into the store.
    public var imported = 0
    /// There already.
    public var known = 0
  }

  /// The results of the calls that are on disk.
  public private(set) var tally = Tally()

  private let store: SQLiteStore
  private let now: Timestamp
  private var waiting: [CallID: ArchivedCall] = [:]
  private var order: [CallID] = []
  private var waitingBytes = 0

  /// Opens a store, which is made when there is none.
  ///
  /// - Parameter now: The time by the wall clock: keys that have expired by then are left out.
  /// - Throws: `inUse` when a service runs on it, which would know nothing of the calls.
  public init(path: String, payloads: PayloadRule = PayloadRule(), at now: Timestamp) throws(StoreError) {
    self.now = now
    store = try SQLiteStore(path: path, payloads: payloads)
  }

  /// Adds a call, at the latest when the import is finished.
  public func add(_ call: ArchivedCall) throws(StoreError) {
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
  public func finish() throws(StoreError) {
    try flush()
    try store.grantFreeTurns()
    store.close()
  }

  private func flush() throws(StoreError) {
    var calls: [ArchivedCall] = []
    var known = 0
    for id in order {
      if try store.contains(id) {
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
