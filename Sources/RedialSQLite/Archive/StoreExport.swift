public import RedialStore
internal import RedialCore
public import RedialModel

/// Reads the calls of a store that a service may be using, one after another by age.
///
/// Each call is read as of one moment, but not all as of the same one: for that there is ``StoreBackup``.
public final class StoreExport: ExportedCalls {
  private static let batch: Int64 = 500

  private let connection: SQLiteConnection
  private let next: SQLiteStatement
  private let rows: CallRows
  private let attempts: AttemptRows
  private let retries: RetryTable
  private let key: SQLiteStatement
  private let turn: SQLiteStatement
  private let log: LogFollower
  private let states: Set<StoredState>
  private let inTransaction: Transaction

  /// Opens a store for reading.
  ///
  /// - Parameter state: Only calls in this state; nil for all.
  public init(path: String, state: CallState?) throws(StoreError) {
    connection = try SQLiteConnection(path: path, role: .reader)
    try Schema.openForReading(connection)
    rows = try CallRows(on: connection, bodies: true)
    attempts = try AttemptRows(on: connection)
    retries = try RetryTable(on: connection)
    log = try LogFollower(on: connection)
    let wanted = StoredState.allCases.filter { state == nil || $0.visible == state }
    states = Set(wanted)
    next = try connection.prepare(
      "read the calls",
      "SELECT id FROM calls WHERE id > ?1 AND (\(wanted.map(StateColumns.condition).joined(separator: " OR "))) "
        + "ORDER BY id LIMIT ?2")
    key = try connection.prepare(
      "read a call's key",
      "SELECT key, fingerprint, created_at, expires_at FROM idempotency_keys WHERE call_id = ?1")
    turn = try connection.prepare("read a call's turn", "SELECT has_turn FROM turns WHERE call_id = ?1")
    inTransaction = try Transaction(on: connection, role: .reader)
  }

  /// Calls `body` with each call, and `damage` with the reason if one cannot be read, which does not stop the others.
  public func forEach(_ body: (ArchivedCall) -> Void, damage: (StoreError) -> Void) throws(StoreError) {
    var last = Int64.min
    while true {
      let (found, end) = try inTransaction { () throws(StoreError) in try batch(after: last) }
      for call in found {
        switch call {
        case .success(let call): body(call)
        case .failure(let call): damage(call.error)
        }
      }
      guard let end else { return }
      last = end
    }
  }

  /// Closes the file.
  public func close() {
    connection.close()
  }

  /// The next calls, and the id of the last one, unless there are no more.
  private func batch(after last: Int64) throws(StoreError) -> ([Result<ArchivedCall, DamagedCall>], end: Int64?) {
    next.bind(1, last)
    next.bind(2, Self.batch)
    var found: [Result<ArchivedCall, DamagedCall>] = []
    let stored = try next.rows { row throws(StoreError) in CallID(rawValue: row.integer(0)) }
    let isLast = stored.count < Int(Self.batch)
    let logged = try log.read()
    let ids = logged.page(after: last, stored, isLast: isLast) { states.contains($0.progress.state) }
    for id in ids {
      switch try logged.read(id, rows, attempts) {
      case (nil, _): found.append(.failure(DamagedCall(id: id, reason: "an index names it and the table lacks it")))
      case (.failure(let call), _), (_, .failure(let call)): found.append(.failure(call))
      case (.success(var record), .success(let attempts)):
        record.retries = try retries.retries(of: id)
        var call = ArchivedCall(record: record, attempts: attempts, key: logged.calls[id]?.key)
        if call.key == nil { call.key = try key(of: id) }
        if call.orderingKey != nil { call.hasTurn = try hasTurn(id) }
        found.append(.success(call))
      }
    }
    return (found, isLast ? nil : stored.last?.rawValue)
  }

  private func hasTurn(_ id: CallID) throws(StoreError) -> Bool? {
    turn.bind(1, id.rawValue)
    return try turn.first { row throws(StoreError) in row.integer(0) != 0 }
  }

  private func key(of id: CallID) throws(StoreError) -> KeyRecord? {
    key.bind(1, id.rawValue)
    return try key.first { row throws(StoreError) in
      KeyRecord(
        key: IdempotencyKey(row.key(0), fingerprint: row.bytes(1)), call: id,
        createdAt: Timestamp(microseconds: row.integer(2)), expiresAt: Timestamp(microseconds: row.integer(3)))
    }
  }
}
