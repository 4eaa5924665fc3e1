internal import RedialCore
internal import RedialModel
internal import RedialStore

/// Makes the statements of a commit from its changes. It decides and encodes; nothing is sent here.
struct CommitStatements {
  /// The numbers by which tables name targets and namespaces.
  struct Numbers {
    var targets: [TargetKey: Int64] = [:]
    var namespaces: [Namespace: Int64] = [.default: 0]
    /// The server that gave them (``Greeting/server``); nil for none. A server that has taken over, and lacks the last commits,
    /// may give the same numbers to others.
    var server: Int64?
  }

  /// Which payloads are kept, and how.
  let payloads: PayloadRule
  /// Seals what is stored.
  let vault: Vault
  /// That the data keys are in use by which it does.
  var proof: [PostgresStatement] = []
  /// All numbers that the changes need.
  let numbers: Numbers
  /// The shards of this instance, as far as it knows.
  let shards: ShardSet

  /// The fence, which must be the first statement of all that changes something.
  static var fence: PostgresStatement {
    var fence = PostgresStatement(CommitQueries.fence)
    fence.addSession()
    fence.addConnection()
    fence.addSequence()
    return fence
  }

  /// How many expired keys are removed with each new one, so that the table shrinks without a pause.
  private static let sweep: Int64 = 8

  /// The statements, in order, without the fence.
  ///
  /// - Throws: If there is a secret that cannot be sealed.
  func statements(_ writes: FoldedWrites) throws(StoreError) -> [PostgresStatement] {
    for change in writes.changes { if let call = change.inserted { try vault.check(call.spec) } }
    for other in writes.others {
      switch other {
      case .put(let document), .add(let document): try vault.check(document)
      default: break
      }
    }
    var all: [PostgresStatement] = []
    if !writes.discarded.isEmpty { all += discards(writes.discarded) }
    all += inserts(writes)
    let changes = writes.changes.map { (change: $0, past: PackedColumn.packed($0, payloads, vault)) }
    all += updates(changes)
    all += attempts(changes.filter { $0.past == nil }.map(\.change))
    all += keys(writes)
    all += try targets(writes)
    all += retries(writes)
    all += erasures(writes)
    all += turns(writes)
    all += lateEnds(writes)
    for other in writes.others { all += ServiceStatements.statements(other, numbers, vault) }
    all += proof
    let kinds = Set(writes.others.compactMap { ServiceStatements.kind(of: $0) })
    // All instances change this row: it is the last, so that they wait for each other only as long as an fsync.
    if !kinds.isEmpty { all.append(ServiceStatements.raise(kinds)) }
    return all
  }

  /// The statement that brings calls back which have ended, if the changes are of such calls.
  func revival(_ writes: FoldedWrites) -> PostgresStatement? {
    let ids = writes.changes.filter { $0.progress != nil }.map(\.id.rawValue)
    guard !ids.isEmpty else { return nil }
    var statement = PostgresStatement(CommitQueries.revive)
    statement.add(ids)
    return statement
  }

  // MARK: Calls

  private func discards(_ ids: [CallID]) -> [PostgresStatement] {
    let ids = ids.map(\.rawValue)
    var discard = PostgresStatement(CommitQueries.discard)
    discard.add(ids)
    discard.addSession()
    return [discard] + CommitQueries.removeRemains.map { Self.one($0, ids) }
  }

  private func inserts(_ writes: FoldedWrites) -> [PostgresStatement] {
    let new = writes.changes.filter { $0.inserted != nil }
    guard !new.isEmpty else { return [] }
    let own = new.filter { shards.contains(target: $0.target) }
    let foreign = own.count == new.count ? [] : new.filter { !shards.contains(target: $0.target) }
    var all: [PostgresStatement] = []
    if !own.isEmpty {
      all += requests(of: own, by: CommitQueries.insertRequests)
      let (live, done) = (own.filter { !$0.isEnded }, own.filter(\.isEnded))
      if !live.isEmpty { all.append(calls(live, by: CommitQueries.insertLive)) }
      if !done.isEmpty { all.append(calls(done, by: CommitQueries.insertDone)) }
    }
    if !foreign.isEmpty {
      // The request first, as an owner does: whoever is second waits there for the first, and then sees its call.
      all += requests(of: foreign, by: CommitQueries.insertForeignRequests)
      all.append(calls(foreign, by: CommitQueries.insertForeign))
    }
    if let labels = labels(of: new) { all.append(labels) }
    return all
  }

  /// The maximum size of the payloads in one statement, in bytes; one larger payload is in a statement of its own. The server
  /// refuses messages of 1 GiB, and needs several times the size of each in memory.
  static let mostBytes = 8 << 20

  /// Divides rows into pieces whose sizes have a bound.
  static func pieces<Row>(_ rows: [Row], size: (Row) -> Int) -> [ArraySlice<Row>] {
    var (all, start, bytes): ([ArraySlice<Row>], Int, Int) = ([], 0, 0)
    for index in rows.indices {
      let more = size(rows[index])
      if index > start, bytes + more > mostBytes {
        all.append(rows[start..<index])
        (start, bytes) = (index, 0)
      }
      bytes += more
    }
    if start < rows.count { all.append(rows[start...]) }
    return all
  }

  private func requests(of new: [FoldedWrites.Change], by query: PostgresQuery) -> [PostgresStatement] {
    Self.pieces(new) { $0.inserted?.content.size ?? 0 }.map { requests(of: $0, by: query) }
  }

  private func requests(of new: ArraySlice<FoldedWrites.Change>, by query: PostgresQuery) -> PostgresStatement {
    var (ids, specs, bodies, sizes, sums): ([Int64], [[UInt8]?], [[UInt8]?], [Int64?], [Int64]) = ([], [], [], [], [])
    for change in new {
      guard let call = change.inserted else { continue }
      let request = StoredRequest(call, compressMinBytes: payloads.compressMinBytes, vault)
      ids.append(call.id.rawValue)
      specs.append(request.spec)
      bodies.append(request.body)
      sizes.append(request.inflatedSize)
      sums.append(request.sums(of: call.id).column)
    }
    var statement = PostgresStatement(query)
    statement.add(ids)
    statement.add(byteStrings: specs)
    statement.add(byteStrings: bodies)
    statement.add(sizes)
    statement.add(sums)
    return statement
  }

  private func calls(_ changes: [FoldedWrites.Change], by query: PostgresQuery) -> PostgresStatement {
    var statement = PostgresStatement(query)
    statement.add(changes, as: .newCall) { change, row in
      guard let call = change.inserted else { return }
      row.add(call.id.rawValue)
      row.add(Int64(ShardSet.shard(of: call.spec.target)))
      row.add(numbers.namespaces[call.spec.namespace] ?? 0)
      row.add(Int64(call.kind.rawValue))
      row.add(numbers.targets[call.spec.target] ?? 0)
      row.add(call.createdAt.microseconds)
      row.add(Int64(call.spec.priority))
      row.add(call.spec.callback == nil ? 0 : 1)
      Self.add(call.progress, last: change.last, to: &row)
    }
    return statement
  }

  /// Adds a call's progress: state, due time, reason, counts, times, end, and the last attempt.
  private static func add(_ progress: CallProgress, last: AttemptRecord?, to row: inout RowFields) {
    let place = StoredPlace(progress)
    row.add(place.state)
    row.add(progress.due.microseconds)
    row.add(place.waiting)
    row.add(Int64(progress.attempts))
    row.add(Int64(progress.interruptions))
    row.add(Int64(progress.attemptsBefore))
    row.add(progress.roundStartedAt.microseconds)
    row.add(progress.waits.previous.wholeMicroseconds)
    row.add(progress.waits.total.wholeMicroseconds)
    row.add(progress.finishedAt?.microseconds)
    row.add(progress.failureCode?.rawValue)
    row.add(last.map { Int64($0.outcome.rawValue) })
    row.add(last?.status.map { Int64($0) })
  }

  private func updates(_ changes: [(change: FoldedWrites.Change, past: [UInt8]?)]) -> [PostgresStatement] {
    let changed = changes.filter { $0.change.progress != nil }
    return [false, true].compactMap { ends in
      let some = changed.filter { $0.change.isEnded == ends }
      guard !some.isEmpty else { return nil }
      var statement = PostgresStatement(ends ? CommitQueries.end : CommitQueries.update)
      statement.add(some, as: .progress) { changed, row in
        guard let progress = changed.change.progress else { return }
        row.add(changed.change.id.rawValue)
        Self.add(progress, last: changed.change.last, to: &row)
        row.add(bytes: changed.past)
      }
      statement.add(Int64(some.count))
      return statement
    }
  }

  private func attempts(_ changes: [FoldedWrites.Change]) -> [PostgresStatement] {
    let new = changes.flatMap { change in change.attempts.map { (id: change.id, attempt: $0) } }
    return Self.pieces(new) { $0.attempt.response?.body.count ?? 0 }.flatMap { attempts($0) }
  }

  private func attempts(_ all: ArraySlice<(id: CallID, attempt: AttemptRecord)>) -> [PostgresStatement] {
    let new = all.map {
      (id: $0.id, attempt: StoredAttempt($0.attempt, of: $0.id, compressMinBytes: payloads.compressMinBytes, vault))
    }
    var statement = PostgresStatement(CommitQueries.insertAttempts)
    statement.add(new.map(\.id.rawValue))
    statement.add(new.map(\.attempt.number))
    statement.add(new.map(\.attempt.startedAt))
    statement.add(new.map(\.attempt.duration))
    statement.add(new.map(\.attempt.outcome))
    statement.add(new.map(\.attempt.status))
    statement.add(new.map(\.attempt.response?.flags))
    statement.add(new.map(\.attempt.response?.inflatedSize))
    statement.add(texts: new.map(\.attempt.failure?.code))
    statement.add(texts: new.map(\.attempt.failure?.message))
    statement.add(byteStrings: new.map(\.attempt.decision))
    statement.add(byteStrings: new.map { $0.attempt.response?.head ?? [] })
    statement.add(byteStrings: new.map { $0.attempt.response?.body ?? [] })
    statement.add(byteStrings: new.map(\.attempt.figures))
    let sums = new.map { AttemptSums($0.attempt, of: $0.id) }
    statement.add(sums.map(\.sum))
    statement.add(sums.map(\.response))
    return [statement] + forgetting(new.map { (id: $0.id, number: Int($0.attempt.number) - payloads.keptResponses) })
  }

  /// Forgets the bodies of attempts that are too old to have one.
  private func forgetting(_ attempts: [(id: CallID, number: Int)]) -> [PostgresStatement] {
    let old = attempts.filter { $0.number > 0 }
    guard !old.isEmpty else { return [] }
    var forgetting = PostgresStatement(CommitQueries.forgetBodies)
    forgetting.add(old.map(\.id.rawValue))
    forgetting.add(old.map { Int64($0.number) })
    // Only the first attempt of a call can be a packed one.
    let first = old.filter { $0.number == 1 }.map(\.id.rawValue)
    return [forgetting] + (first.isEmpty ? [] : [Self.one(CommitQueries.forgetPackedBodies, first)])
  }

  // MARK: What belongs to calls

  private func labels(of new: [FoldedWrites.Change]) -> PostgresStatement? {
    var (names, values, ids): ([String?], [String?], [Int64]) = ([], [], [])
    // A webhook's label is its event; nobody searches by it.
    for case let call? in new.map(\.inserted) where call.kind == .call {
      for label in call.spec.labels {
        names.append(LabelName(label.name, in: call.spec.namespace).text)
        values.append(label.value)
        ids.append(call.id.rawValue)
      }
    }
    guard !ids.isEmpty else { return nil }
    var statement = PostgresStatement(CommitQueries.insertLabels)
    statement.add(texts: names)
    statement.add(texts: values)
    statement.add(ids)
    return statement
  }

  private func keys(_ writes: FoldedWrites) -> [PostgresStatement] {
    let keys = writes.keys
    guard let now = keys.map(\.createdAt).max() else { return [] }
    var statement = PostgresStatement(CommitQueries.insertKeys)
    statement.add(texts: keys.map(\.key.name.text))
    statement.add(keys.map(\.call.rawValue))
    statement.add(byteStrings: keys.map(\.key.fingerprint))
    statement.add(keys.map(\.createdAt.microseconds))
    statement.add(keys.map(\.expiresAt.microseconds))
    statement.add(Int64(keys.count))
    statement.add(keys.map(\.checksum.column))
    var sweeping = PostgresStatement(CommitQueries.sweepKeys)
    sweeping.add(now.microseconds)
    sweeping.add(Self.sweep * Int64(keys.count))
    return [statement, sweeping]
  }

  private func retries(_ writes: FoldedWrites) -> [PostgresStatement] {
    let retries = writes.retries
    guard !retries.isEmpty else { return [] }
    var statement = PostgresStatement(CommitQueries.insertRetries)
    statement.add(retries.map(\.id.rawValue))
    statement.add(retries.map(\.retry.at.microseconds))
    statement.add(retries.map { Int64($0.retry.afterAttempt) })
    statement.add(texts: retries.map(\.retry.attribution.by))
    statement.add(texts: retries.map(\.retry.attribution.reason))
    statement.add(retries.map { $0.retry.checksum(of: $0.id).column })
    return [statement, Self.one(CommitQueries.removeOldRetries, Array(Set(retries.map(\.id.rawValue))).sorted())]
  }

  private func erasures(_ writes: FoldedWrites) -> [PostgresStatement] {
    let erased = writes.erased
    guard !erased.isEmpty else { return [] }
    var requests = PostgresStatement(CommitQueries.eraseRequests)
    let ids = erased.map(\.id.rawValue)
    let left = erased.map { (id: $0.id, request: StoredRequest(erasedTo: $0.spec, of: $0.id, vault)) }
    requests.add(ids)
    requests.add(byteStrings: left.map(\.request.spec))
    requests.add(left.map { $0.request.sums(of: $0.id).column })
    var all = [
      requests, Self.one(CommitQueries.eraseResponses, ids), Self.one(CommitQueries.erasePackedResponses, ids),
    ]
    let bare = erased.filter { $0.spec.labels.isEmpty }.map(\.id.rawValue)
    if !bare.isEmpty { all.append(Self.one(CommitQueries.removeLabels, bare)) }
    return all
  }

  /// The end of a call may be stored long after it, if the store has failed meanwhile. Payloads of later ends may be erased
  /// by then.
  private func lateEnds(_ writes: FoldedWrites) -> [PostgresStatement] {
    guard let end = writes.firstEnd, PayloadPlace.isLate(end) else { return [] }
    return [Self.goingBack(before: end)]
  }

  /// Goes back to before an end, if payloads of later ones are erased.
  static func goingBack(before end: Timestamp) -> PostgresStatement {
    var back = PostgresStatement(PayloadQueries.goBack)
    back.add(end.microseconds)
    back.add(text: PayloadPlace(before: end).text)
    return back
  }

  private func turns(_ writes: FoldedWrites) -> [PostgresStatement] {
    let (awaited, passed) = (writes.awaited, writes.passed.map(\.rawValue))
    guard !awaited.isEmpty || !passed.isEmpty || !writes.discarded.isEmpty else { return [] }
    var all: [PostgresStatement] = []
    if !awaited.isEmpty {
      var enter = PostgresStatement(TurnQueries.enter)
      enter.add(awaited.map(\.id.rawValue))
      enter.add(awaited.map { numbers.targets[$0.target] ?? 0 })
      enter.add(texts: awaited.map(\.key))
      enter.add(awaited.map { numbers.namespaces[$0.target.namespace] ?? 0 })
      enter.add(awaited.map { Int64(ShardSet.shard(of: $0.target)) })
      enter.addSession()
      let new = Set(writes.changes.lazy.filter { $0.inserted != nil }.map(\.id))
      enter.add(awaited.map { new.contains($0.id) ? 1 : 0 as Int64 })
      all.append(enter)
    }
    for query in [TurnQueries.release, TurnQueries.grant, TurnQueries.leave] {
      var statement = PostgresStatement(query)
      statement.add(passed)
      statement.add(writes.discarded.map(\.rawValue))
      if query.name == TurnQueries.grant.name {
        statement.add(awaited.map(\.id.rawValue))
        statement.addSession()
      }
      all.append(statement)
    }
    return all
  }

  // MARK: Targets

  private func targets(_ writes: FoldedWrites) throws(StoreError) -> [PostgresStatement] {
    guard !writes.records.isEmpty else { return [] }
    let records = Array(writes.records)
    var statement = PostgresStatement(CommitQueries.setRecords)
    statement.add(records.map { numbers.targets[$0.key] ?? 0 })
    statement.add(
      byteStrings: try records.map { key, record throws(StoreError) in
        record == TargetRecord() ? nil : try vault.sealed(record, of: key)
      })
    return [statement]
  }

  private static func one(_ query: PostgresQuery, _ ids: [Int64]) -> PostgresStatement {
    var statement = PostgresStatement(query)
    statement.add(ids)
    return statement
  }
}

extension FoldedWrites.Change {
  /// The target of a new call.
  fileprivate var target: TargetKey { inserted?.spec.target ?? TargetKey("", in: .default) }
  /// Whether the call has ended at the end of the commit.
  fileprivate var isEnded: Bool { (inserted?.progress ?? progress)?.state.isFinal == true }
}
