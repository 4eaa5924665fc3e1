internal import RedialStore
internal import RedialCore
internal import RedialModel

/// The rows of calls in all tables. A call is added, changed, read and removed with its attempts, its labels, its manual
/// retries and its key.
final class CallTables {
  private let payloads: PayloadRule
  private let documents: DocumentTable
  private let vault: Vault
  private let changes: CallChanges
  private let rows: CallRows
  private let attempts: AttemptChanges
  private let attemptRows: AttemptRows
  private let labels: LabelTable
  private let retries: RetryTable
  private let keys: KeyTable

  /// Prepares the statements.
  ///
  /// - Parameter counts: Informed of every call that is added, removed, finished, or continued.
  init(
    on connection: SQLiteConnection, payloads: PayloadRule, counts: FinishedCounts, _ documents: DocumentTable
  ) throws(StoreError) {
    self.payloads = payloads
    self.documents = documents
    vault = connection.vault
    changes = try CallChanges(on: connection, counts: counts)
    rows = try CallRows(on: connection, bodies: true, largest: payloads.streamBodiesAbove)
    attempts = try AttemptChanges(on: connection, payloads: payloads, documents)
    attemptRows = try AttemptRows(on: connection)
    labels = try LabelTable(on: connection)
    retries = try RetryTable(on: connection)
    keys = try KeyTable(on: connection)
  }

  /// The maximum size of a body that the log may have, in bytes: larger ones are read from their table.
  var largestLogged: Int { min(CallLog.largestPart, payloads.streamBodiesAbove) }

  /// Which changes may be made grouped by kind.
  var batching: WriteBatching { attempts.batching }

  // MARK: Reading

  /// Whether there is a call with this id.
  func contains(_ id: CallID) throws(StoreError) -> Bool {
    try rows.contains(id)
  }

  /// A call; with its attempts and retries, if its webhook will contain them.
  ///
  /// - Parameter namespace: The number of the namespace that it must belong to; nil for any.
  func read(_ id: CallID, namespace: Int64? = nil) throws(StoreError) -> CallRows.Found? {
    let found = try rows.call(id, namespace: namespace)
    guard case .intact(var call) = found else { return found }
    if call.spec.callback != nil {
      switch try retries.retries(of: id) {
      case .success(let retries): call.retries = retries
      case .failure(let damage): return .damaged(damage.of(call.spec))
      }
    }
    if call.spec.callback != nil, call.progress.attempts > 0 {
      switch try attemptRows.attempts(of: id, responses: .none) {
      case .success(let attempts): call.history = attempts
      case .failure(let damage): return .damaged(damage.of(call.spec))
      }
    }
    return .intact(call)
  }

  /// When the last attempt of a call ended; nil if it has none that can be read.
  func lastEnd(of id: CallID) throws(StoreError) -> Timestamp? {
    (try? attemptRows.attempts(of: id, responses: .none).get())?.last.map { $0.startedAt + $0.duration }
  }

  /// The kind of a call in the tables, if it is in an engine's memory there; nil for another one, and for a damaged kind.
  ///
  /// - Throws: `corrupt` if there is no such call: its progress would be lost silently.
  func kindInMemory(_ id: CallID) throws(StoreError) -> CallKind? {
    guard let (kind, state) = try changes.stands(id) else { throw changes.missing(id) }
    return state == StateColumns.inMemory ? UInt8(exactly: kind).flatMap { CallKind(rawValue: $0) } : nil
  }

  /// Whether the tables have an attempt.
  func hasAttempt(_ number: Int, of id: CallID) throws(StoreError) -> Bool {
    try attempts.contains(number, of: id)
  }

  /// What was submitted, in the form in which it is stored.
  func request(of call: CallRecord) throws(StoreError) -> StoredRequest {
    try prepareKey(for: call.spec)
    return StoredRequest(call, compressMinBytes: payloads.compressMinBytes, vault)
  }

  /// An attempt in the form in which it is stored.
  func stored(_ attempt: AttemptRecord, of id: CallID) throws(StoreError) -> StoredAttempt {
    try attempts.stored(attempt, of: id)
  }

  /// Stores a data key for what is sealed of a call, if there is none. Within a transaction.
  private func prepareKey(for spec: CallSpec) throws(StoreError) {
    try vault.check(spec)
    if vault.seals(spec) { try documents.ensureKey(of: spec.namespace.name) }
  }

  /// Whether a call is stored as ended; false for an invalid state.
  func hasEnded(_ id: CallID) throws(StoreError) -> Bool {
    try changes.hasEnded(id)
  }

  // MARK: Changing

  /// Stores new calls, in order; with what the log has of them, if that is given.
  func insert(_ calls: [NewCall], _ logged: [LoggedState]? = nil) throws(StoreError) {
    if calls.isEmpty { return }
    try changes.insert(calls, logged)
    try labels.insert(calls)
  }

  /// Stores a call's new progress.
  func update(_ id: CallID, _ progress: CallProgress) throws(StoreError) {
    try changes.update(id, progress)
  }

  func insert(_ attempt: AttemptRecord, of id: CallID) throws(StoreError) {
    try attempts.insert(attempt, of: id)
  }

  /// Stores what the log has of calls, in their order.
  ///
  /// - Parameter isWanted: Whether a key is stored.
  func insert(
    _ logged: [(id: CallID, call: LoggedCalls.Call)], _ isWanted: (KeyRecord) -> Bool
  ) throws(StoreError) {
    var (new, attempts): ([NewCall], [(id: CallID, attempt: StoredAttempt)]) = ([], [])
    var states: [LoggedState] = []
    new.reserveCapacity(logged.count)
    states.reserveCapacity(logged.count)
    for (id, call) in logged {
      var past: [UInt8]?
      do throws(AttemptDamage) {
        if call.new != nil { past = try PastColumn.packed(call.attempts) }
        if past == nil {
          for attempt in call.attempts { attempts.append((id, try attempt.stored())) }
        }
      } catch {
        throw error.of(id).error
      }
      if let one = call.new {
        new.append(one)
        states.append(LoggedState(progress: call.progress, past: past))
      } else {
        try changes.update(id, call.progress)
      }
    }
    try insert(new, states)
    try self.attempts.insert(attempts)
    for (_, call) in logged {
      if let key = call.key, isWanted(key) { try keys.insert(key) }
    }
  }

  func insert(_ retry: ManualRetry, of id: CallID) throws(StoreError) {
    try retries.add(retry, of: id)
  }

  /// Removes a call with all its data, if it exists.
  func remove(_ id: CallID) throws(StoreError) {
    try attempts.remove(of: id)
    try labels.remove(try changes.remove(id), of: id)
    try keys.remove(of: id)
    try retries.remove(of: id)
  }

  /// Erases a call's payloads: from the tables, and from the file with the next checkpoint, because SQLite overwrites
  /// deleted data with zeros. Rows of payloads are always appended, so no page is split and leaves a copy of them.
  /// But if calls in between are removed, pages may be merged, and then a copy can remain (see docs/calls-in-detail.md).
  func erase(_ id: CallID, leaving spec: CallSpec) throws(StoreError) {
    if spec.labels.isEmpty { try labels.remove(try changes.labels(of: id), of: id) }
    try prepareKey(for: spec)
    // What is packed with the request goes first: then its row never grows, for which its page would be written anew, with copies.
    try attempts.erase(of: id)
    try changes.erase(id, leaving: spec)
  }

  // MARK: Claims

  /// Sets a call to `held`.
  func hold(_ id: CallID) throws(StoreError) {
    try changes.hold(id)
  }

  /// Sets a call that cannot be read to `failed`, so that no claim finds it again. Its finish time, if none is given,
  /// is the start of its round.
  func setAside(_ id: CallID, at time: Timestamp?) throws(StoreError) {
    try changes.setAside(id, at: time)
  }

  /// Puts every held call back to where it was claimed from.
  func releaseAllHeld() throws(StoreError) {
    try changes.releaseAllHeld()
  }

  // MARK: Keys

  /// The call that was accepted under a key which has not expired.
  func find(_ name: IdempotencyName, at now: Timestamp) throws(StoreError) -> KeyRecord? {
    try keys.find(name, at: now)
  }

  /// Stores a key, and removes some that have expired.
  func insert(_ key: KeyRecord) throws(StoreError) {
    try keys.insert(key)
  }
}
