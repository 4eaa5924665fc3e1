internal import RedialPostgres
internal import RedialSQLite
package import RedialStore
internal import RedialModel

/// Opens the store that the settings name for a migration.
extension ServiceSettings {
  /// Opens it to be copied into another one.
  package func openSource() throws(ServiceStartError) -> any StoreSource {
    switch try location() {
    case .sqlite(let path):
      return try ServiceStartError.of { () throws(StoreError) in try SQLiteSource(path: path) }
    case .postgres(let url):
      let database = try database(url)
      return try ServiceStartError.of { () throws(StoreError) in try PostgresSource(database) }
    }
  }

  /// Opens it to get the contents of another one.
  package func openDestination() throws(ServiceStartError) -> any StoreDestination {
    switch try location() {
    case .sqlite(let path):
      return try ServiceStartError.of { () throws(StoreError) in try SQLiteDestination(path: path) }
    case .postgres(let url):
      let database = try database(url)
      return try ServiceStartError.of { () throws(StoreError) in try PostgresDestination(database) }
    }
  }
}
