import RedialSQLite
import RedialStore
import StoreConformance
import Testing

@Suite("SQLite fulfils the conformance suite of stores")
struct SQLiteConformanceTests {
  let folder = TemporaryFolder()

  var conformance: StoreConformance {
    let path = folder.file("calls.db")
    return StoreConformance(
      openStore: { try SQLiteStore(path: path) },
      openReader: { try SQLiteReader(path: path, connections: 2, beside: $0 as? SQLiteStore) })
  }

  @Test("every field of a call is read back unchanged")
  func callRoundTrip() throws { try conformance.callRoundTrip() }

  @Test("progress and attempts are read back, with the requested responses")
  func updatesAndAttempts() throws { try conformance.updatesAndAttempts() }

  @Test("a call that ends with its first attempt has that attempt, whatever its size")
  func firstAttempts() throws { try conformance.firstAttempts() }

  @Test("a call that is retried keeps the attempt with which it ended first")
  func firstAttemptsOfRetriedCalls() throws { try conformance.firstAttemptsOfRetriedCalls() }

  @Test("the attempt with which a call ended is erased and removed with it")
  func removedFirstAttempts() throws { try conformance.removedFirstAttempts() }

  @Test("a document is changed as it is in the store")
  func documents() throws {
    let store = try SQLiteStore(path: folder.file("documents.db"))
    defer { store.close() }
    try StoreConformance.documents(store, besides: store)
  }

  @Test("a setting is kept under its name until another takes its place")
  func settings() throws { try conformance.settings() }

  @Test("a key finds its call until it expires, and may then be used again")
  func keys() throws { try conformance.keys() }

  @Test("a discarded call is removed with all its data")
  func discards() throws { try conformance.discards() }

  @Test("a commit that fails leaves nothing behind")
  func rollback() throws { try conformance.rollback() }

  @Test("committed data is there for the next process")
  func durability() throws { try conformance.durability() }

  @Test("due calls are claimed once, earliest first, up to the limit")
  func dueClaims() throws { try conformance.dueClaims() }

  @Test("many due calls of one namespace do not delay those of others")
  func fairClaims() throws { try conformance.fairClaims() }

  @Test("a target's queue is claimed oldest first")
  func queuedClaims() throws { try conformance.queuedClaims() }

  @Test("a claim by id holds a call that has not ended")
  func claimsByID() throws { try conformance.claimsByID() }

  @Test("several calls at once come in the order in which they were named, each for those of its namespace alone")
  func claimsOfSeveral() throws { try conformance.claimsOfSeveral() }

  @Test("a claimed call has its attempts only if its webhook contains them")
  func claimedHistory() throws { try conformance.claimedHistory() }

  @Test("a process that takes over gets the running calls and the number of waiting ones")
  func recovery() throws { try conformance.recovery() }

  @Test("a call that waited for its target is back in its queue after a crash")
  func queueAfterCrash() throws { try conformance.queueAfterCrash() }

  @Test("all changes of a commit are made, or none, however many there are", arguments: 1...3)
  func batches(seed: UInt64) throws { try conformance.batches(seed: seed) }

  @Test("an interruption survives a crash of the process that recovers it")
  func twiceRunning() throws { try conformance.twiceRunning() }

  @Test(
    "running calls are distinguished from waiting ones, in lists and after a crash",
    arguments: 1...4)
  func runningAfterCrash(seed: UInt64) throws { try conformance.runningAfterCrash(seed: seed) }

  @Test("a target's queue is claimed by priority first")
  func priorities() throws { try conformance.priorities() }

  @Test("operators' settings of targets are there for the next process")
  func controls() throws { try conformance.controls() }

  @Test("the calls of an ordering key have their turns one after the other, in order")
  func turns() throws { try conformance.turns() }

  @Test("a turn is never lost or given twice, whatever happens to the calls", arguments: [1, 2, 3] as [UInt64])
  func turnsAgree(seed: UInt64) throws { try conformance.turnsAgree(seed: seed) }

  @Test("lists agree with a naive model, page by page", arguments: [1, 2, 3] as [UInt64])
  func listing(seed: UInt64) throws { try conformance.listing(seed: seed) }

  @Test("lists by any conditions agree with a naive model, page by page", arguments: [1, 2, 3] as [UInt64])
  func filtering(seed: UInt64) throws { try conformance.filtering(seed: seed) }

  @Test("manual retries and erasures survive a restart, and are removed with their call")
  func afterTheFact() throws { try conformance.afterTheFact() }

  @Test("waiting calls are counted like in a naive model", arguments: [1, 2, 3] as [UInt64])
  func backlog(seed: UInt64) throws { try conformance.backlog(seed: seed) }

  @Test("the deadlines of a queue are in the order in which its calls start", arguments: [1, 2, 3] as [UInt64])
  func deadlines(seed: UInt64) throws { try conformance.deadlines(seed: seed) }

  @Test("finished calls are removed after their time, with all their data, and no others are")
  func retentionByAge() throws { try conformance.retentionByAge() }

  @Test("a call that is about to be retried is not removed")
  func retentionDuringOperation() throws { try conformance.retentionDuringOperation() }

  @Test("in a store that is too large the calls that ended first are removed early, but not at once")
  func retentionByBytes() throws { try conformance.retentionByBytes() }

  @Test("the kept counts of finished calls agree with a naive model", arguments: [1, 2, 3] as [UInt64])
  func finishedCounts(seed: UInt64) throws { try conformance.finishedCounts(seed: seed) }
}
