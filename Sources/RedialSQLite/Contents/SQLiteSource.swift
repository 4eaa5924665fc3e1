internal import Glibc
package import RedialStore
package import RedialModel

/// A store's file whose contents are copied into another store. The file is locked as if a service ran on it, and is only
/// read; only what a killed service has left in the log of calls is written to the tables before.
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
    try Self.fold(path)
    lock = try StoreFile(path: path)
    connection = try SQLiteConnection(path: lock.path, role: .reader)
    try Schema.openForReading(connection)
    connection.keepLogOnClose()
    contents = try SQLiteContents(on: connection)
    // All of it as of one moment, even if another program writes into the file.
    try connection.execute("begin to read", "BEGIN")
    if try SettingTable(on: connection).value(of: MigrationMark.settingName) != nil {
      throw MigrationMark.refusal(of: place)
    }
  }

  /// Has the log of a service that was killed written to the tables, which are what is copied.
  private static func fold(_ path: String) throws(StoreError) {
    let lock = try StoreFile(path: path)
    let connection = try SQLiteConnection(path: lock.path, role: .reader)
    var isLogged: Int64?
    do {
      defer {
        connection.close()
        lock.close()
      }
      try Schema.openForReading(connection)
      connection.keepLogOnClose()
      if try SettingTable(on: connection).value(of: MigrationMark.settingName) == nil {
        isLogged = try connection.value("read the log", "SELECT 1 FROM call_log LIMIT 1") { $0.integer(0) }
      }
    }
    if isLogged != nil { try SQLiteStore(path: path).close() }
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
