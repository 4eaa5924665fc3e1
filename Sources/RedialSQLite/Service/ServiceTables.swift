internal import RedialStore
internal import RedialCore
internal import RedialModel

/// What the service stores besides calls and targets: statistics, settings and documents.
final class ServiceTables {
  let statistics: StatisticsTable
  private let settings: SettingTable
  let documents: DocumentTable

  /// Prepares the statements.
  init(on connection: SQLiteConnection, settings: SettingTable) throws(StoreError) {
    statistics = try StatisticsTable(on: connection)
    self.settings = settings
    documents = try DocumentTable(on: connection)
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
    try settings.set(name, to: value)
  }

  /// Removes the setting under a name.
  func removeSetting(_ name: String) throws(StoreError) {
    try settings.remove(name)
  }
}
