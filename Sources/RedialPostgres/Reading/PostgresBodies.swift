package import RedialModel
package import RedialStore

/// Reads request bodies of a ``PostgresStore``'s database in pieces, on its own connections: neither this process nor the
/// server ever has the whole body in memory, because bodies are stored uncompressed by the server (`STORAGE EXTERNAL`) and
/// `substr` reads only the pages it needs.
package final class PostgresBodies: BodyReader {
  /// The default number of connections, which is the number of threads that read at a time.
  package static let defaultConnections = 2

  package let vault: Vault
  private let pool: ConnectionPool<SideConnection>

  private static let formQuery = PostgresQuery(
    "body_form", "find a call's body",
    "SELECT body_size, length(body), substr(spec, 1, 1), sums FROM requests WHERE id = $1::int8 AND body IS NOT NULL")
  /// `substr` counts from 1.
  private static let pieceQuery = PostgresQuery(
    "body_piece", "read a call's body",
    """
    SELECT substr(body, $2::int8::int4 + 1, $3::int8::int4) FROM requests WHERE id = $1::int8 AND body IS NOT NULL
    """)

  /// A reader; its connections are made when they are needed.
  ///
  /// - Parameter connections: How many threads are served at a time, 1 or more; others wait.
  package init(
    _ settings: PostgresSettings, connections: Int = PostgresBodies.defaultConnections
  ) throws(StoreError) {
    StoredDataKeys.prepare(settings)
    vault = settings.vault
    pool = try ConnectionPool(connections) { () throws(StoreError) in SideConnection(settings) }
  }

  /// How a body is stored.
  package func form(of id: CallID) throws(StoredBodyError) -> StoredBodyForm {
    var statement = PostgresStatement(Self.formQuery)
    statement.add(id.rawValue)
    let rows = try run(statement)
    return StoredBodyForm(
      storedSize: Int(rows.integer(0, 1)), inflatedSize: rows.integerIfPresent(0, 0).map { Int($0) },
      isSealed: rows.withBytes(0, 2, SealedForm.isSealed),
      sums: rows.integerIfPresent(0, 3).map { StoredRequest.Sums(column: $0) })
  }

  /// Some bytes of a body in its stored form.
  package func bytes(of id: CallID, _ range: Range<Int>) throws(StoredBodyError) -> [UInt8] {
    var statement = PostgresStatement(Self.pieceQuery)
    statement.add(id.rawValue)
    statement.add(Int64(range.lowerBound))
    statement.add(Int64(range.count))
    let bytes = try run(statement).bytes(0, 0)
    guard bytes.count == range.count else {
      throw .damaged("it ends at byte \(range.lowerBound + bytes.count), before byte \(range.upperBound)")
    }
    return bytes
  }

  private func run(_ statement: PostgresStatement) throws(StoredBodyError) -> PostgresRows {
    let found: Result<PostgresRows, StoreError> = pool.withConnection { connection in
      Result { () throws(StoreError) in try connection.run([statement])[0] }
    }
    switch found {
    case .failure(let error): throw .unreadable(error)
    case .success(let rows) where rows.count == 0: throw .gone
    case .success(let rows): return rows
    }
  }
}
