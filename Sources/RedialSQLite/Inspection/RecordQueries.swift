internal import RedialModel
internal import RedialStore

/// Reads what a file has besides calls as the service does when it starts.
struct RecordQueries {
  private let connection: SQLiteConnection
  private let documents: SQLiteStatement
  private let targets: SQLiteStatement
  private let settings: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    documents = try connection.prepare(
      "read the documents", "SELECT kind, id, content FROM documents WHERE kind <> 'dataKey' ORDER BY kind, id")
    targets = try connection.prepare(
      "read the records of targets", "SELECT key, record FROM targets WHERE record IS NOT NULL ORDER BY key")
    settings = try connection.prepare("read the settings", "SELECT name, value FROM settings ORDER BY name")
  }

  /// Reads all of it.
  func read(into findings: inout RecordFindings) throws(StoreError) {
    let vault = connection.vault
    try documents.each { row throws(StoreError) in
      // Nothing reads a kind that is not known.
      if let kind = StoredDocument.Kind(rawValue: row.text(0)) {
        try findings.check(StoredDocument(kind, id: row.text(1), row.bytes(2)), vault)
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
  }
}
