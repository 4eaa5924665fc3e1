package import RedialModel
package import RedialStore

/// A database that gets the contents of another store.
package final class PostgresDestination: StoreDestination {
  private let contents: PostgresContents

  /// Connects, and makes the tables if there are none.
  ///
  /// - Throws: `inUse` if instances use it; `unavailable` if the database cannot be reached, or if the role does not own the tables; `corrupt` if they
  ///   are of another version.
  package init(_ settings: PostgresSettings) throws(StoreError) {
    try settings.check()
    contents = try PostgresContents(settings)
    try PostgresSchema.open(contents.connection, schema: settings.schema)
    try contents.waitForLeases()
    guard try contents.run([PostgresStatement(ContentQueries.mayNumber)])[0].integer(0, 0) == 1 else {
      throw StoreError(
        kind: .unavailable,
        message:
          "The role in the URL of \(contents.place) may not set the numbers of new targets. Run the migration as the "
          + "role that owns the tables. Nothing was changed.")
    }
  }

  /// The database.
  package var place: String { contents.place }

  /// What reads its rows.
  package var reader: any ContentReader { contents }

  // MARK: Writing

  /// How far an interrupted migration came.
  package func mark() throws(StoreError) -> MigrationMark? {
    var find = PostgresStatement(ReadQueries.setting)
    find.add(text: MigrationMark.settingName)
    let rows = try contents.run([find])[0]
    guard rows.count == 1 else { return nil }
    return try MigrationMark(rows.text(0, 0), at: place, orUse: "another database")
  }

  /// Stores the first mark, which keeps instances from joining, while none is there.
  package func begin(_ mark: MigrationMark) throws(StoreError) {
    var first = PostgresStatement(ContentQueries.firstMark)
    first.add(text: MigrationMark.settingName)
    first.add(text: mark.text)
    try contents.execute(["BEGIN"], purpose: "begin the migration")
    do throws(StoreError) {
      try contents.lockOut()
      _ = try contents.run([first])
      try contents.execute(["COMMIT"], purpose: "begin the migration")
    } catch {
      try? contents.execute(["ROLLBACK"], purpose: "undo the beginning of the migration")
      throw error
    }
  }

  /// Adds rows, and replaces the mark.
  package func add(
    _ rows: [ContentRow], to section: ContentSection, from old: MigrationMark, to new: MigrationMark
  ) throws(StoreError) {
    var statements = [Self.change(of: ContentQueries.mark, old)]
    statements[0].add(text: new.text)
    if !rows.isEmpty { statements.append(try contents.insertion(of: rows, to: section)) }
    try runMarked(statements)
  }

  /// Removes the mark, and has instances that wait for this read all documents again.
  package func finish(_ mark: MigrationMark) throws(StoreError) {
    try runMarked([
      Self.change(of: ContentQueries.removeMark, mark), PostgresStatement(ContentQueries.numbers),
      ServiceStatements.raise(Set(StoredDocument.Kind.allCases)),
    ])
  }

  /// The connection ends with this value.
  package func close() {}

  private func runMarked(_ statements: [PostgresStatement]) throws(StoreError) {
    do throws(PostgresFailure) {
      _ = try contents.connection.run(statements, within: PostgresContents.patience)
    } catch {
      guard error.state != PostgresFailure.divisionByZero else {
        throw StoreError(
          kind: .inUse,
          message: "Another `redial migrate` works on \(place). This one has stopped and changed nothing since.")
      }
      throw error.error(at: place)
    }
  }

  private static func change(of query: PostgresQuery, _ mark: MigrationMark) -> PostgresStatement {
    var statement = PostgresStatement(query)
    statement.add(text: MigrationMark.settingName)
    statement.add(text: mark.text)
    return statement
  }
}
