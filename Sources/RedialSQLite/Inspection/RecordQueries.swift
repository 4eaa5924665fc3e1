internal import RedialCore
internal import RedialModel
internal import RedialStore

/// Reads what a file has besides calls as the service does when it starts.
struct RecordQueries {
  private let connection: SQLiteConnection
  private let documents: SQLiteStatement
  private let targets: SQLiteStatement
  private let settings: SQLiteStatement
  private let keys: SQLiteStatement
  private let retried: SQLiteStatement
  private let retries: RetryTable

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    documents = try connection.prepare(
      "read the documents", "SELECT kind, id, content, sum FROM documents WHERE kind <> 'dataKey' ORDER BY kind, id")
    targets = try connection.prepare(
      "read the records of targets", "SELECT key, record FROM targets WHERE record IS NOT NULL ORDER BY key")
    settings = try connection.prepare("read the settings", "SELECT name, value FROM settings ORDER BY name")
    retried = try connection.prepare("read the retries", "SELECT DISTINCT call_id FROM retries WHERE sum IS NOT NULL")
    retries = try RetryTable(on: connection)
    // Those of earlier versions have none.
    keys = try connection.prepare(
      "read the keys",
      "SELECT key, call_id, fingerprint, created_at, expires_at, sum FROM idempotency_keys WHERE sum IS NOT NULL")
  }

  /// Reads all of it.
  func read(into findings: inout RecordFindings) throws(StoreError) {
    let vault = connection.vault
    try documents.each { row throws(StoreError) in
      // Nothing reads a kind that is not known.
      if let kind = StoredDocument.Kind(rawValue: row.text(0)) {
        try findings.check(
          StoredDocument.Row(StoredDocument(kind, id: row.text(1), row.bytes(2)), sum: row.integerIfPresent(3)), vault)
      }
      return true
    }
    try targets.each { row throws(StoreError) in
      let record = row.bytes(1)
      try record.withUnsafeBufferPointer { bytes throws(StoreError) in try findings.check(bytes, of: row.key(0), vault)
      }
      return true
    }
    try settings.each { row throws(StoreError) in
      try findings.check(setting: row.text(0), row.text(1), vault)
      return true
    }
    try keys.each { row throws(StoreError) in
      let key = KeyRecord(
        key: IdempotencyKey(row.key(0), fingerprint: row.bytes(2)), call: CallID(rawValue: row.integer(1)),
        createdAt: Timestamp(microseconds: row.integer(3)), expiresAt: Timestamp(microseconds: row.integer(4)))
      if !key.checksum.fits(row.integerIfPresent(5)) { findings.add(key.damage) }
      return true
    }
    try retried.each { row throws(StoreError) in
      if case .failure(let damage) = try retries.retries(of: CallID(rawValue: row.integer(0))) {
        findings.add(damage.error)
      }
      return true
    }
  }
}
