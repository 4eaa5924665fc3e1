internal import RedialStore
internal import RedialModel

/// Named values of the service.
struct SettingTable {
  private let select: SQLiteStatement
  private let upsert: SQLiteStatement
  private let delete: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    select = try connection.prepare("read a setting", "SELECT value FROM settings WHERE name = ?1")
    upsert = try connection.prepare(
      "store a setting",
      "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
    delete = try connection.prepare("remove a setting", "DELETE FROM settings WHERE name = ?1")
  }

  /// The value under a name, or nil.
  func value(of name: String) throws(StoreError) -> String? {
    select.bind(1, text: name)
    return try select.first { row throws(StoreError) in row.text(0) }
  }

  /// Stores a value under a name.
  func set(_ name: String, to value: String) throws(StoreError) {
    upsert.bind(1, text: name)
    upsert.bind(2, text: value)
    try upsert.run()
  }

  /// Removes what is stored under a name.
  func remove(_ name: String) throws(StoreError) {
    delete.bind(1, text: name)
    try delete.run()
  }
}
