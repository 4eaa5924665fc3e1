import RedialModel
import RedialStore
import StoreConformance
import Testing

@testable import RedialSQLite

@Suite("SQLite fulfils the conformance suite of stores")
struct SQLiteConformanceTests {
  let folder = TemporaryFolder()

  var conformance: StoreConformance { conformance { .none } }

  private func conformance(_ vault: @escaping () -> Vault) -> StoreConformance {
    let path = folder.file("calls.db")
    return StoreConformance(
      openStore: { try SQLiteStore(path: path, vault: vault()) },
      openReader: { try SQLiteReader(path: path, connections: 2, beside: $0 as? SQLiteStore) })
  }

  @Test("each rule", arguments: StoreConformance.cases)
  func conforms(_ rule: ConformanceCase<StoreConformance>) throws { try rule.run(conformance) }

  @Test("each rule, when all payloads are sealed", arguments: StoreConformance.cases)
  func conformsSealed(_ rule: ConformanceCase<StoreConformance>) throws { try rule.run(conformance(TestKey.vault)) }

  @Test("a document is changed as it is in the store")
  func documents() throws {
    for vault in [Vault.none, TestKey.vault()] {
      let store = try SQLiteStore(path: folder.file("documents-\(vault.sealsAll).db"), vault: vault)
      defer { store.close() }
      try StoreConformance.documents(store, besides: store)
    }
  }

  @Test("old documents are read in parts, and removed")
  func oldDocuments() throws {
    let path = folder.file("old-documents.db")
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    try StoreConformance.oldDocuments(store, try SQLiteReader(path: path, connections: 1, beside: store))
  }

  @Test("rows of every form are sealed again, and read as before", arguments: [false, true])
  func rekey(isSealedBefore: Bool) throws {
    let path = folder.file("rekey.db")
    var isSealed = isSealedBefore
    let conformance = StoreConformance(
      openStore: { try SQLiteStore(path: path, vault: isSealed ? TestKey.vault() : .none) },
      openReader: { try SQLiteReader(path: path, connections: 1, beside: $0 as? SQLiteStore) })
    try conformance.rekey { id in
      let store = try SQLiteStore(path: path, vault: isSealed ? TestKey.vault() : .none)
      defer { store.close() }
      try store.file.connection.execute(
        "damage", "UPDATE requests SET spec = CAST(substr(spec, 2) AS BLOB) WHERE id = \(id.rawValue)")
    } rekey: {
      isSealed = true
      try SQLiteRekey.run(path, TestKey.vault()) { _ in }
    }
  }

  @Test("in a store that is too large the calls that ended first are removed early, but not at once")
  func retentionByBytes() throws { try conformance.retentionByBytes() }
}
