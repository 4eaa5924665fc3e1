internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Changes `calls` and `requests`.
struct CallChanges {
  private let connection: SQLiteConnection
  private let calls: RowInsertion
  private let requests: RowInsertion
  private let counts: FinishedCounts
  private let updateInMemory: SQLiteStatement
  private let updateUnfinished: SQLiteStatement
  private let updateCall: SQLiteStatement
  private let standing: SQLiteStatement
  private let kindAndSpec: SQLiteStatement
  private let holdCall: SQLiteStatement
  private let failCall: SQLiteStatement
  private let releaseHeld: SQLiteStatement
  private let eraseRequest: SQLiteStatement
  private let removeCall: SQLiteStatement
  private let removeRequest: SQLiteStatement

  /// The state that a held call was claimed from.
  static let stateOfReleased = """
    CASE WHEN waiting IN (\(WaitReason.breaker.rawValue), \(WaitReason.concurrency.rawValue),
      \(WaitReason.ordering.rawValue))
    THEN \(StoredState.queued.rawValue) ELSE \(StoredState.scheduled.rawValue) END
    """

  /// Prepares the statements.
  ///
  /// - Parameter counts: Informed of every call that is added, removed, finished, or continued.
  init(on connection: SQLiteConnection, counts: FinishedCounts) throws(StoreError) {
    self.connection = connection
    self.counts = counts
    calls = try RowInsertion(
      on: connection, "store a call", into: "calls", CallSum.columns + ["sum"])
    requests = try RowInsertion(
      on: connection, "store a call's request", into: "requests",
      ["id", "spec", "body", "body_size", "past", "sums"])
    func update(where condition: String) -> String {
      CallSum.update(
        [
          "state": "?1", "due": "?2", "waiting": "?3", "attempts": "?4", "interruptions": "?5",
          "attempts_before": "?6", "round_started_at": "?7", "finished_at": "?8", "failure": "?9",
          "previous_wait": "?10", "total_wait": "?11",
        ], where: "id = ?12\(condition)")
    }
    // Of the columns that it sets, only the due time and the wait reason are in indexes, and in none that contain calls
    // in memory.
    updateInMemory = try connection.prepare(
      "update a call in memory",
      CallSum.update(
        [
          "due": "?2", "waiting": "?3", "attempts": "?4", "interruptions": "?5", "attempts_before": "?6",
          "round_started_at": "?7", "failure": "?9", "previous_wait": "?10", "total_wait": "?11",
        ], where: "id = ?12 AND state = \(StateColumns.inMemory) AND finished_at IS NULL"))
    updateUnfinished = try connection.prepare(
      "update a call",
      update(where: " AND kind = \(CallKind.call.rawValue) AND state < \(StateColumns.firstFinished)"))
    updateCall = try connection.prepare("update a call", update(where: ""))
    standing = try connection.prepare("see how a call stands", "SELECT kind, state FROM calls WHERE id = ?1")
    kindAndSpec = try connection.prepare(
      "see what a call leaves",
      "SELECT c.kind, c.state, r.spec FROM calls c LEFT JOIN requests r ON r.id = c.id WHERE c.id = ?1")
    holdCall = try connection.prepare(
      "claim a call",
      CallSum.update(
        ["state": "\(StateColumns.inMemory)", "waiting": "nullif(waiting, \(StateColumns.inFlight))"], where: "id = ?1")
    )
    failCall = try connection.prepare(
      "set a damaged call aside",
      CallSum.update(
        [
          "state": "\(StoredState.failed.rawValue)", "finished_at": "coalesce(?2, round_started_at)", "waiting": "NULL",
          "failure": "NULL",
        ], where: "id = ?1"))
    releaseHeld = try connection.prepare(
      "give held calls back",
      CallSum.update(
        ["state": Self.stateOfReleased], where: "\(Conditions.anyKind) AND \(StateColumns.condition(.held))"))
    eraseRequest = try connection.prepare(
      "erase a call's request", "UPDATE requests SET spec = ?2, body = NULL, body_size = NULL, sums = ?3 WHERE id = ?1")
    removeCall = try connection.prepare("remove a call", "DELETE FROM calls WHERE id = ?1")
    removeRequest = try connection.prepare("remove a call's request", "DELETE FROM requests WHERE id = ?1")
  }

  /// Removes a call, if it exists, and returns the labels that it leaves behind.
  func remove(_ id: CallID) throws(StoreError) -> RemovedLabels {
    kindAndSpec.bind(1, id.rawValue)
    let left = try kindAndSpec.first { row throws(StoreError) in
      let kind = row.integer(0)
      counts.moved(kind: kind, from: row.integer(1), to: nil)
      // A webhook's labels are not in the table, because nobody searches by them.
      return kind == Int64(CallKind.webhook.rawValue)
        ? .none : row.withBytes(2) { connection.vault.removedLabels(of: id, spec: $0) }
    }
    for statement in [removeCall, removeRequest] {
      statement.bind(1, id.rawValue)
      try statement.run()
    }
    return left ?? RemovedLabels.none
  }

  func labels(of id: CallID) throws(StoreError) -> RemovedLabels {
    kindAndSpec.bind(1, id.rawValue)
    let labels = try kindAndSpec.first { row throws(StoreError) in
      // A webhook's labels are not in the table, because nobody searches by them.
      row.integer(0) == Int64(CallKind.webhook.rawValue)
        ? .none : row.withBytes(2) { connection.vault.removedLabels(of: id, spec: $0) }
    }
    return labels ?? .none
  }

  /// Erases a call's request, except for its spec.
  func erase(_ id: CallID, leaving spec: CallSpec) throws(StoreError) {
    eraseRequest.bind(1, id.rawValue)
    let left = StoredRequest(erasedTo: spec, of: id, connection.vault)
    eraseRequest.bind(3, left.sums(of: id).column)
    try left.spec.withUnsafeBufferPointer { spec throws(StoreError) in
      eraseRequest.bind(2, bytes: spec)
      try eraseRequest.run()
    }
  }

  /// The largest body that SQLite may copy, in bytes.
  private static let mostCopied = 16 * 1024

  /// Stores new calls, in order.
  ///
  /// - Parameter logged: What the log has of them, if they come from there.
  func insert(_ new: [NewCall], _ logged: [LoggedState]? = nil) throws(StoreError) {
    try calls.insert(Array(new.indices)) { index, statement in
      let (new, progress) = (new[index], logged?[index].progress ?? new[index].call.progress)
      let values =
        Self.values(of: progress) + [
          new.call.id.rawValue, Int64(new.call.kind.rawValue), new.targetID, new.call.createdAt.microseconds,
          Int64(new.call.spec.priority), new.namespace,
        ]
      Self.bind(values, to: statement)
      statement.bind(18, CallSum.sum(of: values).column)
      counts.moved(kind: Int64(new.call.kind.rawValue), to: StateColumns.state(progress.state))
    }
    // What the log has is never large.
    let large = logged == nil ? new.filter { $0.request.body.count > Self.mostCopied } : []
    let small = large.isEmpty ? new : new.filter { $0.request.body.count <= Self.mostCopied }
    try requests.insert(Array(small.indices)) { index, statement in
      let new = small[index]
      statement.bind(1, new.call.id.rawValue)
      statement.bind(2, copying: new.request.spec)
      statement.bind(3, copying: new.request.body)
      statement.bind(4, new.request.inflatedSize)
      if let past = logged?[index].past { statement.bind(5, copying: past) } else { statement.bind(5, nil as Int64?) }
      statement.bind(6, new.request.sums(of: new.call.id).column)
    }
    for new in large { try insertLargeRequest(of: new) }
  }

  private func insertLargeRequest(of new: NewCall) throws(StoreError) {
    try requests.insert { statement, run throws(StoreError) in
      statement.bind(1, new.call.id.rawValue)
      statement.bind(4, new.request.inflatedSize)
      statement.bind(5, nil as Int64?)
      statement.bind(6, new.request.sums(of: new.call.id).column)
      try new.request.spec.withUnsafeBufferPointer { spec throws(StoreError) in
        try new.request.body.withUnsafeBufferPointer { body throws(StoreError) in
          statement.bind(2, bytes: spec)
          statement.bind(3, bytes: body)
          try run()
        }
      }
    }
  }

  /// Stores a call's new progress. A call that does not exist is an error, because its progress would be lost
  /// silently.
  func update(_ id: CallID, _ progress: CallProgress) throws(StoreError) {
    let state = StateColumns.state(progress.state)
    // The start of an attempt, and other changes that leave a call in memory: its counts and indexes do not change.
    if state == StateColumns.inMemory, progress.finishedAt == nil {
      Self.bind(Self.values(of: progress), to: updateInMemory)
      updateInMemory.bind(12, id.rawValue)
      try updateInMemory.run()
      if connection.changes == 1 { return }
    }
    // It is nearly always an unfinished call of a client, so the change of the counts is known without reading it.
    Self.bind(Self.values(of: progress), to: updateUnfinished)
    updateUnfinished.bind(12, id.rawValue)
    try updateUnfinished.run()
    if connection.changes == 1 {
      return counts.moved(kind: Int64(CallKind.call.rawValue), to: state)
    }
    guard let (kind, before) = try stands(id) else { throw missing(id) }
    Self.bind(Self.values(of: progress), to: updateCall)
    updateCall.bind(12, id.rawValue)
    try updateCall.run()
    counts.moved(kind: kind, from: before, to: state)
  }

  /// The error for the progress of a call that does not exist.
  func missing(_ id: CallID) -> StoreError {
    StoreError(
      kind: .corrupt,
      message: "Could not update \(id) in \(connection.path): there is no such call. Nothing was written. "
        + "If rows were deleted by hand, restart Redial so that it forgets them.")
  }

  /// A call's kind and state as stored, which may be damaged; nil if there is no such call.
  func stands(_ id: CallID) throws(StoreError) -> (kind: Int64, state: Int64)? {
    standing.bind(1, id.rawValue)
    return try standing.first { row throws(StoreError) in (row.integer(0), row.integer(1)) }
  }

  /// Whether a call is stored as ended; false for an invalid state.
  func hasEnded(_ id: CallID) throws(StoreError) -> Bool {
    guard let state = try stands(id)?.state else { return false }
    return UInt8(exactly: state).flatMap { StoredState(rawValue: $0) }?.isFinal == true
  }

  /// Sets a call to `held`.
  func hold(_ id: CallID) throws(StoreError) {
    holdCall.bind(1, id.rawValue)
    try holdCall.run()
  }

  /// Sets a call that cannot be read to `failed`, so that no claim finds it again. Its finish time, if none is given,
  /// is the start of its round.
  func setAside(_ id: CallID, at time: Timestamp?) throws(StoreError) {
    if let (kind, state) = try stands(id) {
      counts.moved(kind: kind, from: state, to: Int64(StoredState.failed.rawValue))
    }
    failCall.bind(1, id.rawValue)
    failCall.bind(2, time?.microseconds)
    try failCall.run()
  }

  /// Puts every held call back to where it was claimed from: calls that waited for their target into its queue,
  /// because they would otherwise be due only at their deadline; all others among the scheduled ones.
  func releaseAllHeld() throws(StoreError) {
    try releaseHeld.run()
  }

  /// The first of ``CallSum/columns``.
  private static func values(of progress: CallProgress) -> [Int64?] {
    let columns = StateColumns(progress)
    return [
      columns.state, progress.due.microseconds, columns.waiting, Int64(progress.attempts),
      Int64(progress.interruptions), Int64(progress.attemptsBefore), progress.roundStartedAt.microseconds,
      progress.finishedAt?.microseconds, progress.failureCode?.rawValue, progress.waits.previous.wholeMicroseconds,
      progress.waits.total.wholeMicroseconds,
    ]
  }

  private static func bind(_ values: [Int64?], to statement: SQLiteStatement) {
    for (index, value) in values.enumerated() { statement.bind(Int32(index + 1), value) }
  }
}
