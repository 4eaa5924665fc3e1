public import RedialCore
public import RedialModel

/// Calls in one SQLite file. Only this process writes to it.
///
/// The write-ahead log is synced at every commit (`synchronous = FULL`), so a change survives a crash of the machine
/// once its method has returned. One change costs as much as hundreds: commit many at a time.
public final class SQLiteStore: CallStore {
  /// Whether only the reserve is left, or less.
  public var isShortOfRoom: Bool { reserve.isMissing }

  let reserve: Reserve
  let notices: StoreNotices
  let syncs: SyncWatch
  let file: StoreFile
  let connection: SQLiteConnection
  let queries: ClaimQueries
  let changes: CallChanges
  let targets: TargetTable
  let namespaces: NamespaceTable
  let finished: FinishedCalls
  let usage: UsageQueries
  private let counts: FinishedCounts
  /// Nil if this process has the store for itself.
  let unfinished: UnfinishedCounts?
  /// Whether the file can become smaller a few pages at a time: one made by this version or later.
  let canRelease: Bool
  /// Ended calls that were recently loaded for a command, and when: retention does not remove them for a while.
  var shown: [CallID: ContinuousClock.Instant] = [:]
  private let rows: CallRows
  private let attemptRows: AttemptRows
  private let attemptChanges: AttemptChanges
  let keys: KeyTable
  let turns: TurnTable
  let settings: SettingTable
  private let policies: PolicyTable
  private let retries: RetryTable
  private let labels: LabelTable
  private let bulk: BulkTable
  private let statistics: StatisticsTable
  let documentTable: DocumentTable
  private let inTransaction: Transaction
  private let place: StorePlace
  private var isMisplaced = false
  let checkpoints: Checkpoints
  let sharing: StoreSharing
  let sessions: SessionTable
  /// Nil if this process has the store for itself.
  let shardQueries: ShardQueries?
  /// The session that every transaction checks.
  var session: LeaseSession?

  /// Opens the store in a file. The file and its folder are created if they do not exist.
  ///
  /// - Parameters:
  ///   - payloads: Which payloads are kept, and how.
  ///   - sharing: Whether this process has the store for itself.
  ///   - reserveBytes: The room to reserve on the disk, see ``isShortOfRoom``; nil to leave it unchanged.
  ///   - notices: Gets what the store reports by itself.
  ///   - syncFailed: Called, on any thread, with the first fsync that failed. From then on the store refuses everything:
  ///     the process must end at once, by `_exit`, and be started again. See ``StoreError/Kind/syncFailed``.
  /// - Throws: `inUse` if another process, or this one, has it open; `corrupt` if the file is not a store, or is one
  ///   of a newer version (it is not changed then); `syncFailed` if the files cannot be made durable.
  public init(
    path: String, payloads: PayloadRule = PayloadRule(), sharing: StoreSharing = .alone,
    reserveBytes: Int? = nil, notices: StoreNotices = StoreNotices(),
    syncFailed: @escaping @Sendable (StoreError) -> Void = { _ in }
  ) throws(StoreError) {
    let syncs = SyncWatch(onFailure: syncFailed)
    let file = try StoreFile(path: path, isShared: sharing == .shared)
    let reserve = try Reserve(path: file.path + "-reserve", bytes: reserveBytes)
    let connection = try reserve.lending { () throws(StoreError) in
      try DurableStart.prepare(path: file.path)
      let connection = try SQLiteConnection(path: file.path, role: .writer)
      try Schema.open(connection)
      return connection
    }
    self.notices = notices
    self.syncs = syncs
    self.reserve = reserve
    self.file = file
    self.connection = connection
    queries = try ClaimQueries(on: connection)
    counts = try FinishedCounts(on: connection)
    unfinished = sharing == .shared ? try UnfinishedCounts(on: connection) : nil
    changes = try CallChanges(
      on: connection, compressMinBytes: payloads.compressMinBytes, counts: counts, unfinished: unfinished)
    targets = try TargetTable(on: connection)
    namespaces = try NamespaceTable(on: connection)
    finished = try FinishedCalls(on: connection)
    usage = try UsageQueries(on: connection)
    canRelease = try connection.value("measure the store", "PRAGMA auto_vacuum") { $0.integer(0) } == 2
    rows = try CallRows(on: connection, bodies: true, largest: payloads.streamBodiesAbove)
    attemptRows = try AttemptRows(on: connection)
    attemptChanges = try AttemptChanges(on: connection, payloads: payloads)
    keys = try KeyTable(on: connection)
    turns = try TurnTable(on: connection)
    settings = try SettingTable(on: connection)
    policies = try PolicyTable(on: connection)
    retries = try RetryTable(on: connection)
    labels = try LabelTable(on: connection)
    bulk = try BulkTable(on: connection)
    statistics = try StatisticsTable(on: connection)
    documentTable = try DocumentTable(on: connection)
    inTransaction = try Transaction(on: connection, role: .writer)
    checkpoints = try Checkpoints(
      of: connection, syncs: syncs, notices: notices, reserveBytes: reserve.bytes)
    self.sharing = sharing
    sessions = try SessionTable(on: connection)
    shardQueries = sharing == .shared ? try ShardQueries(on: connection) : nil
    session = try reserve.lending { [inTransaction, sessions, targets] () throws(StoreError) in
      try inTransaction { () throws(StoreError) in
        try targets.completeShards()
        return sharing == .alone ? try sessions.takeAll() : nil
      }
    }
    // SQLite has made the log by now.
    place = StorePlace(path: file.path)
    // SQLite has synced the folder for its new log, but does not report a failure of that.
    try file.syncFolder()
    if reserve.isMissing { notices.post(.shortage(true)) }
  }

  /// Makes all of the changes, in order, or none of them.
  public func commit(_ writes: [StoreWrite]) throws(StoreError) {
    if writes.isEmpty { return }
    try transaction { () throws(StoreError) in
      if sharing == .shared { try checkKeys(writes) }
      guard writes.allSatisfy(allowsBatches) else {
        for write in writes { try apply(write) }
        return
      }
      try applyInBatches(writes)
    }
  }

  /// Whether this change commutes with inserts of calls that come after it, and with attempts that were stored before
  /// it.
  private func allowsBatches(_ write: StoreWrite) -> Bool {
    switch write {
    case .update(_, _, let attempt?): !attemptChanges.forgets(attempt)
    case .discard, .erase: false
    default: true
    }
  }

  /// Makes changes that allow it, grouped by kind.
  private func applyInBatches(_ writes: [StoreWrite]) throws(StoreError) {
    var (new, attempts): ([CallChanges.NewCall], [(id: CallID, attempt: AttemptRecord)]) = ([], [])
    for case .insert(let call) in writes {
      if let call = try prepared(call) { new.append(call) }
    }
    try insert(new)
    for write in writes {
      switch write {
      case .insert: break
      case .update(let id, let progress, let attempt?) where attemptChanges.canWait(attempt):
        try changes.update(id, progress)
        attempts.append((id, attempt))
      default: try apply(write)
      }
    }
    try attemptChanges.insert(attempts)
  }

  /// Prepares a call to insert; nil if another instance already has it.
  private func prepared(_ call: CallRecord) throws(StoreError) -> CallChanges.NewCall? {
    // An instance whose commit was reported as failed writes the call again, but its owner already has it.
    if sharing == .shared, try !isOwn(call.spec.target), try rows.contains(call.id) { return nil }
    return CallChanges.NewCall(
      call: call, targetID: try targets.intern(call.spec.target),
      namespace: try namespaces.intern(call.spec.namespace))
  }

  private func insert(_ calls: [CallChanges.NewCall]) throws(StoreError) {
    if calls.isEmpty { return }
    try changes.insert(calls)
    try labels.insert(calls)
  }

  /// Makes a change, within a transaction.
  func apply(_ write: StoreWrite) throws(StoreError) {
    switch write {
    case .insert(let call): try insert(try prepared(call).map { [$0] } ?? [])
    case .update(let id, let progress, let attempt):
      try changes.update(id, progress)
      if let attempt { try attemptChanges.insert(attempt, of: id) }
    case .key(let record):
      try keys.insert(record)
    case .discard(let id):
      if sharing == .shared, try isElsewhere(id) { return }
      try remove(id)
      try turns.pass(id)
    case .breaker(let target, let breaker):
      try targets.set(breaker, of: target)
    case .controls(let target, let controls):
      try targets.set(controls, of: target)
    case .awaitTurn(let id, let target, let key):
      try turns.enter(
        id, targetID: try targets.intern(target),
        namespace: try namespaces.intern(target.namespace), key: key)
    case .passTurn(let id):
      try turns.pass(id)
    case .retried(let id, let retry):
      try retries.add(retry, of: id)
    case .erase(let id, let spec):
      try erase(id, leaving: spec)
    case .policy(let policy, let limit):
      try policies.add(policy, keeping: limit)
    case .operation(let operation):
      try bulk.set(operation)
    case .removeOperation(let id):
      try bulk.remove(id)
    case .tallied(let minutes):
      for one in minutes {
        try statistics.add(one.tally, at: one.minute, namespace: try namespaces.intern(one.namespace))
      }
    }
  }

  /// The call that was accepted under a key which has not expired.
  public func find(key: IdempotencyName, at now: Timestamp) throws(StoreError) -> KeyRecord? {
    try keys.find(key, at: now)
  }

  /// Whether there is a call with this id.
  func contains(_ id: CallID) throws(StoreError) -> Bool {
    try rows.contains(id)
  }

  /// A value of the service, stored under a name.
  public func setting(_ name: String) throws(StoreError) -> String? {
    try settings.value(of: name)
  }

  /// Stores a value of the service under a name.
  public func setSetting(_ name: String, to value: String) throws(StoreError) {
    try transaction { () throws(StoreError) in try settings.set(name, to: value) }
  }

  /// Closes the store; later requests fail.
  public func close() {
    checkpoints.close()
    connection.close()
    // Only after the file is closed: the next owner must find the log as this one left it.
    file.close()
  }

  func transaction<Result>(isFenced: Bool = true, _ body: () throws(StoreError) -> Result) throws(StoreError) -> Result
  {
    do {
      try syncs.check()
      // Nothing is written to a log beside which another file may lie now.
      try checkPlace()
      let result = try inTransaction { () throws(StoreError) in
        if isFenced { try checkLease() }
        let result = try body()
        try counts.write()
        try unfinished?.write()
        return result
      }
      // Another thread's sync of the log may have failed and dropped data that this commit's own sync then did not
      // find. (Since Linux 4.13 each descriptor reports that itself.)
      try syncs.check()
      try checkPlace()
      targets.didCommit()
      namespaces.didCommit()
      checkpoints.didCommit()
      heedCheckpoints()
      return result
    } catch {
      syncs.note(error)
      targets.didRollBack()
      namespaces.didRollBack()
      counts.forget()
      unfinished?.forget()
      if error.kind == .full { releaseReserve() }
      throw error
    }
  }

  /// Checks that the store's files are in their place.
  func checkPlace() throws(StoreError) {
    do throws(StoreError) {
      try place.check()
    } catch {
      if !isMisplaced { notices.post(.misplaced(error)) }
      isMisplaced = true
      throw error
    }
    if isMisplaced { notices.post(.misplaced(nil)) }
    isMisplaced = false
  }

  /// Releases the reserve if a checkpoint has found no space to move pages to.
  func heedCheckpoints() {
    if checkpoints.takeDiskFull() { releaseReserve() }
  }

  /// Releases the reserve for accepted calls and retention.
  private func releaseReserve() {
    guard reserve.release() else { return }
    notices.post(.shortage(true))
    // The log can then start again at its beginning, in its existing space.
    checkpoints.moveAll()
  }

  /// Takes the reserve again if there is room, once nothing is left to remove or to give back.
  func takeReserve() {
    guard reserve.isMissing else { return }
    checkpoints.moveAll(cuttingLog: true)
    heedCheckpoints()
    if reserve.take() { notices.post(.shortage(false)) }
  }

  /// Removes a call with all its data, if it exists.
  func remove(_ id: CallID) throws(StoreError) {
    try attemptChanges.remove(of: id)
    try labels.remove(try changes.remove(id), of: id)
    try keys.remove(of: id)
    try retries.remove(of: id)
  }

  /// Erases a call's payloads: from the tables, and from the file with the next checkpoint, because SQLite overwrites
  /// deleted data with zeros. Rows of payloads are always appended, so no page is split and leaves a copy of them.
  /// But if calls in between are removed, pages may be merged, and then a copy can remain (see docs/calls.md).
  private func erase(_ id: CallID, leaving spec: CallSpec) throws(StoreError) {
    if spec.labels.isEmpty { try labels.remove(try changes.labels(of: id), of: id) }
    try changes.erase(id, leaving: spec)
    try attemptChanges.erase(of: id)
  }

  /// A call; with its attempts and retries, if its webhook will contain them.
  func read(_ id: CallID, namespace: Int64? = nil) throws(StoreError) -> CallRows.Found? {
    let found = try rows.call(id, namespace: namespace)
    guard case .intact(var call) = found else { return found }
    if call.spec.callback != nil { call.retries = try retries.retries(of: id) }
    if call.spec.callback != nil, call.progress.attempts > 0 {
      switch try attemptRows.attempts(of: id, responses: .none) {
      case .success(let attempts): call.history = attempts
      case .failure(let damage): return .damaged(damage)
      }
    }
    return .intact(call)
  }
}
