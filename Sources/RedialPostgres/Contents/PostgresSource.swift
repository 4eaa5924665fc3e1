package import RedialStore
package import RedialModel

/// A store whose contents are copied into another store. Instances are kept from joining, and nothing is changed.
package final class PostgresSource: StoreSource {
  private let contents: PostgresContents

  /// Connects, and locks the store until ``close()``, in one transaction that only reads.
  ///
  /// - Throws: `inUse` if instances use it, or if it is itself only partly filled; `unavailable` if there is no store, or it
  ///   cannot be reached; `corrupt` if its tables are of another version.
  package init(_ settings: PostgresSettings) throws(StoreError) {
    try settings.check()
    let contents = try PostgresContents(settings)
    self.contents = contents
    try PostgresSchema.openForReading(contents.connection, schema: settings.schema)
    // The destination may take its time between two pages.
    try contents.beginToWait("begin to read")
    guard try contents.run([PostgresStatement(ContentQueries.obstacles)])[0].integer(0, 0) == 0 else {
      throw MigrationMark.refusal(of: contents.place)
    }
    try contents.lockOut()
  }

  /// The database.
  package var place: String { contents.place }

  /// How often the leases were given and documents were changed: each instance that joins takes some.
  package var state: String {
    get throws(StoreError) {
      let rows = try contents.run([PostgresStatement(ContentQueries.state)])[0]
      return "\(rows.integer(0, 0)) leases, \(rows.integer(0, 1)) changes of documents"
    }
  }

  /// What reads its rows.
  package var reader: any ContentReader { contents }

  /// Lets instances join again. The connection ends with this value.
  package func close() {
    try? contents.execute(["ROLLBACK"], purpose: "end the reading")
  }
}
