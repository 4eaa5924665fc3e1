package import RedialModel
package import RedialStore

/// A database that is copied into another store. Instances are kept from joining, and nothing is changed.
package final class PostgresSource: MigrationSource {
  package let contents: any ArchiveSource
  private let lock: IdleDatabase

  /// Connects, and locks the store until ``close()``, in one transaction that only reads.
  ///
  /// - Throws: `inUse` if instances use it, or if it is itself only partly filled; `unavailable` if there is no store, or it
  ///   cannot be reached; `corrupt` if its tables are of another version.
  package init(_ settings: PostgresSettings) throws(StoreError) {
    try settings.check()
    lock = try IdleDatabase(settings)
    try PostgresSchema.openForReading(lock.connection, schema: settings.schema)
    // The destination may take its time between two pages.
    try lock.beginToWait("begin to read")
    try lock.lockOut()
    contents = try PostgresExport(settings, state: nil)
  }

  package var place: String { lock.place }

  /// How often the leases were given and documents were changed: each instance that joins takes some. That it can be read
  /// says that the store is still locked.
  package var state: String {
    get throws(StoreError) {
      let rows = try lock.run([PostgresStatement(IdleQueries.state)])[0]
      return "\(rows.integer(0, 0)) leases, \(rows.integer(0, 1)) changes of documents"
    }
  }

  /// Lets instances join again.
  package func close() {
    contents.close()
    try? lock.execute(["ROLLBACK"], purpose: "end the reading")
  }
}
