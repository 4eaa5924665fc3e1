internal import Glibc
package import RedialStore

/// A store's file whose contents are copied into another store. The file is locked as if a service ran on it, and is only
/// read.
package final class SQLiteSource: StoreSource {
  private let lock: StoreFile
  private let connection: SQLiteConnection
  private let contents: SQLiteContents

  /// Locks and opens a store.
  ///
  /// - Throws: `inUse` if a service uses it, or if it is itself only partly filled; `unavailable` if there is none, or if
  ///   it is of an older version.
  package init(path: String) throws(StoreError) {
    guard access(path, F_OK) == 0 else {
      throw StoreError(kind: .unavailable, message: "There is no store at \(path).")
    }
    lock = try StoreFile(path: path)
    connection = try SQLiteConnection(path: lock.path, role: .reader)
    try Schema.openForReading(connection)
    connection.keepLogOnClose()
    contents = SQLiteContents(on: connection)
    // All of it as of one moment, even if another program writes into the file.
    try connection.execute("begin to read", "BEGIN")
    if try SettingTable(on: connection).value(of: MigrationMark.settingName) != nil {
      throw MigrationMark.refusal(of: place)
    }
  }

  /// The file.
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

  /// What reads its rows.
  package var reader: any ContentReader { contents }

  /// Closes the file.
  package func close() {
    connection.close()
    lock.close()
  }
}
