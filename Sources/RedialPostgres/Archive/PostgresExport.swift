internal import RedialCore
package import RedialModel
package import RedialStore

/// Reads a ``PostgresStore``'s database: what is about no call, and the calls by age, some at a time, each time in a snapshot of
/// its own. A long one would keep dead rows from being removed; only a backup has it.
package final class PostgresExport: ArchiveSource {
  /// The maximum number of calls that are looked through in one snapshot.
  private static let batch = 2000
  /// About how many bytes of bodies and responses are read in one snapshot.
  private static let batchBytes: Int64 = 16 << 20
  /// What an attempt counts for, in bytes: as much of a response as is kept by default.
  private static let attemptBytes: Int64 = 64 << 10
  /// How long a statement may take.
  private static let longest = Duration.seconds(60)

  package let place: String
  package let vault: Vault
  private let snapshots: Snapshots
  private let state: CallState?
  private let isOfOneMoment: Bool
  /// What calls of this page lack.
  private var omitted: [StoreError] = []

  /// Connects.
  ///
  /// - Parameters:
  ///   - state: Only calls in this state; nil for all.
  ///   - asOfOneMoment: Whether all is read in one snapshot.
  ///   - mayBeMarked: Whether it may be only partly filled.
  /// - Throws: If the database cannot be reached, or has no tables of this version. None are made.
  package init(
    _ settings: PostgresSettings, state: CallState?, asOfOneMoment: Bool = false, mayBeMarked: Bool = false
  ) throws(StoreError) {
    try settings.check()
    place = settings.place
    vault = settings.vault
    self.state = state
    isOfOneMoment = asOfOneMoment
    let connection: PostgresConnection
    do throws(PostgresFailure) {
      connection = try PostgresConnection(settings)
    } catch {
      throw error.error(at: settings.place)
    }
    try PostgresSchema.openForReading(connection, schema: settings.schema)
    try StoredDataKeys.load(settings, connection)
    snapshots = Snapshots(connection, longest: Self.longest, isOne: asOfOneMoment)
    var find = PostgresStatement(ReadQueries.setting)
    find.add(text: MigrationMark.settingName)
    let marks = try read { () throws(PostgresFailure) in try snapshots.rows([find])[0] }
    guard mayBeMarked || marks.count == 0 else { throw MigrationMark.refusal(of: place) }
  }

  /// Ends nothing: the connection ends with this object.
  package func close() {}

  package func items(damage: (StoreError) -> Void) throws(StoreError) -> [StoreItem] {
    var all: [StoreItem] = []
    for (kind, query) in zip(StoreItem.Kind.allCases, [Self.settings, Self.documents, Self.targets, Self.counts]) {
      let rows: PostgresRows
      do throws(PostgresFailure) {
        rows = try snapshots.rows([PostgresStatement(query)])[0]
      } catch {
        guard canGoOn(after: error) else { throw error.error(at: place) }
        let reason = error.error(at: place).message
        damage(StoreError(kind: .corrupt, message: "All \(kind.title) are missing: \(reason)"))
        continue
      }
      for row in 0..<rows.count {
        do throws(StoreError) {
          if let item = try item(kind, rows, row) { all.append(item) }
        } catch {
          damage(error)
        }
      }
    }
    return all.ordered()
  }

  /// What a row has; nil for what does not travel.
  private func item(_ kind: StoreItem.Kind, _ rows: PostgresRows, _ row: Int) throws(StoreError) -> StoreItem? {
    switch kind {
    case .setting:
      return .travelling(rows.text(row, 0), try rows.vault.opened(setting: rows.text(row, 0), rows.text(row, 1)))
    case .document:
      guard let kind = StoredDocument.Kind(rawValue: rows.text(row, 0)) else { throw Self.unreadable(.document) }
      let document = StoredDocument.Row(
        StoredDocument(kind, id: rows.text(row, 1), rows.bytes(row, 2)), sum: rows.integerIfPresent(row, 3))
      return .travelling(try rows.vault.opened(document.checked()))
    case .target:
      let key: TargetKey = rows.key(row, 0)
      let record = rows.withBytes(row, 1) { bytes in
        Result { () throws(StoreError) in try TargetRecord(bytes, of: key, in: place, rows.vault) }
      }
      return .travelling(key, try record.get())
    case .counts: return try Self.counts(rows, row)
    }
  }

  private static func counts(_ rows: PostgresRows, _ row: Int) throws(StoreError) -> StoreItem? {
    let words = rows.text(row, 3).split(separator: ",")
    let numbers = words.compactMap { Int64($0) }
    guard numbers.count == words.count, let namespace = Namespace(rows.text(row, 0)),
      let step = StatisticsStep(rawValue: rows.integer(row, 1))
    else { throw unreadable(.counts) }
    return .travelling(
      StoredCounts(
        namespace: namespace, step: step, start: Timestamp(microseconds: rows.integer(row, 2)), numbers: numbers))
  }

  private static func unreadable(_ kind: StoreItem.Kind) -> StoreError {
    StoreError(kind: .corrupt, message: "One of the \(kind.title) is not readable.")
  }

  package func callCount() throws(StoreError) -> Int {
    let rows = try read { () throws(PostgresFailure) in try snapshots.rows([PostgresStatement(Self.count)]) }
    return Int(rows[0].integer(0, 0))
  }

  package func page(after last: CallID?) throws(StoreError) -> ArchivePage {
    let (calls, end) = try read { () throws(PostgresFailure) in try readBatch(after: last?.rawValue ?? .min) }
    defer { omitted = [] }
    return ArchivePage(calls: calls, end: end.map { CallID(rawValue: $0) }, damage: omitted)
  }

  private func read<Found>(_ body: () throws(PostgresFailure) -> Found) throws(StoreError) -> Found {
    do throws(PostgresFailure) {
      return try body()
    } catch {
      throw error.error(at: place)
    }
  }

  // MARK: Reading

  private static let settings = PostgresQuery(
    "export_settings", "read the settings",
    "SELECT name, value FROM settings WHERE name <> '\(PayloadPlace.settingName)'")
  private static let documents = PostgresQuery(
    "export_documents", "read the documents", "SELECT kind, id, content, sum FROM documents")
  private static let targets = PostgresQuery(
    "export_targets", "read the targets", "SELECT key, record FROM targets WHERE record IS NOT NULL")
  /// Each session has rows of its own.
  private static let counts = PostgresQuery(
    "export_counts", "read the statistics",
    """
    SELECT m.name, g.step, g.start, string_agg(g.n::text, ',' ORDER BY g.place) FROM (
      SELECT s.namespace, s.step, s.start, u.place, sum(u.n)::int8 AS n FROM statistics s
        CROSS JOIN LATERAL unnest(s.counts) WITH ORDINALITY AS u (n, place)
      GROUP BY s.namespace, s.step, s.start, u.place) g JOIN namespaces m ON m.id = g.namespace
    GROUP BY m.name, g.step, g.start
    """)
  private static let count = PostgresQuery(
    "export_count", "count the calls", "SELECT (SELECT count(*) FROM live) + (SELECT count(*) FROM done)")
  private static let next = PostgresQuery(
    "export_next", "read the calls",
    """
    SELECT c.id, c.state, c.waiting, c.attempts, coalesce(octet_length(r.body), 0)
    FROM ((SELECT id, state, waiting, attempts FROM live WHERE id > $1::int8 ORDER BY id LIMIT \(batch))
      UNION ALL (SELECT id, state, waiting, attempts FROM done WHERE id > $1::int8 ORDER BY id LIMIT \(batch))
      ORDER BY id LIMIT \(batch)) c LEFT JOIN requests r ON \(Lookup.row("r.id", "c.id")) ORDER BY c.id
    """)
  private static let nextWithoutSize = PostgresQuery(
    "export_next_bare", "read the calls",
    """
    (SELECT id, state, waiting, attempts, 0 AS size FROM live WHERE id > $1::int8 ORDER BY id LIMIT \(batch))
      UNION ALL (SELECT id, state, waiting, attempts, 0 FROM done WHERE id > $1::int8 ORDER BY id LIMIT \(batch))
      ORDER BY id LIMIT \(batch)
    """)
  private static let calls = PostgresQuery(
    "export_calls", "read the calls",
    """
    SELECT \(CallColumns.list(bodies: true, past: "c.past")) FROM calls c JOIN requests r ON \(Lookup.row("r.id", "c.id"))
    WHERE c.id = ANY($1::int8[]) ORDER BY c.id
    """)
  private static let attempts = PostgresQuery(
    "export_attempts", "read the attempts",
    """
    SELECT \(AttemptColumns.list(head: "true", body: "true")) FROM attempts a WHERE a.call_id = ANY($1::int8[])
    ORDER BY a.call_id, a.number
    """)
  private static let retries = PostgresQuery(
    "export_retries", "read the retries",
    "SELECT \(AttemptColumns.retries) FROM retries t WHERE t.call_id = ANY($1::int8[]) ORDER BY t.call_id, t.at")
  private static let keys = PostgresQuery(
    "export_keys", "read the keys",
    "SELECT \(KeyRows.columns) FROM keys k WHERE k.call_id = ANY($1::int8[])")
  private static let turns = PostgresQuery(
    "export_turns", "read the turns", "SELECT call_id, has_turn FROM turns WHERE call_id = ANY($1::int8[])")

  /// Reads some calls. Returns the last that was looked at, too; nil if there are no more.
  private func readBatch(
    after first: Int64
  ) throws(PostgresFailure) -> (calls: [Result<ArchivedCall, DamagedCall>], last: Int64?) {
    var (ids, last): ([Int64], Int64?) = ([], nil)
    do throws(PostgresFailure) {
      let rows = try snapshots.take { run throws(PostgresFailure) -> [PostgresRows] in
        var next = PostgresStatement(Self.next)
        next.add(first)
        (ids, last) = selected(from: try run([next])[0])
        return ids.isEmpty ? [] : try run(Self.statements(ids))
      }
      return (ids.isEmpty ? [] : archived(ids, rows), last)
    } catch {
      guard canGoOn(after: error) else { throw error }
    }
    if ids.isEmpty {
      // A page of the requests is damaged, whose size is not known then.
      var next = PostgresStatement(Self.nextWithoutSize)
      next.add(first)
      (ids, last) = selected(from: try snapshots.rows([next])[0])
    }
    return (try readAround(ids[...]), last)
  }

  /// The calls with these ids; those are damaged that cannot be read by themselves.
  private func readAround(_ ids: ArraySlice<Int64>) throws(PostgresFailure) -> [Result<ArchivedCall, DamagedCall>] {
    guard let first = ids.first else { return [] }
    do throws(PostgresFailure) {
      return archived(Array(ids), try snapshots.rows(Self.statements(Array(ids))))
    } catch {
      guard canGoOn(after: error) else { throw error }
    }
    guard ids.count > 1 else {
      return [
        .failure(DamagedCall(id: CallID(rawValue: first), reason: "a page of the database with it is damaged"))
      ]
    }
    let middle = ids.index(ids.startIndex, offsetBy: ids.count / 2)
    return try readAround(ids[..<middle]) + readAround(ids[middle...])
  }

  /// Whether something is damaged beside which all else can be read. After that, another snapshot is needed.
  private func canGoOn(after failure: PostgresFailure) -> Bool {
    !isOfOneMoment && failure.state.hasPrefix("XX")
  }

  private static func statements(_ ids: [Int64]) -> [PostgresStatement] {
    [calls, attempts, retries, keys, turns].map { query in
      var statement = PostgresStatement(query)
      statement.add(ids)
      return statement
    }
  }

  /// The calls to read next, by their size, and the last that was looked at; nil if there are no more.
  private func selected(from rows: PostgresRows) -> (ids: [Int64], last: Int64?) {
    var (ids, bytes): ([Int64], Int64) = ([], 0)
    for row in 0..<rows.count {
      let id = rows.integer(row, 0)
      let stored = StoredPlace(state: rows.integer(row, 1), waiting: rows.integerIfPresent(row, 2)).progress
      // A call whose state means nothing is damaged, and is reported.
      guard state == nil || stored == nil || stored?.state.visible == state else { continue }
      ids.append(id)
      bytes += rows.integer(row, 4) + rows.integer(row, 3) * Self.attemptBytes
      if bytes >= Self.batchBytes, row + 1 < rows.count { return (ids, id) }
    }
    return (ids, rows.count < Self.batch ? nil : rows.integer(rows.count - 1, 0))
  }

  /// The calls with these ids, in order.
  private func archived(_ ids: [Int64], _ rows: [PostgresRows]) -> [Result<ArchivedCall, DamagedCall>] {
    var (attempts, retries):
      ([CallID: Result<[AttemptRecord], DamagedCall>], [CallID: Result<[ManualRetry], DamagedCall>]) = ([:], [:])
    var (keys, turns): ([CallID: KeyRecord], [CallID: Bool]) = ([:], [:])
    for row in 0..<rows[1].count {
      let attempt = AttemptColumns.read(rows[1], row)
      attempts[CallID(rawValue: rows[1].integer(row, 0)), default: .success([])].add(attempt)
    }
    for row in 0..<rows[2].count {
      let (id, retry) = AttemptColumns.readRetry(rows[2], row)
      retries[id, default: .success([])].add(retry)
    }
    for row in 0..<rows[3].count {
      let key = KeyRows.record(rows[3], row)
      if key.checksum.fits(rows[3].integerIfPresent(row, 5)) {
        keys[key.call] = key
      } else {
        omitted.append(key.damage)
      }
    }
    for row in 0..<rows[4].count { turns[CallID(rawValue: rows[4].integer(row, 0))] = rows[4].integer(row, 1) == 1 }
    var found: [CallID: Result<ArchivedCall, DamagedCall>] = [:]
    for row in 0..<rows[0].count {
      let id = CallID(rawValue: rows[0].integer(row, 0))
      found[id] = CallColumns.read(rows[0], row).flatMap { record in
        (retries[id] ?? .success([])).flatMap { retries in
          CallColumns.attempts(rows[0], row, then: attempts[id] ?? .success([])).map { attempts in
            var call = ArchivedCall(record: record, attempts: attempts, key: keys[id])
            call.record.retries = retries
            if call.orderingKey != nil { call.hasTurn = turns[id] }
            return call
          }
        }
      }
    }
    return ids.map { CallID(rawValue: $0) }.map { id in
      found[id] ?? .failure(DamagedCall(id: id, reason: "its request is missing"))
    }
  }
}
