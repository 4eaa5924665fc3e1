internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Bulk operations and their progress.
struct BulkTable {
  private let upsert: SQLiteStatement
  private let removeOne: SQLiteStatement
  private let select: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    upsert = try connection.prepare(
      "store an operation",
      """
      INSERT INTO operations (id, request, created_at, state, finished_at, matched, done, skipped, cursor,
        namespace)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
      ON CONFLICT (id) DO UPDATE SET state = excluded.state, finished_at = excluded.finished_at,
        matched = excluded.matched, done = excluded.done, skipped = excluded.skipped, cursor = excluded.cursor
      """)
    removeOne = try connection.prepare("remove an operation", "DELETE FROM operations WHERE id = ?1")
    select = try connection.prepare(
      "read the operations",
      """
      SELECT id, request, created_at, state, finished_at, matched, done, skipped, cursor, namespace FROM operations
      ORDER BY id
      """)
  }

  /// Stores an operation in its current state.
  func set(_ operation: BulkOperation) throws(StoreError) {
    upsert.bind(1, operation.id.rawValue)
    upsert.bind(3, operation.createdAt.microseconds)
    upsert.bind(4, Int64(operation.state.rawValue))
    upsert.bind(5, operation.finishedAt?.microseconds)
    upsert.bind(6, Int64(operation.matched))
    upsert.bind(7, Int64(operation.done))
    upsert.bind(8, Int64(operation.skipped))
    upsert.bind(9, operation.cursor?.rawValue)
    upsert.bind(10, text: operation.namespace.name)
    try operation.request.json.withUnsafeBufferPointer { request throws(StoreError) in
      upsert.bind(2, bytes: request)
      try upsert.run()
    }
  }

  /// Removes an operation, if it exists.
  func remove(_ id: BulkOperationID) throws(StoreError) {
    removeOne.bind(1, id.rawValue)
    try removeOne.run()
  }

  /// All operations, the oldest first.
  ///
  /// - Throws: `corrupt` if one cannot be read.
  func all() throws(StoreError) -> [BulkOperation] {
    try select.rows { row throws(StoreError) in
      let id = BulkOperationID(rawValue: row.integer(0))
      let request = row.withBytes(1) { bytes in
        Result { () throws(Problem) in try BulkRequest.read(bytes, rate: BulkOperation.rates.lowerBound) }
      }
      guard case .success(var request) = request, let namespace = Namespace(row.text(9)),
        let state = row.code(3, as: BulkOperation.State.self)
      else {
        throw StoreError(
          kind: .corrupt, message: "The operation \(id) cannot be read. Restore the store from a backup.")
      }
      request.filter.namespace = namespace
      var operation = BulkOperation(
        id: id, request: request, createdAt: Timestamp(microseconds: row.integer(2)))
      operation.state = state
      operation.finishedAt = row.integerIfPresent(4).map { Timestamp(microseconds: $0) }
      operation.matched = Int(row.integer(5))
      operation.done = Int(row.integer(6))
      operation.skipped = Int(row.integer(7))
      operation.cursor = row.integerIfPresent(8).map { CallID(rawValue: $0) }
      return operation
    }
  }
}
