internal import RedialCore
package import RedialModel
internal import RedialStore

/// What the service itself has stored.
extension PostgresReader {
  package func documents(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] {
    try StoredDocument.all(kind, in: try run([StoredDocument.findAll(kind)])[0])
  }

  package func documents(
    _ kind: StoredDocument.Kind, in ids: Range<String>, limit: Int
  ) throws(StoreError) -> [StoredDocument] {
    try StoredDocument.all(kind, in: try run([StoredDocument.findSome(kind, in: ids, limit: limit)])[0])
  }

  /// Those of some calls that have ended.
  package func ended(among ids: [CallID]) throws(StoreError) -> [CallID] {
    var find = PostgresStatement(ReadQueries.ended)
    find.add(ids.map(\.rawValue))
    let rows = try run([find])[0]
    return rows.map { CallID(rawValue: rows.integer($0, 0)) }
  }

  /// A value of the service, stored under a name.
  package func setting(_ name: String) throws(StoreError) -> String? {
    var find = PostgresStatement(ReadQueries.setting)
    find.add(text: name)
    let rows = try run([find])[0]
    return rows.count == 0 ? nil : try rows.vault.opened(setting: name, rows.text(0, 0))
  }
}
