package import RedialCore
package import RedialModel
package import RedialStore

/// Reads the calls in a ``PostgresStore``'s database, on its own connections.
package final class PostgresReader: CallReader {
  /// The default number of connections.
  package static let defaultConnections = 4
  /// The maximum size of a client's body that is read with the call, in bytes.
  package static let largestHeldBody = 32 * 1024

  private let settings: PostgresSettings
  /// How many threads it serves at a time; others wait.
  package let connections: Int
  let redaction: Redaction
  private let pool: ConnectionPool<SideConnection>

  /// A reader; its connections are made when they are needed.
  ///
  /// - Parameters:
  ///   - connections: How many threads are served at a time, 1 or more; others wait.
  ///   - redaction: Hides parts of URLs; a search by a part of the URL does not find them.
  package init(
    _ settings: PostgresSettings, connections: Int = PostgresReader.defaultConnections,
    redaction: Redaction = Redaction()
  ) throws(StoreError) {
    StoredDataKeys.prepare(settings)
    self.settings = settings
    self.redaction = redaction
    self.connections = max(1, connections)
    pool = try ConnectionPool(connections) { () throws(StoreError) in SideConnection(settings) }
  }

  // MARK: Calls

  /// A call with all its attempts; with the responses of all of them, or only of the last.
  package func call(_ id: CallID, in namespace: Namespace?, allResponses: Bool) throws(StoreError) -> StoredCall? {
    try call(id, in: namespace, responses: allResponses ? 2 : 1)
  }

  /// The attempts of a call, the newest last, with all responses or only their heads; nil if there is no such call.
  package func attempts(
    of id: CallID, in namespace: Namespace, withBodies: Bool
  ) throws(StoreError) -> [AttemptRecord]? {
    try call(id, in: namespace, responses: withBodies ? 2 : 3)?.attempts
  }

  private func call(_ id: CallID, in namespace: Namespace?, responses: Int64) throws(StoreError) -> StoredCall? {
    var (call, attempts) = (PostgresStatement(ReadQueries.call), PostgresStatement(ReadQueries.attempts))
    var retries = PostgresStatement(ReadQueries.retries)
    call.add(Int64(Self.largestHeldBody))
    call.add(id.rawValue)
    call.add(text: namespace?.name)
    attempts.add(id.rawValue)
    attempts.add(responses)
    retries.add(id.rawValue)
    let rows = try run([call, attempts, retries])
    guard rows[0].count > 0 else { return nil }
    var record: CallRecord
    switch CallColumns.read(rows[0], 0) {
    case .failure(let damage): throw damage.error
    case .success(let intact): record = intact
    }
    do throws(DamagedCall) {
      for row in 0..<rows[2].count { record.retries.append(try AttemptColumns.readRetry(rows[2], row).retry.get()) }
    } catch {
      throw error.of(record.spec).error
    }
    var all = try Self.packed(rows[0], of: record, responses, isLast: rows[1].count == 0)
    for row in 0..<rows[1].count {
      switch AttemptColumns.read(rows[1], row) {
      case .failure(let damage): throw damage.of(record.spec).error
      case .success(let attempt): all.append(attempt)
      }
    }
    return StoredCall(record: record, attempts: all, target: TargetColumn.read(rows[0], 0, of: record.spec.target))
  }

  /// The packed attempts of a call, which come before all others.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - responses: As for ``ReadQueries/attempts``.
  ///   - isLast: Whether the last attempt is one of them.
  private static func packed(
    _ rows: PostgresRows, of call: CallRecord, _ responses: Int64, isLast: Bool
  ) throws(StoreError) -> [AttemptRecord] {
    var all: [AttemptRecord]
    do throws(DamagedCall) {
      all = try PackedColumn.records(
        rows, 0, CallColumns.past, withResponses: responses > 1 || responses == 1 && isLast)
    } catch {
      throw error.of(call.spec).error
    }
    for index in all.indices {
      if responses == 3 { all[index].response?.body = [] }
      if responses == 1, index < all.endIndex - 1 { all[index].response = nil }
    }
    return all
  }

  /// Calls by their ids, in that order, without bodies and attempts.
  package func records(of ids: [CallID]) throws(StoreError) -> [Result<CallRecord, StoreError>?] {
    let found = try results(of: ids, by: ReadQueries.records)
    return ids.map { found[$0].map { $0.map(\.record).mapError(\.error) } }
  }

  /// The keys with these names that have not expired, in that order.
  package func keys(_ names: [IdempotencyName], at now: Timestamp) throws(StoreError) -> [KeyRecord?] {
    guard !names.isEmpty else { return [] }
    var find = PostgresStatement(ClaimQueries.keys)
    find.add(texts: names.map(\.text))
    find.add(now.microseconds)
    return KeyRows.records(of: names, try run([find])[0])
  }

  /// Calls by their ids, without bodies and attempts.
  ///
  /// - Parameter query: ``ReadQueries/records``, or ``ReadQueries/listed`` for what their last attempts came to.
  func results(
    of ids: [CallID], by query: PostgresQuery
  ) throws(StoreError) -> [CallID: Result<StoredCall, DamagedCall>] {
    guard !ids.isEmpty else { return [:] }
    var select = PostgresStatement(query)
    select.add(ids.map(\.rawValue))
    let rows = try run([select])[0]
    var found: [CallID: Result<StoredCall, DamagedCall>] = [:]
    for row in 0..<rows.count {
      found[CallID(rawValue: rows.integer(row, 0))] = CallColumns.read(rows, row).map {
        StoredCall(
          record: $0, attempts: [], last: query.name == ReadQueries.listed.name ? Self.lastAnswer(rows, row) : nil,
          target: TargetColumn.read(rows, row, of: $0.spec.target))
      }
    }
    return found
  }

  /// What the last attempt came to, in a row of ``ReadQueries/listed``. Damaged attempts came to nothing that is known.
  private static func lastAnswer(_ rows: PostgresRows, _ row: Int) -> LastAnswer {
    let status = CallColumns.past + 2
    if let answered = rows.integerIfPresent(row, status) { return LastAnswer(status: Int(answered), error: nil) }
    if !rows.isNull(row, status + 1) { return LastAnswer(status: nil, error: rows.text(row, status + 1)) }
    let packed = try? PackedColumn.stored(rows, row, CallColumns.past)
    return LastAnswer(status: nil, error: packed?.last?.failure?.code)
  }

  // MARK: Waiting calls

  /// How many calls in no engine's memory wait, by target and reason, up to a limit.
  package func backlog(
    of target: TargetKey?, in namespace: Namespace, limit: Int
  ) throws(StoreError) -> StoredBacklog {
    var backlog = StoredBacklog(isComplete: true)
    let number = if let target { try number(of: target) } else { try number(of: namespace) }
    guard let place = number else { return backlog }
    var select = PostgresStatement(target == nil ? ReadQueries.waiting : ReadQueries.waitingOfTarget)
    select.add(place)
    // One more than the limit shows whether there are more.
    select.add(Int64(limit) + 1)
    let rows = try run([select])[0]
    var left = [limit, limit]
    for row in 0..<rows.count {
      let part = Int(rows.integer(row, 3))
      let count = min(Int(rows.integer(row, 2)), left[part])
      if count < Int(rows.integer(row, 2)) { backlog.isComplete = false }
      left[part] -= count
      guard let reason = rows.code(row, 1, as: WaitReason.self) else {
        backlog.isComplete = false
        continue
      }
      if count > 0 { backlog.counts.append((rows.key(row, 0), reason, count)) }
    }
    return backlog
  }

  // MARK: Counts

  /// The size of the tables with their indexes, and the number of finished calls.
  package func usage() throws(StoreError) -> StoreUsage {
    UsageQueries.usage(try run(UsageQueries.statements))
  }

  /// The results of a namespace's calls and attempts, by step, from a time on.
  package func statistics(
    of namespace: Namespace, by step: StatisticsStep, from time: Timestamp
  ) throws(StoreError) -> [(start: Timestamp, tally: CallTally)] {
    var select = PostgresStatement(ReadQueries.statistics)
    select.add(text: namespace.name)
    select.add(step.rawValue)
    select.add(time.microseconds)
    let rows = try run([select])[0]
    var steps: [(start: Int64, numbers: [Int64])] = []
    for row in 0..<rows.count {
      if steps.last?.start != rows.integer(row, 0) { steps.append((rows.integer(row, 0), [])) }
      steps[steps.count - 1].numbers.append(rows.integer(row, 2))
    }
    return steps.map { (Timestamp(microseconds: $0.start), CallTally(numbers: $0.numbers) ?? CallTally()) }
  }

  /// The groups of failed calls of a namespace, those with the most calls first.
  package func failed(_ query: FailedQuery) throws(StoreError) -> [FailedCalls] {
    var groups = FailureQueries.groups(try run([FailureQueries.groups(query)])[0])
    FailureQueries.add(try run([FailureQueries.hours(of: groups, query)])[0], to: &groups)
    return query.first(groups)
  }

  /// Overdue work.
  package func lateness(at now: Timestamp) throws(StoreError) -> LateCalls {
    let lateness = Lateness(at: now)
    return LatenessQueries.late(try run(LatenessQueries.statements(lateness)), lateness)
  }

  /// Throws if the store does not work.
  package func ping() throws(StoreError) {
    _ = try run([PostgresStatement(ReadQueries.ping)])
  }

  /// The database, for messages.
  var place: String { settings.place }

  /// Makes statements in one transaction, and returns the rows of each.
  func run(_ statements: [PostgresStatement]) throws(StoreError) -> [PostgresRows] {
    try pool.withConnection { connection throws(StoreError) in try connection.run(statements) }
  }
}
