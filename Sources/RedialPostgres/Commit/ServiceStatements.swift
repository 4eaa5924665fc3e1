internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The statements for changes of the service itself: documents and statistics.
enum ServiceStatements {
  /// The statements of one such change; none for a change of calls or targets.
  static func statements(_ write: StoreWrite, _ numbers: CommitStatements.Numbers, _ vault: Vault)
    -> [PostgresStatement]
  {
    switch write {
    case .put(let document): [vault.sealed(document).statement(upsert)]
    case .add(let document): [vault.sealed(document).statement(insert)]
    case .remove(let kind, let id): [removal(of: kind, id)]
    case .tallied(let minutes): minutes.flatMap { tallies($0, numbers.namespaces[$0.namespace] ?? 0) }
    default: []
    }
  }

  private static let raise = PostgresQuery(
    "raise_versions", "note a change of documents",
    """
    INSERT INTO versions (kind, n) SELECT kind, 1 FROM unnest($1::text[]) AS u (kind) ORDER BY kind
    ON CONFLICT (kind) DO UPDATE SET n = versions.n + 1
    """)

  /// Counts the changes, so that all instances read the documents of these kinds again.
  static func raise(_ kinds: Set<StoredDocument.Kind>) -> PostgresStatement {
    var statement = PostgresStatement(raise)
    statement.add(texts: kinds.map(\.rawValue).sorted())
    return statement
  }

  /// The kind of documents that a change is of; nil for one that no other instance reads: of statistics, of the audit log, and
  /// of the progress of an operation, which whoever runs it knows.
  static func kind(of write: StoreWrite) -> StoredDocument.Kind? {
    switch write {
    case .put(let document): document.kind == .operation || document.kind == .audit ? nil : document.kind
    case .add(let document): document.kind == .audit ? nil : document.kind
    case .remove(let kind, _): kind == .audit ? nil : kind
    default: nil
    }
  }

  // MARK: Documents

  private static let upsert = PostgresQuery(
    "upsert_document", "store a document of the service",
    """
    INSERT INTO documents (kind, id, content, sum) VALUES ($1::text, $2::text, $3::bytea, $4::int8)
    ON CONFLICT (kind, id) DO UPDATE SET content = excluded.content, sum = excluded.sum
    """)
  private static let insert = PostgresQuery(
    "insert_document", "store a new document of the service",
    "INSERT INTO documents (kind, id, content, sum) VALUES ($1::text, $2::text, $3::bytea, $4::int8)")
  private static let delete = PostgresQuery(
    "delete_document", "remove a document of the service",
    "DELETE FROM documents WHERE kind = $1::text AND id = $2::text")
  private static let withdraw = PostgresQuery(
    "withdraw_document", "remove a document that nobody knows",
    "DELETE FROM documents WHERE kind = $1::text AND id = $2::text AND content = $3::bytea AND sum = $4::int8")

  /// Removes a document as it was stored, if nobody knows of it.
  static func withdrawal(of document: StoredDocument) -> PostgresStatement { document.statement(withdraw) }

  private static func removal(of kind: StoredDocument.Kind, _ id: String) -> PostgresStatement {
    var statement = PostgresStatement(delete)
    statement.add(text: kind.rawValue)
    statement.add(text: id)
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
