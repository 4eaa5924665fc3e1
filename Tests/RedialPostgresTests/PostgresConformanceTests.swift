import RedialCore
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("PostgreSQL fulfils the conformance suite of stores")
struct PostgresConformanceTests {
  let database = TestDatabase()

  var conformance: StoreConformance {
    let settings = database.settings
    return StoreConformance(
      openStore: { AwaitedStore(try PostgresStore(settings, sharing: .alone)) },
      openReader: { _ in try PostgresReader(settings, connections: 2) })
  }

  @Test("each rule", arguments: StoreConformance.cases)
  func conforms(_ rule: ConformanceCase<StoreConformance>) throws { try rule.run(conformance) }

  @Test("a document is changed as it is in the store, where another instance may change or remove it")
  func documents() throws {
    let (one, two) = (try Instance(database.settings, meets: false), try Instance(database.settings, meets: false))
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
