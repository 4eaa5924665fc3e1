package import RedialStore
internal import RedialCore
package import RedialModel

/// Reads a store that a service may be using: what is about no call, and the calls by age.
///
/// Each call is read as of one moment, but not all as of the same one: for that there is ``StoreBackup``.
///
/// Of a damaged store it reads what can be read: the log of calls row by row, and the calls by the ids in any table that has
/// them.
package final class StoreExport: ArchiveSource {
  private static let batch: Int64 = 500
  /// After so many bytes of payloads a page ends.
  private static let batchBytes = 16 << 20

  package let place: String
  package var vault: Vault { connection.vault }
  private let connection: SQLiteConnection
  private let items: StoredItems
  private let next: SQLiteStatement
  private let rows: CallRows
  private let attempts: AttemptRows
  private let retries: RetryTable
  private let key: SQLiteStatement
  private let turn: SQLiteStatement
  private let log: LogFollower
  private let states: Set<StoredState>
  /// The ids that are left, the first one last, once a page of the table of calls could not be read.
  private var rest: [CallID]?
  private var hasReportedLog = false

  /// Opens a store for reading.
  ///
  /// - Parameters:
  ///   - state: Only calls in this state; nil for all.
  ///   - vault: Opens what is sealed.
  /// - Throws: `inUse` if it is only partly filled, too.
  package convenience init(path: String, state: CallState?, vault: Vault = .none) throws(StoreError) {
    try self.init(path: path, state: state, vault: vault, everyPage: false)
  }

  /// The same for a file without a write-ahead log, of which every page may be read, and for one that is being filled.
  init(
    path: String, state: CallState?, vault: Vault, everyPage: Bool = false, mayBeMarked: Bool = false
  ) throws(StoreError) {
    try WriteAheadFile.check(path)
    connection = try SQLiteConnection(path: path, role: .reader, vault: vault)
    try Schema.openForReading(connection)
    rows = try CallRows(on: connection, bodies: true)
    attempts = try AttemptRows(on: connection)
    retries = try RetryTable(on: connection)
    log = try LogFollower(on: connection, isLenient: true, everyPage: everyPage)
    let wanted = StoredState.allCases.filter { state == nil || $0.visible == state }
    states = Set(wanted)
    next = try connection.prepare(
      "read the calls",
      "SELECT id FROM calls WHERE id > ?1 AND (\(wanted.map(StateColumns.condition).joined(separator: " OR "))) "
        + "ORDER BY id LIMIT ?2")
    key = try connection.prepare(
      "read a call's key",
      "SELECT key, fingerprint, created_at, expires_at, sum FROM idempotency_keys WHERE call_id = ?1")
    turn = try connection.prepare("read a call's turn", "SELECT has_turn FROM turns WHERE call_id = ?1")
    items = try StoredItems(on: connection)
    place = path
    if !mayBeMarked, try SettingTable(on: connection).value(of: MigrationMark.settingName) != nil {
      connection.close()
      throw MigrationMark.refusal(of: path)
    }
    try StoredDataKeys.load(into: vault, on: connection)
  }

  package func items(damage: (StoreError) -> Void) throws(StoreError) -> [StoreItem] {
    try asOfOneMoment { () throws(StoreError) in try items.all(damage: damage) }
  }

  package func callCount() throws(StoreError) -> Int {
    Int(try connection.value("count the calls", "SELECT count(*) FROM calls") { $0.integer(0) } ?? 0)
  }

  package func page(after last: CallID?) throws(StoreError) -> ArchivePage {
    try asOfOneMoment { () throws(StoreError) in try batch(after: last?.rawValue ?? .min) }
  }

  /// Runs queries in one transaction. It is not committed: behind a damaged page that fails.
  private func asOfOneMoment<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try connection.execute("begin to read", "BEGIN")
    defer { connection.rollBack() }
    return try body()
  }

  /// Closes the file.
  package func close() {
    connection.close()
  }

  private func batch(after last: Int64) throws(StoreError) -> ArchivePage {
    var damages: [StoreError] = []
    func damage(_ error: StoreError) { damages.append(error) }
    let stored = try ids(after: last, damage)
    let isLast = stored.count < Int(Self.batch)
    let logged = try log.read()
    if !hasReportedLog {
      for reason in log.damage { damage(Self.omission("The log of calls cannot be read: \(reason).")) }
    }
    hasReportedLog = true
    let ids = logged.page(after: last, stored, isLast: isLast) { states.contains($0.progress.state) }
    var found: [Result<ArchivedCall, DamagedCall>] = []
    var bytes = 0
    for id in ids {
      do throws(StoreError) {
        guard let call = try read(id, logged, damage) else { continue }
        found.append(call)
        if case .success(let call) = call { bytes += call.payloadBytes }
      } catch {
        guard error.kind == .corrupt else { throw error }
        found.append(.failure(DamagedCall(id: id, reason: "a page of the file with it is damaged")))
      }
      if bytes >= Self.batchBytes, id != ids.last {
        // What was taken from the rest of the ids comes with the next page.
        if rest != nil { rest?.append(contentsOf: stored.filter { $0 > id }.reversed()) }
        return ArchivePage(calls: found, end: id, damage: damages)
      }
    }
    return ArchivePage(calls: found, end: isLast ? nil : stored.last, damage: damages)
  }

  /// A call; nil for one in another state than those that are wanted.
  private func read(
    _ id: CallID, _ logged: LoggedCalls, _ damage: (StoreError) -> Void
  ) throws(StoreError) -> Result<ArchivedCall, DamagedCall>? {
    // One damaged page of a table or an index is needed for many calls, which lack only that part then.
    func part<Part>(
      _ name: String, _ read: () throws(StoreError) -> Part, or rest: () throws(StoreError) -> Part
    ) throws(StoreError) -> Part {
      do throws(StoreError) {
        return try read()
      } catch {
        guard error.kind == .corrupt else { throw error }
        let part = try rest()
        damage(StoreError(kind: .corrupt, message: "\(id) lacks its \(name), because they are damaged."))
        return part
      }
    }
    let found = try part("attempts") { () throws(StoreError) in
      try logged.read(id, rows, attempts, hasLost: !log.damage.isEmpty)
    } or: { () throws(StoreError) in
      (try logged.find(id, in: rows)?.result, .success([]))
    }
    switch found {
    case (nil, _):
      let isLogged = logged.calls[id] != nil
      // The damage of the log was reported before.
      if isLogged, !log.damage.isEmpty { return nil }
      return .failure(DamagedCall(id: id, reason: "an index names it and the table lacks it"))
    case (.failure(let call), _), (_, .failure(let call)): return .failure(call)
    case (.success(var record), .success(let attempts)):
      guard states.contains(record.progress.state) else { return nil }
      record.retries = try part("manual retries") { () throws(StoreError) in
        switch try retries.retries(of: id) {
        case .success(let retries): return retries
        case .failure(let damage): throw damage.error
        }
      } or: {
        []
      }
      var call = ArchivedCall(record: record, attempts: attempts, key: logged.calls[id]?.key)
      if call.key == nil {
        call.key = try part("idempotency key") { () throws(StoreError) in
          try key(of: id)
        } or: {
          nil
        }
      }
      if call.orderingKey != nil {
        call.hasTurn = try part("turn") { () throws(StoreError) in
          try hasTurn(id)
        } or: {
          nil
        }
      }
      return .success(call)
    }
  }

  /// The next ids in the tables.
  private func ids(after last: Int64, _ damage: (StoreError) -> Void) throws(StoreError) -> [CallID] {
    if rest == nil {
      next.bind(1, last)
      next.bind(2, Self.batch)
      do throws(StoreError) {
        return try next.rows { row throws(StoreError) in CallID(rawValue: row.integer(0)) }
      } catch {
        guard error.kind == .corrupt else { throw error }
        damage(Self.omission("A part of the table of calls cannot be read: \(error.message)"))
        rest = try everyID(after: last).sorted(by: >)
      }
    }
    let count = min(Int(Self.batch), rest?.count ?? 0)
    defer { rest?.removeLast(count) }
    return rest?.suffix(count).reversed() ?? []
  }

  /// The ids that any table has, read from both of its ends as far as its pages can be read.
  private func everyID(after last: Int64) throws(StoreError) -> Set<CallID> {
    var found: Set<CallID> = []
    for (table, column) in [("calls", "id"), ("requests", "id"), ("attempts", "call_id"), ("turns", "call_id")] {
      for order in ["ASC", "DESC"] {
        let ids = try connection.prepare(
          "look for calls", "SELECT \(column) FROM \(table) WHERE \(column) > ?1 ORDER BY \(column) \(order)")
        ids.bind(1, last)
        do throws(StoreError) {
          try ids.each { row throws(StoreError) in
            found.insert(CallID(rawValue: row.integer(0)))
            return true
          }
          break
        } catch {
          guard error.kind == .corrupt else { throw error }
        }
      }
    }
    return found
  }

  private static func omission(_ what: String) -> StoreError {
    StoreError(kind: .corrupt, message: "\(what) The calls that only that has are left out, or their latest changes.")
  }

  private func hasTurn(_ id: CallID) throws(StoreError) -> Bool? {
    turn.bind(1, id.rawValue)
    return try turn.first { row throws(StoreError) in row.integer(0) != 0 }
  }

  private func key(of id: CallID) throws(StoreError) -> KeyRecord? {
    key.bind(1, id.rawValue)
    return try key.first { row throws(StoreError) in
      let key = KeyRecord(
        key: IdempotencyKey(row.key(0), fingerprint: row.bytes(1)), call: id,
        createdAt: Timestamp(microseconds: row.integer(2)), expiresAt: Timestamp(microseconds: row.integer(3)))
      guard key.checksum.fits(row.integerIfPresent(4)) else { throw key.damage }
      return key
    }
  }
}
