internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The statements for changes of the service itself: policies, bulk operations and statistics.
enum ServiceStatements {
  /// The statements of one such change; none for a change of calls or targets.
  static func statements(_ write: StoreWrite, _ numbers: CommitStatements.Numbers) -> [PostgresStatement] {
    switch write {
    case .policy(let policy, let limit): policies(policy, keeping: limit)
    case .operation(let operation): [upsert(operation)]
    case .removeOperation(let id): [removal(of: id)]
    case .tallied(let minutes): minutes.flatMap { tallies($0, numbers.namespaces[$0.namespace] ?? 0) }
    default: []
    }
  }

  /// Counts the changes, so that all instances read the documents of these kinds again.
  static func raise(_ kinds: Set<SharedDocuments>) -> PostgresStatement {
    var statement = PostgresStatement(HeartbeatQueries.raise)
    statement.add(texts: kinds.map(\.rawValue).sorted())
    return statement
  }

  /// The kind of documents that a change is of; nil for one that no other instance reads: of statistics, and of the progress
  /// of an operation, which whoever runs it knows.
  static func kind(of write: StoreWrite) -> SharedDocuments? {
    switch write {
    case .policy: .policies
    case .operation(let operation) where operation.state != .counting || operation.matched > 0: nil
    case .operation, .removeOperation: .operations
    default: nil
    }
  }

  // MARK: Policies

  private static let removePolicies = PostgresQuery(
    "remove_policies", "remove old versions of a policy",
    "DELETE FROM policies WHERE name = $1::text AND version <= $2::int8")
  private static let insertPolicy = PostgresQuery(
    "insert_policy", "store a policy",
    """
    INSERT INTO policies (name, version, created_at, policy) VALUES ($1::text, $2::int8, $3::int8, $4::bytea)
    """)

  private static func policies(_ policy: StoredPolicy, keeping limit: Int) -> [PostgresStatement] {
    // Versions before a removal are gone; the removal itself is one of the versions that a later policy displaces.
    let kept = policy.isRemoval ? min(1, limit) : limit
    var removal = PostgresStatement(removePolicies)
    removal.add(text: policy.key.text)
    removal.add(Int64(policy.version - kept))
    guard kept > 0 else { return [removal] }
    var insertion = PostgresStatement(insertPolicy)
    insertion.add(text: policy.key.text)
    insertion.add(Int64(policy.version))
    insertion.add(policy.createdAt.microseconds)
    insertion.add(bytes: policy.json)
    return [removal, insertion]
  }

  // MARK: Operations

  private static let upsertOperation = PostgresQuery(
    "upsert_operation", "store an operation",
    """
    INSERT INTO operations (id, request, created_at, state, finished_at, matched, done, skipped, cursor, namespace)
    VALUES ($1::int8, $2::bytea, $3::int8, $4::int8, $5::int8, $6::int8, $7::int8, $8::int8, $9::int8, $10::text)
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, finished_at = excluded.finished_at,
      matched = excluded.matched, done = excluded.done, skipped = excluded.skipped, cursor = excluded.cursor
    """)
  private static let removeOperation = PostgresQuery(
    "remove_operation", "remove an operation", "DELETE FROM operations WHERE id = $1::int8")

  private static func upsert(_ operation: BulkOperation) -> PostgresStatement {
    var statement = PostgresStatement(upsertOperation)
    statement.add(operation.id.rawValue)
    statement.add(bytes: operation.request.json)
    statement.add(operation.createdAt.microseconds)
    statement.add(Int64(operation.state.rawValue))
    statement.add(operation.finishedAt?.microseconds)
    statement.add(Int64(operation.matched))
    statement.add(Int64(operation.done))
    statement.add(Int64(operation.skipped))
    statement.add(operation.cursor?.rawValue)
    statement.add(text: operation.namespace.name)
    return statement
  }

  private static func removal(of id: BulkOperationID) -> PostgresStatement {
    var statement = PostgresStatement(removeOperation)
    statement.add(id.rawValue)
    return statement
  }

  // MARK: Statistics

  /// Each session adds to rows of its own, so that no instance waits for another.
  private static let addTally = PostgresQuery(
    "add_tally", "store statistics",
    """
    INSERT INTO statistics (namespace, step, start, session, counts)
    VALUES ($1::int8, $2::int8, $3::int8, $4::int8, $5::int8[])
    ON CONFLICT (namespace, step, start, session) DO UPDATE SET counts = (
      SELECT array_agg(coalesce(a, 0) + coalesce(b, 0) ORDER BY place)
      FROM unnest(statistics.counts, excluded.counts) WITH ORDINALITY AS t (a, b, place))
    """)
  private static let removeTallies = PostgresQuery(
    "remove_tallies", "remove old statistics", "DELETE FROM statistics WHERE step = $1::int8 AND start < $2::int8")

  private static func tallies(_ minute: MinuteTally, _ namespace: Int64) -> [PostgresStatement] {
    StatisticsStep.allCases.flatMap { step -> [PostgresStatement] in
      let start = step.start(of: minute.minute).microseconds
      var addition = PostgresStatement(addTally)
      addition.add(namespace)
      addition.add(step.rawValue)
      addition.add(start)
      addition.addSession()
      addition.add(minute.tally.numbers)
      var removal = PostgresStatement(removeTallies)
      removal.add(step.rawValue)
      removal.add(start - step.kept)
      return [addition, removal]
    }
  }
}
