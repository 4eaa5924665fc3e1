internal import RedialCore
public import RedialModel
internal import RedialStore

/// What the service itself has stored.
extension PostgresReader {
  /// All documents of a kind.
  public func documents(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] {
    StoredDocument.all(kind, in: try run([StoredDocument.findAll(kind)])[0])
  }

  /// Those of some calls that have ended.
  public func ended(among ids: [CallID]) throws(StoreError) -> [CallID] {
    var find = PostgresStatement(ReadQueries.ended)
    find.add(ids.map(\.rawValue))
    let rows = try run([find])[0]
    return rows.map { CallID(rawValue: rows.integer($0, 0)) }
  }

  /// A value of the service, stored under a name.
  public func setting(_ name: String) throws(StoreError) -> String? {
    var find = PostgresStatement(ReadQueries.setting)
    find.add(text: name)
    let rows = try run([find])[0]
    return rows.count == 0 ? nil : rows.text(0, 0)
  }
}
