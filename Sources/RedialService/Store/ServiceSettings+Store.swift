internal import Glibc
internal import RedialEngine
internal import RedialPostgres
internal import RedialSQLite
internal import RedialModel
package import RedialStore

/// A store that was opened for a service, with its readers.
struct StoreConnections {
  let store: any ServiceStore
  let reader: any CallReader
  let bodies: any BodyReader
  /// The store again, if several instances can share it.
  var shared: (any SharedStore)?
  /// Where it is, for people: the absolute path of a file.
  let place: String
}

/// Opens the store that the settings name. Nothing else in the service knows which kinds of stores there are.
extension ServiceSettings {
  /// Opens it for a service.
  ///
  /// - Parameters:
  ///   - notices: Gets what the store reports by itself.
  ///   - vault: Encrypts what is stored.
  ///   - forms: How the service reads what is stored, before a store is made or upgraded.
  ///   - syncFailed: Called after a failed fsync. It must end the process.
  func openStore(
    _ notices: StoreNotices, _ vault: Vault, _ forms: DocumentForms,
    syncFailed: @escaping @Sendable (StoreError) -> Void
  ) throws(ServiceStartError) -> StoreConnections {
    switch try location() {
    case .sqlite(let path):
      return try ServiceStartError.of { () throws(StoreError) in
        let store = try SQLiteStore(
          path: path, payloads: storedPayloads, vault: vault, forms: forms, reserveBytes: reserveBytes,
          notices: notices,
          syncFailed: syncFailed)
        return StoreConnections(
          store: store, reader: try SQLiteReader(path: path, redaction: engine.redaction, beside: store),
          bodies: try StoredBodies(path: path, vault: vault), place: Self.absolute(path))
      }
    case .postgres(let url):
      var database = try database(url, vault)
      database.forms = forms
      return try ServiceStartError.of { [database] () throws(StoreError) in
        let store = try PostgresStore(database, payloads: storedPayloads, notices: notices)
        return StoreConnections(
          store: store, reader: try PostgresReader(database, redaction: engine.redaction),
          bodies: try PostgresBodies(database), shared: store, place: database.place)
      }
    }
  }

  /// Runs a closure with the service's documents, for a command that works without a service.
  func withDocuments<Result>(
    _ body: (any DocumentStore) throws(StoreError) -> Result
  ) throws(ServiceStartError) -> Result {
    let vault = try vault()
    switch try location() {
    case .sqlite(let path):
      return try ServiceStartError.of { () throws(StoreError) in
        let store = try SQLiteStore(path: path, vault: vault, forms: .ofService)
        defer { store.close() }
        return try body(store)
      }
    case .postgres(let url):
      let database = try database(url, vault)
      return try ServiceStartError.of { () throws(StoreError) in
        let store = try PostgresStore(database)
        defer { store.close() }
        return try body(store)
      }
    }
  }

  /// A value of the service, stored under a name; nil if there is none. It changes nothing.
  ///
  /// - Throws: If there is no store, or it cannot be read.
  func storedValue(_ name: String) throws(ServiceStartError) -> String? {
    let vault = try vault()
    switch try location() {
    case .sqlite(let path):
      guard access(path, F_OK) == 0 else {
        throw ServiceStartError(
          message: "There is no store at \(path); name it with --store, or ask a service with --server.")
      }
      return try ServiceStartError.of { () throws(StoreError) in
        try SQLiteReader(path: path, connections: 1, vault: vault).setting(name)
      }
    case .postgres(let url):
      let database = try database(url, vault)
      return try ServiceStartError.of { () throws(StoreError) in
        try PostgresReader(database, connections: 1).setting(name)
      }
    }
  }

  /// Checks the store, for a command that works without a service. It changes nothing.
  ///
  /// - Parameter quick: Leave out what takes longest.
  /// - Throws: If the store cannot be read.
  package func inspectStore(quick: Bool) throws(ServiceStartError) -> StoreReport {
    let inspection: any StoreInspection
    let vault = try vault()
    switch try location() {
    case .sqlite(let path):
      let damaged = try ServiceStartError.of { () throws(StoreError) in try SQLiteInspection.report(ofDamagedLog: path)
      }
      if let damaged { return damaged }
      inspection = try ServiceStartError.of { () throws(StoreError) in
        try SQLiteInspection(path: path, vault: vault, forms: forms)
      }
    case .postgres(let url):
      let database = try database(url, vault)
      inspection = try ServiceStartError.of { () throws(StoreError) in try PostgresInspection(database) }
    }
    defer { inspection.close() }
    return try ServiceStartError.of { () throws(StoreError) in try inspection.report(at: Clock.wallTime(), quick: quick)
    }
  }

  /// Makes or upgrades the tables of a shared store, as the role that is to own them.
  ///
  /// - Parameter role: Another role, which may then work with the tables and not change them; nil for none.
  /// - Returns: What was done, as a sentence.
  package func makeTables(granting role: String?) throws(ServiceStartError) -> String {
    guard case .postgres(let url) = try location() else {
      throw ServiceStartError(
        message: "Only a PostgreSQL store needs its tables made: postgresql://user@host/database.")
    }
    let database = try database(url)
    let tables = try ServiceStartError.of { () throws(StoreError) in
      try PostgresStore.makeTables(database, granting: role)
    }
    let done =
      switch tables {
      case .made: "made the tables"
      case .upgraded(let version): "upgraded the tables from version \(version)"
      case .existing: "the tables exist already"
      }
    return "\(done) in \(database.place)" + (role.map { "; \($0) may use them" } ?? "")
  }

  /// How to reach a database.
  func database(_ url: String, _ vault: Vault = .none) throws(ServiceStartError) -> PostgresSettings {
    var password: String?
    if let path = storePasswordFile {
      guard let content = FileContents.read(path) else {
        throw ServiceStartError(
          message: "\(path), which storePasswordFile names, cannot be read: \(String(cString: strerror(errno))).")
      }
      // Editors and `echo` end a file with a line feed, which is not part of the password.
      password = String(decoding: content.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }
    var settings = PostgresSettings(url, password: password)
    (settings.vault, settings.forms) = (vault, forms)
    return settings
  }

  /// How a service with these settings reads what is stored.
  var forms: DocumentForms {
    var forms = DocumentForms.ofService
    if webhookSecret != nil { forms.unread = [WebhookSecret.settingName] }
    return forms
  }

  /// Whether several instances can share the store.
  var isShared: Bool {
    get throws(ServiceStartError) { try location().sharing == .shared }
  }

  /// The libraries that a service with this store runs with.
  package func libraries() throws(ServiceStartError) -> [LinkedLibrary] {
    let unused = try isShared ? LinkedLibrary.Name.sqlite : .libpq
    return LinkedLibrary.all.filter { $0.name != unused }
  }

  /// Where the store is.
  func location() throws(ServiceStartError) -> StoreLocation {
    do throws(StoreLocation.Invalid) {
      return try StoreLocation(store)
    } catch {
      throw ServiceStartError(message: error.message)
    }
  }

  /// The absolute path of an existing file.
  static func absolute(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
