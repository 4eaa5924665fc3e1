public import RedialStore
internal import RedialCore
public import RedialModel

/// Reads the calls of a store that a service may be using, one after another by age.
///
/// Each call is read as of one moment, but not all as of the same one: for that there is ``StoreBackup``.
public final class StoreExport {
  private static let batch: Int64 = 500

  private let connection: SQLiteConnection
  private let next: SQLiteStatement
  private let rows: CallRows
  private let attempts: AttemptRows
  private let retries: RetryTable
  private let key: SQLiteStatement
  private let turn: SQLiteStatement
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
    let states = StoredState.allCases.filter { state == nil || $0.visible == state }.map(StateColumns.condition)
    next = try connection.prepare(
      "read the calls",
      "SELECT id FROM calls WHERE id > ?1 AND (\(states.joined(separator: " OR "))) ORDER BY id LIMIT ?2")
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
      let found = try inTransaction { () throws(StoreError) in try batch(after: last) }
      for call in found {
        switch call {
        case .success(let call):
          body(call)
          last = call.record.id.rawValue
        case .failure(let call):
          damage(call.error)
          last = call.id.rawValue
        }
      }
      if found.count < Int(Self.batch) { return }
    }
  }

  /// Closes the file.
  public func close() {
    connection.close()
  }

  private func batch(after last: Int64) throws(StoreError) -> [Result<ArchivedCall, DamagedCall>] {
    next.bind(1, last)
    next.bind(2, Self.batch)
    var found: [Result<ArchivedCall, DamagedCall>] = []
    for id in try next.rows({ row throws(StoreError) in CallID(rawValue: row.integer(0)) }) {
      switch (try rows.call(id), try attempts.attempts(of: id, responses: .all)) {
      case (nil, _): found.append(.failure(DamagedCall(id: id, reason: "an index names it and the table lacks it")))
      case (.damaged(let call), _), (_, .failure(let call)): found.append(.failure(call))
      case (.intact(var record), .success(let attempts)):
        record.retries = try retries.retries(of: id)
        var call = ArchivedCall(record: record, attempts: attempts, key: try key(of: id))
        if call.orderingKey != nil { call.hasTurn = try hasTurn(id) }
        found.append(.success(call))
      }
    }
    return found
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
