import Polling
import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Synchronization
import Testing

@testable import RedialPostgres

@Suite("Commits that a database does not have any more")
struct LostCommitsTests {
  let database = TestDatabase()

  /// The last commits that an instance knows of a ledger.
  private func known(_ instance: Instance, _ ledger: Int64) -> Int64? {
    instance.store.lane.needs.ledgers.watch.withLock { $0.known[ledger] }
  }

  private func last(of ledger: Int64) throws -> Int64 {
    try database.number("SELECT max(seq) FROM commits WHERE session = \(ledger)")
  }

  /// As on a server that lacks the last commits.
  private func lose(_ count: Int64, of ledger: Int64) throws {
    _ = try database.rows("DELETE FROM commits WHERE session = \(ledger) AND seq > \(try last(of: ledger) - count)")
  }

  @Test("an instance reports what it has lost, once, and stores it for the others, which report it too")
  func own() throws {
    let one = try Instance(database.settings)
    let other = try Instance(database.settings)
    defer { for instance in [one, other] { instance.kill() } }
    let session = try one.lease().session.id
    for number in 1...5 { try one.works.commit([.insert(Sample.call(number))]) }
    let made = try last(of: session)
    #expect(known(one, session) == made)
    poll { known(other, session) == made }
    try lose(3, of: session)
    poll { !one.losses.all.isEmpty }
    #expect(one.losses.all == [["\(made)", "\(made - 3)", "this"]])
    // It has no session, and has seen the same.
    poll { !other.losses.all.isEmpty }
    for instance in [one, other] {
      #expect(instance.news.wait { if case .commitsLost(let loss) = $0 { loss.count == 3 } else { false } })
    }
    let stored = try database.rows("SELECT value FROM settings WHERE name = 'lostCommits'").text(0, 0)
    #expect(LostCommits(stored).map { [$0.made, $0.found] } == [made, made - 3])
    let later = try Instance(database.settings)
    defer { later.kill() }
    poll { later.losses.all == [["\(made)", "\(made - 3)", "another"]] }
    #expect([one, other].allSatisfy { $0.losses.all.count == 1 }, "each says it once")
  }

  @Test("an instance without a session reports what another one has lost that is gone")
  func gone() throws {
    let gone = try Instance(database.settings, meets: false)
    let other = try Instance(database.settings)
    defer { other.kill() }
    let session = try gone.lease().session.id
    for number in 1...5 { try gone.works.commit([.insert(Sample.call(number))]) }
    let made = try last(of: session)
    poll { known(other, session) == made }
    gone.kill()
    try lose(2, of: session)
    poll { !other.losses.all.isEmpty }
    #expect(other.losses.all == [["\(made)", "\(made - 2)", "this"]])
  }

  @Test("a session that has ended by time is still missed, whoever has ended it")
  func ended() throws {
    let one = try Instance(database.settings)
    defer { one.kill() }
    let session = try one.lease().session.id
    try one.works.commit([.insert(Sample.call(1))])
    let made = try last(of: session)
    _ = try database.rows("WITH b AS (DELETE FROM beats) DELETE FROM sessions")
    #expect(one.news.wait { $0 == .changed })
    #expect(try one.lease().session.id != session)
    try lose(1, of: session)
    poll { !one.losses.all.isEmpty }
    #expect(one.losses.all == [["\(made)", "\(made - 1)", "this"]])
  }

  @Test("a change of documents that is lost is reported, though no call was")
  func documents() throws {
    let one = try Instance(database.settings)
    defer { one.kill() }
    for id in ["a", "b"] { try one.store.commit([.put(StoredDocument(.apiKey, id: id, [1]))]) }
    // Its row is the only one: of a ledger without a row no more is lost than was known.
    _ = try database.rows("UPDATE commits SET seq = 1")
    poll { !one.losses.all.isEmpty }
    #expect(one.losses.all == [["2", "1", "this"]])
  }

  @Test("a setting that is no loss does no harm")
  func nonsense() throws {
    try Instance(database.settings, meets: false).kill()
    _ = try database.rows("INSERT INTO settings VALUES ('lostCommits', 'x')")
    let one = try Instance(database.settings)
    defer { one.kill() }
    let session = try one.lease().session.id
    for number in 1...3 { try one.works.commit([.insert(Sample.call(number))]) }
    try lose(1, of: session)
    poll { one.losses.all.count == 1 }
    #expect(one.news.wait { if case .commitsLost = $0 { true } else { false } }, "it is replaced")
  }
}
