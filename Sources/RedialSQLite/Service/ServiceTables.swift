internal import RedialStore
internal import RedialCore
internal import RedialModel

/// What the service stores besides calls and targets: statistics, settings and documents.
final class ServiceTables {
  let statistics: StatisticsTable
  private let settings: SettingTable
  private let vault: Vault
  let documents: DocumentTable

  /// Prepares the statements.
  init(
    on connection: SQLiteConnection, settings: SettingTable, _ documents: DocumentTable
  ) throws(StoreError) {
    statistics = try StatisticsTable(on: connection)
    self.settings = settings
    vault = connection.vault
    self.documents = documents
  }

  /// Adds the counts of a minute.
  ///
  /// - Parameter namespace: The number of the namespace.
  func add(_ tally: CallTally, at minute: Timestamp, namespace: Int64) throws(StoreError) {
    try statistics.add(tally, at: minute, namespace: namespace)
  }

  /// The value of a setting, or nil.
  func setting(_ name: String) throws(StoreError) -> String? {
    try settings.value(of: name)
  }

  /// Stores the value of a setting.
  func set(_ name: String, to value: String) throws(StoreError) {
    if vault.seals(setting: name) { try documents.ensureKey(of: Vault.service) }
    try settings.set(name, to: value)
  }

  /// Seals the secrets that were stored before there was a key. Within a transaction.
  func sealSecrets() throws(StoreError) {
    for name in Vault.secrets where try settings.isExposed(name) {
      if let value = try settings.value(of: name) { try set(name, to: value) }
    }
    for kind in StoredDocument.Kind.allCases where kind.isSecret && !kind.isNeverPlain && vault.seals(kind) {
      for document in try documents.exposed(kind) { try documents.put(document, isNew: false) }
    }
  }

  /// Seals all documents and secrets again, by the newest key. What does not open stays as it is. Within a transaction.
  func reseal() throws(StoreError) {
    for name in Vault.secrets {
      if let value = try? settings.value(of: name) { try set(name, to: value) }
    }
    for kind in StoredDocument.Kind.allCases where vault.seals(kind) {
      for document in try documents.readable(kind) { try documents.put(document, isNew: false) }
    }
  }

  /// Removes the setting under a name.
  func removeSetting(_ name: String) throws(StoreError) {
    try settings.remove(name)
  }
}
