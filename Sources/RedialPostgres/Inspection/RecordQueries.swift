internal import RedialModel
internal import RedialStore

/// What a database has besides calls, as the service reads it when it starts.
struct RecordQueries {
  /// Of documents, records of targets and settings.
  let rows: [PostgresRows]

  private static let documents = PostgresQuery(
    "inspect_documents", "read the documents",
    "SELECT kind, id, content, sum FROM documents WHERE kind <> 'dataKey' ORDER BY kind, id")
  private static let targets = PostgresQuery(
    "inspect_target_records", "read the records of targets",
    "SELECT key, record FROM targets WHERE record IS NOT NULL ORDER BY key")
  private static let settings = PostgresQuery(
    "inspect_settings", "read the settings", "SELECT name, value FROM settings ORDER BY name")

  static func read(_ snapshots: Snapshots) throws(PostgresFailure) -> RecordQueries {
    RecordQueries(rows: try snapshots.rows([documents, targets, settings].map { PostgresStatement($0) }))
  }

  /// Reads all of it.
  func add(to findings: inout RecordFindings) throws(StoreError) {
    // A check that was not made has none.
    guard rows.count == 3 else { return }
    let (documents, targets, settings) = (rows[0], rows[1], rows[2])
    for row in 0..<documents.count {
      // Nothing reads a kind that is not known.
      guard let kind = StoredDocument.Kind(rawValue: documents.text(row, 0)) else { continue }
      let document = StoredDocument(kind, id: documents.text(row, 1), documents.bytes(row, 2))
      try findings.check(
        StoredDocument.Row(document, sum: documents.integerIfPresent(row, 3)), documents.vault)
    }
    for row in 0..<targets.count {
      let record = targets.bytes(row, 1)
      try record.withUnsafeBufferPointer { bytes throws(StoreError) in
        try findings.check(bytes, of: targets.key(row, 0), targets.vault)
      }
    }
    for row in 0..<settings.count {
      try findings.check(setting: settings.text(row, 0), settings.text(row, 1), settings.vault)
    }
  }
}
