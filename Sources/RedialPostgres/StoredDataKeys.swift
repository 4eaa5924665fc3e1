internal import Glibc
internal import RedialModel
internal import RedialStore

/// The data keys in a database.
enum StoredDataKeys {
  private static let insert = PostgresQuery(
    "insert_data_key", "store a data key",
    "INSERT INTO documents (kind, id, content) VALUES ($1::text, $2::text, $3::bytea) ON CONFLICT (kind, id) DO NOTHING"
  )

  /// How many seconds the database may be away meanwhile.
  private static let patience = 5

  /// Lets a vault open the database's values, on a connection of its own when a value names a key that is not known.
  static func prepare(_ settings: PostgresSettings) {
    if settings.vault === Vault.none { return }
    settings.vault.read { [plain = settings.without()] () throws(StoreError) in
      let side = SideConnection(plain)
      defer { side.close() }
      // Whoever asks has just read a value. Without its key it would have to leave the value where it is.
      for _ in 0..<patience {
        if let keys = try? all(side) { return keys }
        sleep(1)
      }
      return try all(side)
    }
  }

  /// The same, and throws if the database's keys cannot be unwrapped.
  static func load(_ settings: PostgresSettings, _ connection: PostgresConnection) throws(StoreError) {
    let rows: PostgresRows
    do throws(PostgresFailure) {
      rows = try connection.run([StoredDocument.findAll(.dataKey)], within: settings.answerTimeout)[0]
    } catch {
      throw error.error(at: settings.place)
    }
    try settings.vault.load(StoredDocument.all(.dataKey, stored: rows))
    prepare(settings)
  }

  /// All of them.
  static func all(_ side: SideConnection) throws(StoreError) -> [StoredDocument] {
    StoredDocument.all(.dataKey, stored: try side.run([StoredDocument.findAll(.dataKey)])[0])
  }

  private static let upsert = PostgresQuery(
    "replace_data_key", "change a data key",
    "UPDATE documents SET content = $3::bytea WHERE kind = $1::text AND id = $2::text")

  /// Stores data keys that another key wraps now. What they are is the same.
  static func replace(_ keys: [StoredDocument], _ side: SideConnection) throws(StoreError) {
    _ = try side.run(keys.map { $0.statement(upsert) })
  }

  /// Stores a data key for each namespace that has none, or takes the one that another instance has stored.
  static func ensure(_ names: Set<String>, _ side: SideConnection) throws(StoreError) {
    let vault = side.settings.vault
    for name in names {
      guard let key = try vault.newKey(of: name) else { continue }
      // Not in one transaction: the key may be another's, which was written after this one began.
      _ = try side.run([key.statement(insert), ServiceStatements.raise([.dataKey])])
      try vault.load(try all(side))
    }
  }
}
