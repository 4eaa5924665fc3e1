internal import RedialStore
internal import RedialCore
internal import RedialModel

/// The idempotency keys of accepted calls.
final class KeyTable {
  /// How many expired keys are removed with each new one, so that the table shrinks without a pause.
  private static let sweep = 8

  private let select: SQLiteStatement
  private let insert: SQLiteStatement
  private let removeExpired: SQLiteStatement
  private let remove: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    select = try connection.prepare(
      "find a key",
      "SELECT call_id, fingerprint, created_at, expires_at, sum FROM idempotency_keys WHERE key = ?1 AND expires_at > ?2"
    )
    // An expired key with the same text may still be there; so may this very one, from a commit that was reported as
    // failed but took effect.
    insert = try connection.prepare(
      "store a key",
      """
      INSERT OR REPLACE INTO idempotency_keys (key, call_id, fingerprint, created_at, expires_at, sum)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """)
    removeExpired = try connection.prepare(
      "remove expired keys",
      """
      DELETE FROM idempotency_keys WHERE key IN
        (SELECT key FROM idempotency_keys WHERE expires_at <= ?1 ORDER BY expires_at LIMIT \(Self.sweep))
      """)
    remove = try connection.prepare("remove a call's key", "DELETE FROM idempotency_keys WHERE call_id = ?1")
  }

  /// The call that was accepted under a key that has not expired.
  func find(_ name: IdempotencyName, at now: Timestamp) throws(StoreError) -> KeyRecord? {
    select.bind(1, key: name)
    select.bind(2, now.microseconds)
    return try select.first { row throws(StoreError) in
      let key = KeyRecord(
        key: IdempotencyKey(name, fingerprint: row.bytes(1)), call: CallID(rawValue: row.integer(0)),
        createdAt: Timestamp(microseconds: row.integer(2)), expiresAt: Timestamp(microseconds: row.integer(3)))
      return key.checked(row.integerIfPresent(4))
    }
  }

  /// Stores a key, and removes some that have expired.
  func insert(_ record: KeyRecord) throws(StoreError) {
    removeExpired.bind(1, record.createdAt.microseconds)
    try removeExpired.run()
    insert.bind(1, key: record.key.name)
    insert.bind(2, record.call.rawValue)
    try record.key.fingerprint.withUnsafeBufferPointer { fingerprint throws(StoreError) in
      insert.bind(3, bytes: fingerprint)
      insert.bind(4, record.createdAt.microseconds)
      insert.bind(5, record.expiresAt.microseconds)
      insert.bind(6, record.checksum.column)
      try insert.run()
    }
  }

  func remove(of id: CallID) throws(StoreError) {
    remove.bind(1, id.rawValue)
    try remove.run()
  }
}
