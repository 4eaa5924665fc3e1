internal import Glibc
package import RedialModel
package import RedialStore

/// A store's file that is copied into another store. It is locked as if a service ran on it, and is only read.
package final class SQLiteSource: MigrationSource {
  package let contents: any ArchiveSource
  private let lock: StoreFile
  private let connection: SQLiteConnection

  /// Locks and opens a store.
  ///
  /// - Throws: `inUse` if a service uses it, or if it is itself only partly filled; `unavailable` if there is none, or if
  ///   it is of an older version.
  package init(path: String, vault: Vault = .none) throws(StoreError) {
    guard access(path, F_OK) == 0 else {
      throw StoreError(kind: .unavailable, message: "There is no store at \(path).")
    }
    lock = try StoreFile(path: path)
    connection = try SQLiteConnection(path: lock.path, role: .reader)
    try Schema.openForReading(connection)
    // The last connection that is closed would otherwise move the log.
    connection.keepLogOnClose()
    contents = try StoreExport(path: lock.path, state: nil, vault: vault)
  }

  package var place: String { lock.path }

  /// How often the leases were given: each process that opens the file to change it takes them.
  package var state: String {
    get throws(StoreError) {
      let epochs = try connection.value("read the leases", "SELECT sum(epoch) FROM leases") { $0.integer(0) }
      let sessions = try connection.value(
        "read the leases", "SELECT seq FROM sqlite_sequence WHERE name = 'sessions'"
      ) { $0.integer(0) }
      return "\(epochs ?? 0) leases, \(sessions ?? 0) sessions"
    }
  }

  package func close() {
    contents.close()
    connection.close()
    lock.close()
  }
}
