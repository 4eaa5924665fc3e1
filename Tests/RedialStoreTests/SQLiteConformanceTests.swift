import RedialStore
import Testing

@Suite("SQLite does what any store has to do")
struct SQLiteConformanceTests {
  let folder = TemporaryFolder()

  var conformance: StoreConformance {
    let path = folder.file("calls.db")
    return StoreConformance(
      openStore: { try SQLiteStore(path: path) }, openReader: { try SQLiteReader(path: path, connections: 2) })
  }

  @Test("every field of a call comes back as it was given")
  func callRoundTrip() throws { try conformance.callRoundTrip() }

  @Test("progress and attempts come back, with the responses that were asked for")
  func updatesAndAttempts() throws { try conformance.updatesAndAttempts() }

  @Test("a setting is kept under its name until another takes its place")
  func settings() throws { try conformance.settings() }

  @Test("a key finds its call until it expires, and may then be used again")
  func keys() throws { try conformance.keys() }

  @Test("what is discarded is gone with all that belongs to it")
  func discards() throws { try conformance.discards() }

  @Test("a commit that fails leaves nothing behind")
  func rollback() throws { try conformance.rollback() }

  @Test("what was committed is there for the next process")
  func durability() throws { try conformance.durability() }

  @Test("due calls are claimed once, earliest first, up to the limit")
  func dueClaims() throws { try conformance.dueClaims() }

  @Test("a crowd that one namespace has due keeps no other's calls waiting")
  func fairClaims() throws { try conformance.fairClaims() }

  @Test("a target's queue is claimed oldest first")
  func queuedClaims() throws { try conformance.queuedClaims() }

  @Test("a claim by identity holds what has not ended")
  func claimsByID() throws { try conformance.claimsByID() }

  @Test("a claimed call brings its attempts along only for its webhook")
  func claimedHistory() throws { try conformance.claimedHistory() }

  @Test("a process that takes over knows what was running and what waits")
  func recovery() throws { try conformance.recovery() }

  @Test("a call that waited for its target is back in its queue after a crash")
  func queueAfterCrash() throws { try conformance.queueAfterCrash() }

  @Test("all changes of a commit are made, or none, however many there are", arguments: 1...3)
  func batches(seed: UInt64) throws { try conformance.batches(seed: seed) }

  @Test("an interruption survives a crash of the process that recovers it")
  func twiceRunning() throws { try conformance.twiceRunning() }

  @Test(
    "whichever way calls went, those under way are told from those that wait, in lists and after a crash",
    arguments: 1...4)
  func runningAfterCrash(seed: UInt64) throws { try conformance.runningAfterCrash(seed: seed) }

  @Test("a target's queue is claimed by priority first")
  func priorities() throws { try conformance.priorities() }

  @Test("what operators have made of targets is there for the next process")
  func controls() throws { try conformance.controls() }

  @Test("the calls of an ordering key have their turns one after the other, in order")
  func turns() throws { try conformance.turns() }

  @Test("a turn is never lost or given twice, whatever becomes of the calls", arguments: [1, 2, 3] as [UInt64])
  func turnsAgree(seed: UInt64) throws { try conformance.turnsAgree(seed: seed) }

  @Test("lists agree with a naive model, page by page", arguments: [1, 2, 3] as [UInt64])
  func listing(seed: UInt64) throws { try conformance.listing(seed: seed) }

  @Test("lists by any conditions agree with a naive model, page by page", arguments: [1, 2, 3] as [UInt64])
  func filtering(seed: UInt64) throws { try conformance.filtering(seed: seed) }

  @Test("manual retries and erasures are there when the store is opened again, and go with their call")
  func afterTheFact() throws { try conformance.afterTheFact() }

  @Test("what waits is counted as a naive model counts it", arguments: [1, 2, 3] as [UInt64])
  func backlog(seed: UInt64) throws { try conformance.backlog(seed: seed) }

  @Test("finished calls go when their time is over, with all that belongs to them, and no others")
  func retentionByAge() throws { try conformance.retentionByAge() }

  @Test("a call that is about to be retried is not removed before")
  func retentionDuringOperation() throws { try conformance.retentionDuringOperation() }

  @Test("in a store that is too large the calls that ended first go before their time, but not at once")
  func retentionByBytes() throws { try conformance.retentionByBytes() }

  @Test("the kept counts of finished calls agree with a naive model", arguments: [1, 2, 3] as [UInt64])
  func finishedCounts(seed: UInt64) throws { try conformance.finishedCounts(seed: seed) }
}
