package import RedialModel
internal import RedialStore

/// The data keys in a store's file.
package enum StoredDataKeys {
  /// All of them, on a connection of its own, from any thread.
  package static func read(_ path: String) throws(StoreError) -> [StoredDocument] {
    let connection = try SQLiteConnection(path: path, role: .reader)
    defer { connection.close() }
    try Schema.openForReading(connection)
    return try DocumentTable(on: connection).all(.dataKey)
  }

  /// Lets a vault open the values of a file that it does not write to.
  ///
  /// - Throws: If the file's keys cannot be unwrapped.
  static func load(into vault: Vault, on connection: SQLiteConnection) throws(StoreError) {
    let path = connection.path
    try vault.load(try DocumentTable(on: connection).all(.dataKey))
    vault.read { () throws(StoreError) in try read(path) }
  }
}
