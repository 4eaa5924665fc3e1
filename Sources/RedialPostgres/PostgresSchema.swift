internal import CDocuments
internal import RedialStore
internal import RedialModel

/// The tables of a store on PostgreSQL: `docs/schema-postgres.sql`, in a schema of their own.
enum PostgresSchema {
  /// The version that this program reads and writes.
  static let version: Int64 = 8

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

  /// Checks the version of the tables; makes them if there are none, and upgrades old ones.
  ///
  /// - Parameter forms: How documents are read, before older tables are upgraded.
  /// - Throws: `corrupt` for tables of another version that cannot be upgraded, or of which not all can be read, which are not
  ///   changed; `unavailable` if the role must not make, change or use them.
  @discardableResult
  static func open(
    _ connection: PostgresConnection, schema: String, forms: DocumentForms = .ofStores,
    upgrades: [Int64: [String]] = upgrades
  ) throws(StoreError) -> PostgresTables {
    var (found, tables): (Int64?, PostgresTables) = (nil, .existing)
    do throws(PostgresFailure) {
      found = try version(on: connection, schema: schema)
    } catch {
      throw denial(error, nil, schema, connection.place) ?? error.error(at: connection.place)
    }
    if found == nil { try forms.checkNew(connection.vault) }
    do throws(PostgresFailure) {
      if found == nil {
        try make(on: connection, schema: schema)
        found = try version(on: connection, schema: schema)
        tables = .made
      }
    } catch {
      throw denial(error, nil, schema, connection.place) ?? error.error(at: connection.place)
    }
    while let old = found, old < version {
      guard try beginUpgrade(from: old, on: connection, schema: schema, by: upgrades) else {
        // Unless another instance was first, there is no way to this version.
        found = try findVersion(on: connection, schema: schema)
        if found == old { break }
        continue
      }
      do throws(StoreError) {
        let check = try PostgresInspection.upgradeCheck(on: connection, from: old, forms)
        if let refusal = check.refusal(
          at: "The schema \(schema) of \(connection.place)", from: old, to: version)
        {
          throw refusal
        }
        try connection.vault.proveKey()
        try end("COMMIT", on: connection)
      } catch {
        try? end("ROLLBACK", on: connection)
        throw error
      }
      found = version
      if tables == .existing { tables = .upgraded(from: Int(old)) }
    }
    if let message = objection(to: found, schema, connection.place) {
      throw StoreError(kind: .corrupt, message: message)
    }
    return tables
  }

  private static func end(_ statement: String, on connection: PostgresConnection) throws(StoreError) {
    do throws(PostgresFailure) {
      try connection.execute([statement], purpose: upgradePurpose, within: .seconds(600))
    } catch {
      throw error.error(at: connection.place)
    }
  }

  /// Checks that there are tables of this version, and changes nothing.
  static func openForReading(_ connection: PostgresConnection, schema: String) throws(StoreError) {
    let found = try findVersion(on: connection, schema: schema)
    if let message = objection(to: found, schema, connection.place) {
      throw StoreError(kind: .corrupt, message: message)
    }
  }

  /// The version of tables that are there; nil if they have none.
  static func findVersion(on connection: PostgresConnection, schema: String) throws(StoreError) -> Int64? {
    var (isThere, found): (Bool, Int64?) = (false, nil)
    do throws(PostgresFailure) {
      isThere = try exists(on: connection, schema: schema)
      if isThere { found = try version(on: connection, schema: schema) }
    } catch {
      throw denial(error, nil, schema, connection.place) ?? error.error(at: connection.place)
    }
    guard isThere else {
      throw StoreError(
        kind: .unavailable,
        message: "There are no tables of Redial in the schema \(schema) of \(connection.place). See whether it is the "
          + "right database; a service makes them when it starts.")
    }
    return found
  }

  /// The error if a role must not do something with the tables: what to do about it; nil for another failure.
  private static func denial(
    _ failure: PostgresFailure, _ found: Int64?, _ schema: String, _ place: String
  ) -> StoreError? {
    guard failure.state == "42501" else { return nil }
    let command = "redial make-tables --store postgresql://OWNER@… --grant ROLE"
    let advice =
      switch failure.query?.purpose {
      case makePurpose:
        "There are no tables of Redial in \(place), and this role must not make them. Make them with the role that is to "
          + "own them, and grant their use to this one: \(command)."
      case upgradePurpose:
        "The tables in the schema \(schema) of \(place) are of version \(found ?? 0), this Redial needs version "
          + "\(version), and this role must not change them. Upgrade them with the role that owns them: \(command)."
      default:
        "This role must not use the tables in the schema \(schema) of \(place). Grant their use with the role that owns "
          + "them: \(command)."
      }
    return StoreError(kind: .unavailable, message: "\(advice) PostgreSQL says: \(failure.message).")
  }

  /// The error if tables are not upgraded because instances use them; nil for another failure.
  private static func refusal(
    _ failure: PostgresFailure, _ found: Int64?, _ schema: String, _ place: String
  ) -> StoreError? {
    guard failure.query?.purpose == upgradePurpose, failure.state == inUse else { return nil }
    return StoreError(
      kind: .inUse,
      message:
        "The tables in the schema \(schema) of \(place) are of version \(found ?? 0) and in use by instances of an "
        + "older Redial; this one needs version \(version). Stop all of them, then start this one, which upgrades the tables. "
        + "After a crash of an instance, wait until its lease has ended. Nothing was changed.")
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

  private static let makePurpose = "make the tables"
  private static let upgradePurpose = "upgrade the tables"

  private static func exists(on connection: PostgresConnection, schema: String) throws(PostgresFailure) -> Bool {
    let query = PostgresQuery(
      "schema", "find the tables", "SELECT to_regclass('\(schema).schema_version') IS NOT NULL")
    let rows = try connection.run([PostgresStatement(query)], within: .seconds(10))[0]
    return rows.count == 1 && rows.integer(0, 0) == 1
  }

  private static func version(on connection: PostgresConnection, schema: String) throws(PostgresFailure) -> Int64? {
    guard try exists(on: connection, schema: schema) else { return nil }
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
      try connection.execute(statements, purpose: makePurpose, within: .seconds(60))
    } catch {
      guard ["42P06", "42P07", "23505"].contains(error.state) else { throw error }
    }
  }

  /// Brings older tables to this version, in one transaction that is open then, unless instances use them: those have
  /// statements for the old tables. If another instance changes them, this one waits for it, and then does nothing: the first
  /// statement fails, because it finds the next version.
  ///
  /// - Returns: False if another instance was first, or there is no way to this version. No transaction is open then.
  static func beginUpgrade(
    from old: Int64, on connection: PostgresConnection, schema: String, by upgrades: [Int64: [String]] = upgrades
  ) throws(StoreError) -> Bool {
    guard old < version, (old..<version).allSatisfy({ upgrades[$0] != nil }) else { return false }
    let raise = """
      WITH u AS (UPDATE schema_version SET version = \(version) WHERE version = \(old) RETURNING 1) SELECT 1 / count(*) FROM u
      """
    let steps = (old..<version).flatMap { upgrades[$0] ?? [] }
    do throws(PostgresFailure) {
      try connection.execute(
        ["BEGIN", raise, LeaseQueries.lock.sql, unused] + steps, purpose: upgradePurpose, within: .seconds(600))
      return true
    } catch {
      if !error.isLost { try? end("ROLLBACK", on: connection) }
      if error.state == PostgresFailure.divisionByZero { return false }
      throw denial(error, old, schema, connection.place) ?? refusal(error, old, schema, connection.place)
        ?? error.error(at: connection.place)
    }
  }

  /// Fails with ``inUse`` if a session has not ended, and only then: the text is no number.
  private static let unused = """
    SELECT (CASE WHEN EXISTS (SELECT 1 FROM sessions s LEFT JOIN beats b ON b.session = s.id
      WHERE coalesce(b.expires_at > \(LeaseQueries.now("NULL")), true)) THEN 'in use' ELSE '0' END)::int4
    """
  /// An invalid text representation.
  private static let inUse = "22P02"

  /// Lets a role work with the tables that cannot change them.
  static func grant(to role: String, on connection: PostgresConnection, schema: String) throws(StoreError) {
    let name = "\"" + role.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    let rights = ["SELECT", "INSERT", "UPDATE", "DELETE"]
    let list = rights.joined(separator: ", ")
    let lacking = PostgresQuery(
      "lacking", "look at the rights of a role",
      """
      SELECT count(*) FROM pg_class c CROSS JOIN unnest('{\(list)}'::text[]) AS r (name)
      WHERE c.relnamespace = '\(schema)'::regnamespace AND c.relkind IN ('r', 'v')
        AND NOT has_table_privilege($1::text, c.oid, r.name)
      """)
    var look = PostgresStatement(lacking)
    look.add(text: role)
    do throws(PostgresFailure) {
      try connection.execute(
        [
          "GRANT USAGE ON SCHEMA \(schema) TO \(name)", "GRANT \(list) ON ALL TABLES IN SCHEMA \(schema) TO \(name)",
          // Those that a later version adds.
          "ALTER DEFAULT PRIVILEGES IN SCHEMA \(schema) GRANT \(list) ON TABLES TO \(name)",
        ], purpose: "grant the use of the tables", within: .seconds(60))
      // To a role that may use tables and not grant their use, the server only gives a warning.
      guard try connection.run([look], within: .seconds(10))[0].integer(0, 0) > 0 else { return }
    } catch {
      throw denial(error, nil, schema, connection.place) ?? error.error(at: connection.place)
    }
    throw StoreError(
      kind: .unavailable,
      message: "The role of the URL does not own the tables in the schema \(schema) of \(connection.place), so it "
        + "cannot grant their use to \(role). Use the owner's role.")
  }
}
