import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("PostgreSQL shared by several instances fulfils the conformance suite")
struct PostgresLeaseConformanceTests {
  let database = TestDatabase()

  var conformance: LeaseConformance {
    let settings = database.settings
    let clock = StoreClock()
    return LeaseConformance(
      openStore: { AwaitedStore(try PostgresStore(settings, clock: { clock.time })) },
      setTime: { clock.time = $0 })
  }

  @Test("each rule", arguments: LeaseConformance.cases)
  func conforms(_ rule: ConformanceCase<LeaseConformance>) throws { try rule.run(conformance) }
}
