internal import Glibc
package import RedialModel
internal import RedialPostgres
internal import RedialSQLite
package import RedialStore

/// New data keys for a store.
extension ServiceSettings {
  /// Encrypts all that the store has again. If a service runs on a file, the service does it.
  ///
  /// - Parameter report: Is called with the progress.
  package func rekey(_ report: (RekeyProgress) -> Void) throws(ServiceStartError) {
    let vault = try vault()
    switch try location() {
    case .sqlite(let path):
      let place = Self.absolute(path)
      try ServiceStartError.of { () throws(StoreError) in
        if SQLiteRekey.isOwned(place) {
          try SQLiteRekey.ask(place, vault, report)
        } else {
          try SQLiteRekey.run(place, vault, .ofService, report)
        }
      }
    case .postgres(let url):
      let database = try database(url, vault)
      try ServiceStartError.of { () throws(StoreError) in try PostgresRekey.run(database, report) }
    }
  }

  /// Erases the data keys of a namespace. If a service runs on a file, the service does it.
  package func eraseKeys(of namespace: Namespace) throws(ServiceStartError) -> Int {
    let vault = try vault()
    switch try location() {
    case .sqlite(let path):
      return try ServiceStartError.of { () throws(StoreError) in
        let path = Self.absolute(path)
        if SQLiteRekey.isOwned(path) { return try SQLiteRekey.askToErase(namespace, path) }
        let store = try SQLiteStore(path: path, vault: vault, forms: .ofService)
        defer { store.close() }
        return try store.eraseKeys(of: namespace)
      }
    case .postgres(let url):
      let database = try database(url, vault)
      return try ServiceStartError.of { () throws(StoreError) in try PostgresRekey.erase(namespace, database) }
    }
  }
}
