internal import RedialStore
internal import RedialCore
internal import RedialModel

/// What the service stores besides calls and targets: policies, bulk operations, statistics, settings and documents.
final class ServiceTables {
  private let policies: PolicyTable
  private let operations: BulkTable
  private let statistics: StatisticsTable
  private let settings: SettingTable
  private let documents: DocumentTable

  /// Prepares the statements.
  init(on connection: SQLiteConnection, settings: SettingTable) throws(StoreError) {
    policies = try PolicyTable(on: connection)
    operations = try BulkTable(on: connection)
    statistics = try StatisticsTable(on: connection)
    self.settings = settings
    documents = try DocumentTable(on: connection)
  }

  /// Stores a version of a policy, and removes those that are no longer kept.
  func add(_ policy: StoredPolicy, keeping limit: Int) throws(StoreError) {
    try policies.add(policy, keeping: limit)
  }

  /// Stores a bulk operation in its current state.
  func set(_ operation: BulkOperation) throws(StoreError) {
    try operations.set(operation)
  }

  /// Removes a bulk operation, if it exists.
  func remove(_ operation: BulkOperationID) throws(StoreError) {
    try operations.remove(operation)
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

  /// All documents of a kind, by id.
  func documents(_ kind: DocumentKind) throws(StoreError) -> [(id: String, content: [UInt8])] {
    try documents.all(kind)
  }

  /// The document with an id; nil if there is none.
  func document(_ kind: DocumentKind, _ id: String) throws(StoreError) -> [UInt8]? {
    try documents.one(kind, id)
  }

  /// Stores a document in place of the one with that id, if that is still as it was; false if it is not.
  func replace(_ kind: DocumentKind, _ id: String, _ old: [UInt8], with new: [UInt8]) throws(StoreError) -> Bool {
    try documents.replace(kind, id, old, with: new)
  }

  /// Stores a document in place of the one with that id.
  func put(_ kind: DocumentKind, _ id: String, _ content: [UInt8]) throws(StoreError) {
    try documents.put(kind, id, content)
  }

  /// Removes a document, if it exists.
  func remove(_ kind: DocumentKind, _ id: String) throws(StoreError) {
    try documents.remove(kind, id)
  }
}
