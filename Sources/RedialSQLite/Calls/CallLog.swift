internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The log that the changes of calls go to first, as the writer sees it: the changes of a transaction are gathered, and
/// become one row at its end. From time to time many calls at once are folded: each is written to its tables once, in
/// its final form. The log is a table of the same file, so that a transaction has both, or nothing.
///
/// It belongs to the writer's thread. During the accesses that the run time does not check, nothing of it is called.
final class CallLog {
  /// The maximum size of a spec, of a body, or of the body of a response that is logged, in bytes.
  static let largestPart = 16 * 1024

  private let bounds: LogBounds
  /// What readers see.
  let view: LogView
  private let table: LogTable
  /// The changes of the current transaction.
  @exclusivity(unchecked) private var staged: LogBatch?
  /// Where its row is; nil until that is written.
  private var stagedPlace: LogPlaces.Place?
  private var willBeEmpty = false
  /// No call in the log or in the tables has a higher id.
  @exclusivity(unchecked) private(set) var highest: CallID
  /// The number of the last row when an idle log was looked for.
  private var lastSeen: Int64 = -1
  /// When the rows were last removed for calls that are removed.
  private var emptiedAt: Timestamp?
  /// The same, if the current transaction does it.
  private var willBeEmptiedAt: Timestamp?

  /// Reads the log.
  ///
  /// - Parameter last: No call in the tables has a higher id.
  init(on connection: SQLiteConnection, after last: CallID, _ bounds: LogBounds = LogBounds()) throws(StoreError) {
    self.bounds = bounds
    table = try LogTable(on: connection)
    let logged = try table.load()
    highest = logged.calls.keys.reduce(last) { max($0, $1) }
    view = LogView(logged)
  }

  /// Whether the log can have a call in a state. A call that only the store has must be in the tables, to be found when
  /// its time comes.
  static func takes(_ state: StoredState) -> Bool { state != .scheduled && state != .queued }

  /// Whether there are rows.
  var isWritten: Bool { view.read { $0.hasRows } }

  /// A call is about to be stored, here or in the tables.
  func raiseHighest(to id: CallID) {
    highest = max(highest, id)
  }

  /// Whether there are rows, and none was written since the last time that this was asked.
  func isIdle() -> Bool {
    let last = view.read { $0.last }
    defer { lastSeen = last }
    return last == lastSeen && isWritten
  }

  /// Whether the log may have copies of calls that ended by a time. It is asked for at most once a minute.
  func mayHave(endedBy time: Timestamp, at now: Timestamp) -> Bool {
    guard isWritten else { return false }
    guard let emptiedAt else { return true }
    return time > emptiedAt && now - emptiedAt > .seconds(60)
  }

  // MARK: Within a transaction

  /// What is logged of a call, with the current transaction's changes.
  func call(_ id: CallID) -> LoggedCalls.Call? {
    if let changed = staged?.calls[id] { return changed }
    return willBeEmpty ? nil : view.call(id).call
  }

  /// The last key with this name that is logged.
  func key(_ name: IdempotencyName) -> KeyRecord? {
    view.read { $0.key(name) }
  }

  /// Whether a key is the last one with its name.
  private func isLast(_ key: KeyRecord) -> Bool {
    if let call = staged?.keys[key.key.name] { return call == key.call }
    return !willBeEmpty && view.read { $0.key(key.key.name)?.call } == key.call
  }

  /// Whether the current row has room.
  var hasRoom: Bool { (staged?.records.bytes.count ?? 0) < bounds.largestRow }

  func insert(_ new: NewCall) {
    raiseHighest(to: new.call.id)
    change { batch in
      LogRecords.add(new, to: &batch.records)
      batch.insert(new)
    }
  }

  /// A call's progress.
  ///
  /// - Parameters:
  ///   - known: What is logged of it.
  ///   - stored: Its kind, if nothing is logged of it, because the tables have it.
  func update(
    _ id: CallID, _ known: LoggedCalls.Call?, stored: CallKind?, _ progress: CallProgress, _ attempt: LoggedAttempt?
  ) {
    change { batch in
      LogRecords.add(id, stored: stored, progress, attempt, to: &batch.records)
      batch.update(id, known, stored: stored, progress, attempt)
    }
  }

  func set(_ key: KeyRecord, of known: LoggedCalls.Call) {
    change { batch in
      LogRecords.add(key, to: &batch.records)
      batch.set(key, of: known)
    }
  }

  /// Writes some calls to their tables, in the order of their ids.
  func fold(_ calls: [CallID], into tables: CallTables) throws(StoreError) {
    let sorted = Set(calls).sorted()
    var folded: [(id: CallID, call: LoggedCalls.Call)] = []
    for id in sorted {
      if let call = call(id) { folded.append((id, call)) }
    }
    guard !folded.isEmpty else { return }
    // Another call may have been accepted under the same key since that expired.
    try tables.insert(folded) { key in isLast(key) }
    change { batch in
      LogRecords.add(folded: folded.map(\.id), to: &batch.records)
      for (id, _) in folded { batch.fold(id) }
    }
  }

  /// The calls that have ended, if the log has one that ended by a time.
  func ended(by time: Timestamp) -> [CallID] {
    view.read { logged in
      let ended = logged.ended()
      let isDue = ended.contains { logged.calls[$0]?.progress.finishedAt.map { $0 <= time } == true }
      return isDue ? ended : []
    }
  }

  /// Writes all calls to their tables.
  func foldAll(into tables: CallTables) throws(StoreError) {
    var all = willBeEmpty ? [] : view.read { Array($0.calls.keys) }
    if let staged { all += staged.calls.keys }
    try fold(all, into: tables)
  }

  /// Writes all calls to their tables, and removes the rows of the log, which is needed to forget what is in them.
  ///
  /// - Parameter now: The time, if calls were removed.
  func empty(into tables: CallTables, at now: Timestamp? = nil) throws(StoreError) {
    if let now { willBeEmptiedAt = now }
    try foldAll(into: tables)
    if !willBeEmpty { try table.empty() }
    staged = nil
    willBeEmpty = true
  }

  /// Writes the row of the transaction, at its end. If it is time, calls are folded before.
  func write(_ tables: CallTables) throws(StoreError) {
    guard staged != nil else { return }
    try foldWhatIsDue(into: tables)
    guard let staged else { return }
    let (row, place) = LogRecords.row(staged) { size in
      willBeEmpty ? LogPlaces().next(for: size) : view.read { $0.nextPlace(for: size) }
    }
    try table.write(row, at: place.number)
    stagedPlace = place
  }

  private func foldWhatIsDue(into tables: CallTables) throws(StoreError) {
    let (ended, more) = (staged?.ended ?? [], staged?.records.bytes.count ?? 0)
    if willBeEmpty { return }
    let due = view.read { [bounds] logged -> [CallID] in
      var due = logged.endedCount + ended.count >= bounds.foldAfter ? logged.ended() + ended : []
      if logged.bytes + more > bounds.mostBytes || logged.rowCount >= bounds.mostRows {
        due += logged.calls(ofRows: max(1, logged.rowCount / 16))
      }
      return due
    }
    if !due.isEmpty { try fold(due, into: tables) }
  }

  /// The transaction is committed.
  func didCommit() {
    if willBeEmpty || staged != nil {
      view.change { [willBeEmpty, staged, stagedPlace] logged in
        if willBeEmpty { logged = LoggedCalls(after: logged.last, folds: logged.folds + 1) }
        if let staged, let stagedPlace { logged.apply(staged, at: stagedPlace) }
      }
    }
    emptiedAt = willBeEmptiedAt ?? emptiedAt
    didRollBack()
  }

  /// The transaction is rolled back.
  func didRollBack() {
    staged = nil
    stagedPlace = nil
    willBeEmptiedAt = nil
    willBeEmpty = false
  }

  private func change(_ body: (inout LogBatch) -> Void) {
    var batch =
      staged
      ?? view.read { [willBeEmpty] logged in
        let number = logged.last + 1
        let tail = logged.tail
        return LogBatch(number: number, tail: willBeEmpty ? number : tail)
      }
    staged = nil
    body(&batch)
    staged = batch
  }
}
