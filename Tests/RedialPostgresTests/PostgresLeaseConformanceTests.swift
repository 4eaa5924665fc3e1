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

  @Test("instances have even shares, and no shard has two owners")
  func shares() throws { try conformance.shares() }

  @Test("an instance without a lease can change and claim nothing")
  func fencing() throws { try conformance.fencing() }

  @Test("no instance claims another's calls, and an owner finds the calls that others put there")
  func confinement() throws { try conformance.confinement() }

  @Test("an instance that takes over finds the running and the held calls")
  func takeover() throws { try conformance.takeover() }

  @Test("each instance gets the numbers of unfinished calls, in its shards and elsewhere")
  func counts() throws { try conformance.counts() }

  @Test("of two simultaneous calls under one key one is accepted")
  func keys() throws { try conformance.keys() }

  @Test(
    "turns are given by the owner of a target alone, also those of calls that others store for it")
  func turns() throws { try conformance.turns() }

  @Test("an instance that leaves need not be waited for")
  func resigning() throws { try conformance.resigning() }
}
