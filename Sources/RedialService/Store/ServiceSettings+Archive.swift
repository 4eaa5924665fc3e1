internal import RedialPostgres
internal import RedialSQLite
package import RedialStore
package import RedialModel

/// Opens the store that the settings name to move what it has.
extension ServiceSettings {
  /// Opens it to be copied into another one.
  ///
  /// - Parameter vault: What opens its values; nil for the one of the settings.
  package func openSource(_ vault: Vault? = nil) throws(ServiceStartError) -> any MigrationSource {
    let vault = if let vault { vault } else { try self.vault() }
    switch try location() {
    case .sqlite(let path):
      return try ServiceStartError.of { () throws(StoreError) in try SQLiteSource(path: path, vault: vault) }
    case .postgres(let url):
      let database = try database(url, vault)
      return try ServiceStartError.of { () throws(StoreError) in try PostgresSource(database) }
    }
  }

  /// Opens it to get the contents of another one.
  package func openDestination() throws(ServiceStartError) -> any MigrationDestination {
    let vault = try vault()
    switch try location() {
    case .sqlite(let path):
      return try ServiceStartError.of { () throws(StoreError) in
        try SQLiteArchiveDestination(filling: path, payloads: payloads, vault: vault)
      }
    case .postgres(let url):
      let database = try database(url, vault)
      return try ServiceStartError.of { () throws(StoreError) in
        try PostgresArchiveDestination(database, payloads: payloads, isFilling: true)
      }
    }
  }

  /// Reads the store, for a command that works without a service. It changes nothing.
  ///
  /// - Parameters:
  ///   - state: Only calls in this state; nil for all.
  ///   - asOfOneMoment: Whether all is read as of one moment, if the store is a database: `StoreBackup` does that for a file.
  /// - Throws: If the store cannot be opened.
  package func openExport(
    in state: CallState?, asOfOneMoment: Bool = false
  ) throws(ServiceStartError) -> any ArchiveSource {
    let vault = try vault()
    switch try location() {
    case .sqlite(let path):
      return try ServiceStartError.of { () throws(StoreError) in try StoreExport(path: path, state: state, vault: vault)
      }
    case .postgres(let url):
      let database = try database(url, vault)
      return try ServiceStartError.of { () throws(StoreError) in
        try PostgresExport(database, state: state, asOfOneMoment: asOfOneMoment)
      }
    }
  }

  /// Begins to put what an archive has into the store, for a command that works without a service.
  ///
  /// - Throws: If the store cannot be opened, or is in use.
  package func storeImport() throws(ServiceStartError) -> StoreImport {
    let now = Clock.wallTime()
    let vault = try vault()
    switch try location() {
    case .sqlite(let path):
      return try ServiceStartError.of { () throws(StoreError) in
        try StoreImport(path: path, payloads: payloads, vault: vault, forms: .ofService, at: now)
      }
    case .postgres(let url):
      let database = try database(url, vault)
      return try ServiceStartError.of { () throws(StoreError) in
        StoreImport(into: try PostgresArchiveDestination(database, payloads: payloads), at: now)
      }
    }
  }
}
