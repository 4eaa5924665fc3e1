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

  /// Checks the server and the version of the tables, and makes them if there are none.
  ///
  /// - Throws: `corrupt` for tables of another version, which are not changed; `unavailable` for a server whose settings
  ///   would lose acknowledged calls.
  static func open(_ connection: PostgresConnection, schema: String) throws(StoreError) {
    let place = connection.place
    do {
      try check(try connection.run([PostgresStatement(server)], within: .seconds(10))[0], place)
      if try version(on: connection, schema: schema) == nil { try make(on: connection, schema: schema) }
      guard let found = try version(on: connection, schema: schema), found == version else {
        throw StoreError(
          kind: .corrupt,
          message: "The schema \(schema) in \(place) has another version than \(version), which this program knows. It "
            + "was not changed; use the version of Redial that made it.")
      }
    } catch let failure as PostgresFailure {
      throw failure.error(at: place)
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(kind: .unavailable, message: "\(place): \(error)")
    }
  }

  private static let server = PostgresQuery(
    "server", "check the server",
    """
    SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')
      AND setting = 'off'
    """)

  /// Refuses settings with which a commit that was answered can be lost by a crash.
  private static func check(_ rows: PostgresRows, _ place: String) throws(StoreError) {
    let off = (0..<rows.count).map { rows.text($0, 0) }
    guard off.isEmpty else {
      throw StoreError(
        kind: .unavailable,
        message: "\(place) would lose accepted calls in a crash: \(off.sorted().joined(separator: ", ")) is off. "
          + "Switch it on.")
    }
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

  /// Makes the tables. If another instance is making them, this one waits for it, and then finds them.
  private static func make(on connection: PostgresConnection, schema: String) throws(PostgresFailure) {
    let statements = ["CREATE SCHEMA \(schema)"] + statements(of: current)
    do {
      try connection.execute(statements, purpose: "make the tables", within: .seconds(60))
    } catch {
      guard ["42P06", "42P07", "23505"].contains(error.state) else { throw error }
    }
  }
}
