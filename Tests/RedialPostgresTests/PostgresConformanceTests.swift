import RedialCore
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("PostgreSQL fulfils the conformance suite of stores")
struct PostgresConformanceTests {
  let database = TestDatabase()

  var conformance: StoreConformance { conformance { .none } }

  private func conformance(_ vault: @escaping () -> Vault) -> StoreConformance {
    var settings: PostgresSettings {
      var settings = database.settings
      settings.vault = vault()
      return settings
    }
    return StoreConformance(
      openStore: { AwaitedStore(try PostgresStore(settings, sharing: .alone)) },
      openReader: { _ in try PostgresReader(settings, connections: 2) })
  }

  @Test("each rule", arguments: StoreConformance.cases)
  func conforms(_ rule: ConformanceCase<StoreConformance>) throws { try rule.run(conformance) }

  @Test("each rule, when all payloads are sealed", arguments: StoreConformance.cases)
  func conformsSealed(_ rule: ConformanceCase<StoreConformance>) throws { try rule.run(conformance(TestKey.vault)) }

  @Test("a document is changed as it is in the store, where another instance may change or remove it")
  func documents() throws {
    // Each has a vault of its own, and takes the data key that the other has made.
    func instance() throws -> Instance {
      var settings = database.settings
      settings.vault = TestKey.vault()
      return try Instance(settings, meets: false)
    }
    let (one, two) = (try instance(), try instance())
    defer { for instance in [one, two] { instance.kill() } }
    try StoreConformance.documents(one.store, besides: two.store)
  }

  @Test("old documents are read in parts, and removed")
  func oldDocuments() throws {
    let one = try Instance(database.settings, meets: false)
    defer { one.kill() }
    try StoreConformance.oldDocuments(one.store, try PostgresReader(database.settings, connections: 1))
  }
}
