internal import CDocuments
internal import RedialStore

/// The tables of a store on PostgreSQL: `docs/schema-postgres.sql`, in a schema of their own.
enum PostgresSchema {
  /// The version that this program reads and writes.
  static let version: Int64 = 1

  /// `docs/schema-postgres.sql`, which is part of the program.
  static let current: String = {
    // Its bytes are constant, and live as long as the program.
    let file = redial_postgres_schema()
    return String(decoding: UnsafeBufferPointer(start: file.bytes, count: file.count), as: UTF8.self)
  }()

  /// The statements of a script: without comments, and without the semicolons between them.
  static func statements(of script: String) -> [String] {
    let lines = script.split(separator: "\n").filter { !$0.hasPrefix("--") }
    return lines.joined(separator: "\n").split(separator: ";").map { statement in
      String(statement.drop { $0 == "\n" || $0 == " " })
    }.filter { !$0.isEmpty }
  }

  /// Checks the version of the tables, and makes them if there are none.
  ///
  /// - Throws: `corrupt` for tables of another version, which are not changed; `unavailable` if the role must not make them.
  static func open(_ connection: PostgresConnection, schema: String) throws(StoreError) {
    var found: Int64?
    do throws(PostgresFailure) {
      if try version(on: connection, schema: schema) == nil { try make(on: connection, schema: schema) }
      found = try version(on: connection, schema: schema)
    } catch {
      throw error.error(at: connection.place)
    }
    if let message = objection(to: found, schema, connection.place) {
      throw StoreError(kind: .corrupt, message: message)
    }
  }

  /// Why tables of a version are not used; nil if they are.
  static func objection(to found: Int64?, _ schema: String, _ place: String) -> String? {
    let tables = "The tables in the schema \(schema) of \(place)"
    guard let found else {
      return
        "\(tables) have no version: something else made them, or only some of them. Nothing was changed. Use another "
        + "database, or drop the schema if it holds nothing of value."
    }
    if found > version {
      return
        "\(tables) are of version \(found), from a newer Redial; this one knows version \(version). Nothing was changed. "
        + "Use the newer one."
    }
    if found < version {
      return
        "\(tables) are of version \(found), which this Redial, of version \(version), does not know. Nothing was changed."
    }
    return nil
  }

  private static func version(on connection: PostgresConnection, schema: String) throws(PostgresFailure) -> Int64? {
    let query = PostgresQuery(
      "schema", "find the tables", "SELECT to_regclass('\(schema).schema_version') IS NOT NULL")
    let rows = try connection.run([PostgresStatement(query)], within: .seconds(10))[0]
    guard rows.count == 1, rows.integer(0, 0) == 1 else { return nil }
    let select = PostgresQuery("version", "read the version", "SELECT version::int8 FROM \(schema).schema_version")
    let found = try connection.run([PostgresStatement(select)], within: .seconds(10))[0]
    return found.count == 1 ? found.integer(0, 0) : nil
  }

  /// Makes the tables, in one transaction. If another instance is making them, this one waits for it, and then finds them.
  private static func make(on connection: PostgresConnection, schema: String) throws(PostgresFailure) {
    // A schema that exists needs no right to make one.
    let query = PostgresQuery("has_schema", "find the schema", "SELECT to_regnamespace('\(schema)') IS NOT NULL")
    let exists = try connection.run([PostgresStatement(query)], within: .seconds(10))[0].integer(0, 0) == 1
    let statements = (exists ? [] : ["CREATE SCHEMA \(schema)"]) + statements(of: current)
    do {
      try connection.execute(statements, purpose: "make the tables", within: .seconds(60))
    } catch {
      guard ["42P06", "42P07", "23505"].contains(error.state) else { throw error }
    }
  }

  /// Lets a role work with the tables that cannot change them.
  static func grant(to role: String, on connection: PostgresConnection, schema: String) throws(PostgresFailure) {
    let name = "\"" + role.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    try connection.execute(
      [
        "GRANT USAGE ON SCHEMA \(schema) TO \(name)",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(name)",
      ], purpose: "grant the use of the tables", within: .seconds(60))
  }
}
