internal import RedialCore
public import RedialModel
public import RedialStore

/// What the service itself has stored.
extension PostgresReader {
  private static let policyQuery = PostgresQuery(
    "policies", "read the policies", "SELECT name, version, created_at, policy FROM policies ORDER BY name, version")
  private static let operationQuery = PostgresQuery(
    "operations", "read the bulk operations",
    """
    SELECT id, request, created_at, state, finished_at, matched, done, skipped, cursor, namespace FROM operations
    ORDER BY id
    """)

  /// All stored versions of all policies, by name, the newest last; one without a text is a removal.
  public func policies() throws(StoreError) -> [StoredPolicy] {
    let rows = try run([PostgresStatement(Self.policyQuery)])[0]
    return rows.map { row in
      let name: PolicyName = rows.key(row, 0)
      return StoredPolicy(
        name: name.bare, version: Int(rows.integer(row, 1)), createdAt: Timestamp(microseconds: rows.integer(row, 2)),
        json: rows.bytes(row, 3), in: name.namespace)
    }
  }

  /// All stored bulk operations, the oldest first.
  ///
  /// - Throws: `corrupt` if one cannot be read.
  public func operations() throws(StoreError) -> [BulkOperation] {
    let rows = try run([PostgresStatement(Self.operationQuery)])[0]
    return try rows.map { row throws(StoreError) in
      let id = BulkOperationID(rawValue: rows.integer(row, 0))
      let request = rows.withBytes(row, 1) { bytes in
        Result { () throws(Problem) in try BulkRequest.read(bytes, rate: BulkOperation.rates.lowerBound) }
      }
      guard case .success(var request) = request, let namespace = Namespace(rows.text(row, 9)),
        let state = rows.code(row, 3, as: BulkOperation.State.self)
      else {
        throw StoreError(
          kind: .corrupt,
          message: "The operation \(id) in \(place) cannot be read. Restore the store from a backup.")
      }
      request.filter.namespace = namespace
      var operation = BulkOperation(
        id: id, request: request, createdAt: Timestamp(microseconds: rows.integer(row, 2)))
      operation.state = state
      operation.finishedAt = rows.integerIfPresent(row, 4).map { Timestamp(microseconds: $0) }
      operation.matched = Int(rows.integer(row, 5))
      operation.done = Int(rows.integer(row, 6))
      operation.skipped = Int(rows.integer(row, 7))
      operation.cursor = rows.integerIfPresent(row, 8).map { CallID(rawValue: $0) }
      return operation
    }
  }

  /// Those of some calls that have ended.
  public func ended(among ids: [CallID]) throws(StoreError) -> [CallID] {
    var find = PostgresStatement(ReadQueries.ended)
    find.add(ids.map(\.rawValue))
    let rows = try run([find])[0]
    return rows.map { CallID(rawValue: rows.integer($0, 0)) }
  }

  /// A value of the service, stored under a name.
  public func setting(_ name: String) throws(StoreError) -> String? {
    var find = PostgresStatement(ReadQueries.setting)
    find.add(text: name)
    let rows = try run([find])[0]
    return rows.count == 0 ? nil : rows.text(0, 0)
  }
}
