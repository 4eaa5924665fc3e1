internal import RedialStore
internal import RedialModel

/// Named values of the service.
struct SettingTable {
  private let vault: Vault
  private let select: SQLiteStatement
  private let upsert: SQLiteStatement
  private let delete: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    vault = connection.vault
    select = try connection.prepare("read a setting", "SELECT value FROM settings WHERE name = ?1")
    upsert = try connection.prepare(
      "store a setting",
      "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
    delete = try connection.prepare("remove a setting", "DELETE FROM settings WHERE name = ?1")
  }

  /// The value under a name, or nil.
  func value(of name: String) throws(StoreError) -> String? {
    select.bind(1, text: name)
    guard let value = try select.first({ row throws(StoreError) in row.text(0) }) else { return nil }
    return try vault.opened(setting: name, value)
  }

  /// Whether there is a value that should be sealed and is not.
  func isExposed(_ name: String) throws(StoreError) -> Bool {
    guard vault.seals(setting: name) else { return false }
    select.bind(1, text: name)
    return try select.first { row throws(StoreError) in !row.text(0).hasPrefix(SealedForm.textPrefix) } ?? false
  }

  /// Stores a value under a name. For a secret there must be a data key.
  func set(_ name: String, to value: String) throws(StoreError) {
    upsert.bind(1, text: name)
    upsert.bind(2, text: vault.sealed(setting: name, value))
    try upsert.run()
  }

  /// What is sealed in the store, as far as it is known, with what this vault seals.
  func sealing(with vault: Vault, _ documents: DocumentTable) throws(StoreError) -> SealedContents? {
    if vault.sealsAll { return .payloads }
    if let name = try value(of: SealedContents.settingName), let known = SealedContents(rawValue: name) { return known }
    // An earlier version may have sealed them.
    guard vault.canSeal else { return nil }
    return try documents.hasSealedPayloads() ? nil : .secrets
  }

  /// Removes what is stored under a name.
  func remove(_ name: String) throws(StoreError) {
    delete.bind(1, text: name)
    try delete.run()
  }
}
