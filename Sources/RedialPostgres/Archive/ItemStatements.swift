internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The statements that put what is about no call into a store, as far as it has nothing under the same name. Each returns how
/// many rows were put in.
struct ItemStatements {
  private(set) var statements: [PostgresStatement] = []

  /// Makes the statements; targets and namespaces get numbers before.
  init(_ items: [StoreItem], _ table: NumberTable) throws(StoreError) {
    var (settings, documents): ([(name: String, value: String)], [StoredDocument]) = ([], [])
    var (targets, counts): ([(key: TargetKey, record: TargetRecord)], [StoredCounts]) = ([], [])
    for item in items {
      switch item {
      case .setting(let name, let value): settings.append((name, value))
      case .document(let document): documents.append(document)
      case .target(let key, let record): targets.append((key, record))
      case .counts(let one): counts.append(one)
      }
    }
    let numbers = try table.numbers(
      targets: Set(targets.map(\.key)),
      namespaces: Set(counts.map(\.namespace) + targets.map { $0.key.namespace }))
    let vault = table.side.settings.vault
    var sealed = Set(targets.filter { vault.seals($0.record) }.map(\.key.namespace.name))
    if settings.contains(where: { vault.seals(setting: $0.name) })
      || documents.contains(where: { vault.seals($0.kind) })
    {
      sealed.insert(Vault.service)
    }
    try StoredDataKeys.ensure(sealed, table.side)
    if !settings.isEmpty { add(settings.map { ($0.name, vault.sealed(setting: $0.name, $0.value)) }) }
    if !documents.isEmpty { add(documents.map { vault.sealed($0) }) }
    if !targets.isEmpty {
      var statement = PostgresStatement(Self.putTargets)
      statement.add(targets.map { numbers.targets[$0.key] ?? 0 })
      statement.add(
        byteStrings: try targets.map { key, record throws(StoreError) in try vault.sealed(record, of: key) })
      statements.append(statement)
    }
    if !counts.isEmpty {
      var statement = PostgresStatement(Self.putCounts)
      statement.add(counts.map { numbers.namespaces[$0.namespace] ?? 0 })
      statement.add(counts.map(\.step.rawValue))
      statement.add(counts.map(\.start.microseconds))
      statement.add(texts: counts.map { "{\($0.numbers.map(String.init).joined(separator: ","))}" })
      statements.append(statement)
    }
  }

  private mutating func add(_ settings: [(name: String, value: String)]) {
    var statement = PostgresStatement(Self.putSettings)
    statement.add(texts: settings.map(\.name))
    statement.add(texts: settings.map(\.value))
    statements.append(statement)
  }

  private mutating func add(_ documents: [StoredDocument]) {
    var statement = PostgresStatement(Self.putDocuments)
    statement.add(texts: documents.map(\.kind.rawValue))
    statement.add(texts: documents.map(\.id))
    statement.add(byteStrings: documents.map(\.content))
    statement.add(documents.map(\.checksum.column))
    statements += [statement, ServiceStatements.raise(Set(documents.map(\.kind)))]
  }

  /// Of the time by which calls were removed, the later one counts. No other value is a number, and the server may look at
  /// both sides of an AND first.
  private static let putSettings = PostgresQuery(
    "put_settings", "store settings",
    """
    WITH i AS (INSERT INTO settings AS s (name, value)
      SELECT name, value FROM unnest($1::text[], $2::text[]) AS u (name, value)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
        WHERE CASE WHEN s.name = '\(Retention.goneBy)' THEN s.value::int8 < excluded.value::int8 ELSE false END
      RETURNING 1) SELECT count(*) FROM i
    """)

  private static let putDocuments = PostgresQuery(
    "put_documents", "store documents",
    """
    WITH i AS (INSERT INTO documents (kind, id, content, sum)
      SELECT kind, id, content, sum FROM unnest($1::text[], $2::text[], $3::bytea[], $4::int8[]) AS u (kind, id, content, sum)
      ON CONFLICT (kind, id) DO NOTHING RETURNING 1) SELECT count(*) FROM i
    """)

  private static let putTargets = PostgresQuery(
    "put_targets", "store the records of targets",
    """
    WITH i AS (UPDATE targets t SET record = u.record FROM unnest($1::int8[], $2::bytea[]) AS u (id, record)
      WHERE \(Lookup.row("t.id", "u.id")) AND t.record IS NULL RETURNING 1) SELECT count(*) FROM i
    """)

  /// Sessions have numbers above 0.
  private static let putCounts = PostgresQuery(
    "put_counts", "store statistics",
    """
    WITH i AS (INSERT INTO statistics (namespace, step, start, session, counts)
      SELECT u.namespace, u.step, u.start, 0, u.counts::int8[]
      FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::text[]) AS u (namespace, step, start, counts)
      WHERE NOT EXISTS (SELECT 1 FROM statistics s WHERE s.namespace = u.namespace AND s.step = u.step AND s.start = u.start)
      RETURNING 1) SELECT count(*) FROM i
    """)
}
