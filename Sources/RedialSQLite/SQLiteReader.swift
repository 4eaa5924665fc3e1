package import RedialStore
package import RedialCore
package import RedialModel

/// Reads the calls in a ``SQLiteStore``'s file, on its own connections: readers never wait for the writer, nor the
/// writer for readers.
package final class SQLiteReader: CallReader {
  /// The default number of connections.
  package static let defaultConnections = 4
  /// The maximum size of a client's body that is read with the call, in bytes; ``StoredBodies`` reads larger ones from
  /// the store.
  package static let largestHeldBody = 32 * 1024

  /// How many threads it serves at a time.
  package let connections: Int
  private let pool: ConnectionPool<ReadConnection>
  /// Changes that are not in the tables yet; nil if none are read.
  private let log: LogView?
  private let vault: Vault

  /// Opens connections to an open store.
  ///
  /// - Parameters:
  ///   - connections: How many threads are served at a time, 1 or more; others wait.
  ///   - redaction: Hides parts of URLs; a search by a part of the URL does not find them.
  ///   - vault: Opens what is sealed, without an open store.
  ///   - store: The open store of this file. Without it, changes are seen only when they are in the tables of calls, which
  ///     takes seconds.
  package init(
    path: String, connections: Int = SQLiteReader.defaultConnections, redaction: Redaction = Redaction(),
    vault: Vault = .none, beside store: SQLiteStore? = nil
  ) throws(StoreError) {
    let vault = store?.vault ?? vault
    self.vault = vault
    log = store?.log.view
    self.connections = max(1, connections)
    if store == nil, vault !== Vault.none {
      vault.read { () throws(StoreError) in try StoredDataKeys.read(path) }
    }
    pool = try ConnectionPool(connections) { () throws(StoreError) in
      try ReadConnection(path: path, redaction: redaction, vault)
    }
  }

  /// A call with all its attempts; with the responses of all of them, or only of the last.
  package func call(_ id: CallID, in namespace: Namespace?, allResponses: Bool) throws(StoreError) -> StoredCall? {
    try call(id, in: namespace, responses: allResponses ? .all : .last)
  }

  /// A call from the log, or from the tables, or from both.
  private func call(
    _ id: CallID, in namespace: Namespace?, responses: AttemptRows.Responses
  ) throws(StoreError) -> StoredCall? {
    while true {
      let (logged, folds) = log?.call(id) ?? (nil, 0)
      if let record = logged?.record {
        if let damage = logged?.new?.damage { throw damage.of(id).error }
        guard namespace == nil || namespace == record.spec.namespace else { return nil }
        return StoredCall(record: record, attempts: try attempts(of: record, logged, after: [], responses))
      }
      let found = try withConnection { connection throws(StoreError) in
        try connection.call(id, in: namespace, responses: responses)
      }
      // What was folded meanwhile may be in both, or was missed in both.
      if let log, logged != nil || found == nil, log.folds != folds { continue }
      guard var call = found, let logged else { return found }
      call.record.progress = logged.progress
      call.attempts = try attempts(of: call.record, logged, after: call.attempts, responses)
      return call
    }
  }

  private func attempts(
    of call: CallRecord, _ logged: LoggedCalls.Call?, after stored: [AttemptRecord], _ responses: AttemptRows.Responses
  ) throws(StoreError) -> [AttemptRecord] {
    do throws(AttemptDamage) {
      return try logged?.attempts(of: call.id, after: stored, responses, vault) ?? stored
    } catch {
      throw error.of(call.id).of(call.spec).error
    }
  }

  /// The attempts of a call, the newest last, with all responses or only their heads; nil if there is no such call.
  package func attempts(
    of id: CallID, in namespace: Namespace, withBodies: Bool
  ) throws(StoreError) -> [AttemptRecord]? {
    try call(id, in: namespace, responses: withBodies ? .all : .heads)?.attempts
  }

  /// Calls by their ids, in that order, without bodies and attempts.
  package func records(of ids: [CallID]) throws(StoreError) -> [Result<CallRecord, StoreError>?] {
    try withLog { connection, logged throws(StoreError) in try connection.records(of: ids, logged) }
  }

  /// The keys with these names that have not expired, in that order.
  package func keys(_ names: [IdempotencyName], at now: Timestamp) throws(StoreError) -> [KeyRecord?] {
    try withLog { connection, logged throws(StoreError) in try connection.keys(names, logged, at: now) }
  }

  /// Those of some calls that have ended.
  package func ended(among ids: [CallID]) throws(StoreError) -> [CallID] {
    try records(of: ids).compactMap { found in
      guard case .success(let record)? = found, record.progress.state.isFinal else { return nil }
      return record.id
    }
  }

  /// Calls without bodies, newest first. One that cannot be read is listed with an empty URL.
  package func calls(_ query: CallQuery) throws(StoreError) -> CallPage<StoredCall> {
    try withLog { connection, logged throws(StoreError) in try connection.calls(query, logged) }
  }

  /// A value of the service, stored under a name.
  package func setting(_ name: String) throws(StoreError) -> String? {
    try withConnection { connection throws(StoreError) in try connection.settings.value(of: name) }
  }

  package func documents(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] {
    try withConnection { connection throws(StoreError) in try connection.documents.all(kind) }
  }

  package func documents(
    _ kind: StoredDocument.Kind, in ids: Range<String>, limit: Int
  ) throws(StoreError) -> [StoredDocument] {
    try withConnection { connection throws(StoreError) in
      try connection.documents.some(kind, in: ids, limit: limit)
    }
  }

  /// The ids of calls, newest first.
  package func ids(_ query: CallQuery) throws(StoreError) -> CallPage<CallID> {
    try withLog { connection, logged throws(StoreError) in try connection.ids(query, logged) }
  }

  /// How many calls in no engine's memory wait, by target and reason, up to a limit.
  package func backlog(
    of target: TargetKey?, in namespace: Namespace, limit: Int
  ) throws(StoreError) -> StoredBacklog {
    try withConnection { connection throws(StoreError) in
      try connection.backlog(of: target, in: namespace, limit: limit)
    }
  }

  /// The size of the store, and the number of finished calls in it.
  package func usage() throws(StoreError) -> StoreUsage {
    try withLog { connection, logged throws(StoreError) in
      var usage = try connection.usage.usage()
      usage.finished = logged.finished(with: usage.finished)
      return usage
    }
  }

  /// The results of a namespace's calls and attempts, by step, from a time on.
  package func statistics(
    of namespace: Namespace, by step: StatisticsStep, from time: Timestamp
  ) throws(StoreError) -> [(start: Timestamp, tally: CallTally)] {
    try withConnection { connection throws(StoreError) in
      try connection.statistics(of: namespace, by: step, from: time)
    }
  }

  /// The groups of failed calls of a namespace, those with the most calls first.
  package func failed(_ query: FailedQuery) throws(StoreError) -> [FailedCalls] {
    try withLog { connection, logged throws(StoreError) in try connection.failed(query, logged) }
  }

  /// Overdue work.
  package func lateness(at now: Timestamp) throws(StoreError) -> LateCalls {
    try withLog { connection, logged throws(StoreError) in try connection.lateness(at: now, logged) }
  }

  /// How many calls there are up to two places.
  func rekeyProgress(_ place: Int64, _ last: Int64) throws(StoreError) -> RekeyProgress {
    try withConnection { connection throws(StoreError) in
      let sql = "SELECT count(*) FROM requests WHERE id <= "
      let done = try connection.connection.value("count the calls", sql + "\(place)") { Int($0.integer(0)) }
      let all = try connection.connection.value("count the calls", sql + "\(last)") { Int($0.integer(0)) }
      return RekeyProgress(done: done ?? 0, all: all ?? 0)
    }
  }

  /// Throws if the store does not work.
  package func ping() throws(StoreError) {
    try withConnection { connection throws(StoreError) in try connection.ping() }
  }

  /// Reads what the log has, and then the tables.
  private func withLog<Result>(
    _ body: (ReadConnection, LoggedCalls) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let logged = log?.all ?? LoggedCalls()
    return try withConnection { connection throws(StoreError) in try body(connection, logged) }
  }

  private func withConnection<Result>(
    _ body: (ReadConnection) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try pool.withConnection(body)
  }

  /// SQLite's plans for the queries so far, on the connection that is used next.
  func plans() throws(StoreError) -> [(sql: String, steps: [String])] {
    try withConnection { connection throws(StoreError) in try connection.connection.plans() }
  }
}

/// One connection and its queries. Each query sees one moment of the store, however many rows it reads.
///
/// Sendable without the compiler's proof: the pool of `SQLiteReader` creates an instance and lends it to one thread at
/// a time, which owns it.
private final class ReadConnection: LentConnection, @unchecked Sendable {
  let connection: SQLiteConnection
  let settings: SettingTable
  let usage: UsageQueries
  let documents: DocumentTable
  private let tallies: StatisticsTable
  private let timely: TimelinessQueries
  private let failures: FailureQueries
  private let waiting: BacklogQueries
  private let rows: CallRows
  private let rowsWithoutBodies: CallRows
  private let attempts: AttemptRows
  private let retries: RetryTable
  private let keys: KeyTable
  private let listing: CallListing
  private let redaction: Redaction
  private let namespaces: NamespaceTable
  private let findTarget: SQLiteStatement
  private let pingStatement: SQLiteStatement
  private let inTransaction: Transaction

  init(path: String, redaction: Redaction, _ vault: Vault) throws(StoreError) {
    let connection = try SQLiteConnection(path: path, role: .reader, vault: vault)
    try Schema.openForReading(connection)
    self.connection = connection
    self.redaction = redaction
    settings = try SettingTable(on: connection)
    usage = try UsageQueries(on: connection)
    documents = try DocumentTable(on: connection)
    tallies = try StatisticsTable(on: connection)
    timely = try TimelinessQueries(on: connection)
    failures = try FailureQueries(on: connection)
    waiting = try BacklogQueries(on: connection)
    rows = try CallRows(on: connection, bodies: true, largest: SQLiteReader.largestHeldBody)
    rowsWithoutBodies = try CallRows(on: connection, bodies: false)
    attempts = try AttemptRows(on: connection)
    retries = try RetryTable(on: connection)
    keys = try KeyTable(on: connection)
    listing = try CallListing(on: connection, redaction: redaction, attempts: attempts)
    namespaces = try NamespaceTable(on: connection)
    findTarget = try connection.prepare("find a target", "SELECT id FROM targets WHERE key = ?1")
    pingStatement = try connection.prepare("reach the store", "SELECT max(id) FROM calls")
    inTransaction = try Transaction(on: connection, role: .reader)
  }

  func lend() { connection.lend() }

  func call(
    _ id: CallID, in namespace: Namespace?, responses: AttemptRows.Responses
  ) throws(StoreError) -> StoredCall? {
    try inTransaction { () throws(StoreError) in
      var number: Int64?
      if let namespace {
        // A namespace without calls has no such id. The query still runs, so that it takes as long as for any other.
        number = try namespaces.find(namespace) ?? -1
      }
      switch try rows.call(id, namespace: number) {
      case nil: return nil
      case .damaged(let call): throw call.error
      case .intact(var record):
        switch try retries.retries(of: id) {
        case .success(let retries): record.retries = retries
        case .failure(let damage): throw damage.of(record.spec).error
        }
        switch try attempts.attempts(of: id, responses: responses) {
        case .success(let attempts): return StoredCall(record: record, attempts: attempts)
        case .failure(let damage): throw damage.of(record.spec).error
        }
      }
    }
  }

  func records(
    of ids: [CallID], _ logged: LoggedCalls
  ) throws(StoreError) -> [Result<CallRecord, StoreError>?] {
    try inTransaction { () throws(StoreError) in
      let listed = self.listed(logged)
      var records: [Result<CallRecord, StoreError>?] = []
      records.reserveCapacity(ids.count)
      for id in ids {
        switch try listed.record(id) {
        case nil: records.append(nil)
        case .damaged(let call): records.append(.failure(call.error))
        case .intact(let record): records.append(.success(record))
        }
      }
      return records
    }
  }

  func keys(
    _ names: [IdempotencyName], _ logged: LoggedCalls, at now: Timestamp
  ) throws(StoreError) -> [KeyRecord?] {
    try inTransaction { () throws(StoreError) in
      var found: [KeyRecord?] = []
      found.reserveCapacity(names.count)
      for name in names {
        if let last = logged.key(name), last.expiresAt > now {
          found.append(last)
        } else {
          found.append(try keys.find(name, at: now))
        }
      }
      return found
    }
  }

  func calls(_ query: CallQuery, _ logged: LoggedCalls) throws(StoreError) -> CallPage<StoredCall> {
    try inTransaction { () throws(StoreError) in
      let listed = self.listed(logged)
      let found = try listed.page(query, try identities(query))
      var calls: [StoredCall] = []
      for id in found.calls {
        switch try listed.record(id) {
        case nil:
          calls.append(
            DamagedCall(id: id, reason: "an index names it and the table lacks it").standIn(for: query.filter))
        case .damaged(let call): calls.append(call.standIn(for: query.filter))
        case .intact(let record):
          calls.append(StoredCall(record: record, attempts: [], last: try listed.lastAnswer(of: record)))
        }
      }
      return CallPage(calls: calls, next: found.next)
    }
  }

  func ids(_ query: CallQuery, _ logged: LoggedCalls) throws(StoreError) -> CallPage<CallID> {
    try inTransaction { () throws(StoreError) in try listed(logged).page(query, try identities(query)) }
  }

  private func listed(_ logged: LoggedCalls) -> LoggedListing {
    LoggedListing(logged: logged, rows: rowsWithoutBodies, attempts: attempts, redaction: redaction)
  }

  /// The ids of the selected calls; nil if there is no such namespace or target.
  private func identities(_ query: CallQuery) throws(StoreError) -> CallPage<CallID>? {
    guard let namespace = try namespaces.find(query.filter.namespace) else { return nil }
    var targetID: Int64?
    if let target = query.filter.target {
      findTarget.bind(1, key: TargetKey(target, in: query.filter.namespace))
      targetID = try findTarget.first { row throws(StoreError) in row.integer(0) }
      if targetID == nil { return nil }
    }
    return try listing.ids(query, namespace: namespace, targetID: targetID)
  }

  func backlog(of target: TargetKey?, in namespace: Namespace, limit: Int) throws(StoreError) -> StoredBacklog {
    try inTransaction { () throws(StoreError) in
      guard let number = try namespaces.find(namespace) else { return StoredBacklog(isComplete: true) }
      guard let target else { return try waiting.backlog(of: nil, in: number, limit: limit) }
      findTarget.bind(1, key: target)
      guard let id = try findTarget.first({ row throws(StoreError) in row.integer(0) }) else {
        return StoredBacklog(isComplete: true)
      }
      return try waiting.backlog(of: id, in: number, limit: limit)
    }
  }

  func statistics(
    of namespace: Namespace, by step: StatisticsStep, from time: Timestamp
  ) throws(StoreError) -> [(start: Timestamp, tally: CallTally)] {
    try inTransaction { () throws(StoreError) in
      guard let number = try namespaces.find(namespace) else { return [] }
      return try tallies.steps(step, from: time, namespace: number)
    }
  }

  func failed(_ query: FailedQuery, _ logged: LoggedCalls) throws(StoreError) -> [FailedCalls] {
    try inTransaction { () throws(StoreError) in
      let listed = self.listed(logged)
      var added: [(id: CallID, issue: IssueID, at: Timestamp)] = []
      for (id, call) in logged.calls {
        guard let issue = call.progress.issue, let end = call.progress.finishedAt,
          // A call that was folded since is in the tables, as it is now.
          try !failures.isCounted(id, isNew: call.new != nil, issue),
          case .intact(let record)? = try listed.record(id), record.spec.namespace == query.namespace
        else { continue }
        added.append((id, issue, end))
      }
      return try failures.groups(query, namespace: try namespaces.find(query.namespace), logged: added)
    }
  }

  func lateness(at now: Timestamp, _ logged: LoggedCalls) throws(StoreError) -> LateCalls {
    try inTransaction { () throws(StoreError) in try timely.late(at: now, logged) }
  }

  func ping() throws(StoreError) {
    _ = try pingStatement.first { row throws(StoreError) in row.integer(0) }
  }
}
