internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Named policies, with the stored versions of each.
struct PolicyTable {
  private let insert: SQLiteStatement
  private let removeOlder: SQLiteStatement
  private let select: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    insert = try connection.prepare(
      "store a policy", "INSERT INTO policies (name, version, created_at, policy) VALUES (?1, ?2, ?3, ?4)")
    removeOlder = try connection.prepare(
      "remove old versions of a policy", "DELETE FROM policies WHERE name = ?1 AND version <= ?2")
    select = try connection.prepare(
      "read the policies", "SELECT name, version, created_at, policy FROM policies ORDER BY name, version")
  }

  /// Stores a version, and removes those that are no longer kept.
  func add(_ policy: StoredPolicy, keeping limit: Int) throws(StoreError) {
    // Versions before a removal are gone; the removal itself is one of the versions that a later policy displaces.
    let kept = policy.isRemoval ? min(1, limit) : limit
    let name = policy.key
    try remove(name, through: policy.version - kept)
    guard kept > 0 else { return }
    insert.bind(1, key: name)
    insert.bind(2, Int64(policy.version))
    insert.bind(3, policy.createdAt.microseconds)
    try policy.json.withUnsafeBufferPointer { text throws(StoreError) in
      insert.bind(4, bytes: text)
      try insert.run()
    }
  }

  /// All stored versions of all policies, by name, the newest last.
  func all() throws(StoreError) -> [StoredPolicy] {
    try select.rows { row throws(StoreError) in
      let name: PolicyName = row.key(0)
      return StoredPolicy(
        name: name.bare, version: Int(row.integer(1)), createdAt: Timestamp(microseconds: row.integer(2)),
        json: row.bytes(3), in: name.namespace)
    }
  }

  private func remove(_ name: PolicyName, through version: Int) throws(StoreError) {
    removeOlder.bind(1, key: name)
    removeOlder.bind(2, Int64(version))
    try removeOlder.run()
  }
}
