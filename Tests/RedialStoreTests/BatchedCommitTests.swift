import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

/// A commit stores the rows of its calls together, and so not in their original order.
@Suite("A commit of many changes")
struct BatchedCommitTests {
  let folder = TemporaryFolder()

  @Test(
    "leaves the store as its changes would one by one, whatever the engine requests at one time",
    arguments: [StoreSharing.alone, .shared], 0..<10)
  func order(sharing: StoreSharing, seed: Int) throws {
    // With few kept responses, storing an attempt often changes an earlier one.
    let payloads = PayloadRule(keptResponses: seed % 2 == 0 ? 1 : 5)
    let (whole, single) = (try open("whole.db", sharing, payloads), try open("single.db", sharing, payloads))
    defer {
      whole.close()
      single.close()
    }
    var history = CallHistory(seed: UInt64(seed))
    for round in 0..<12 {
      let writes = history.next()
      try whole.commit(writes)
      for write in writes { try single.commit([write]) }
      let (found, expected) = (try StoreRows.all(of: whole), try StoreRows.all(of: single))
      for (table, rows) in expected {
        let differing = Set(found[table] ?? []).symmetricDifference(rows).map { $0.prefix(200) }.sorted()
        #expect(differing == [], "\(table) after commit \(round) of seed \(seed)")
      }
    }
    let rows = try StoreRows.all(of: whole)
    for table in ["calls", "attempts", "keys", "labels", "turns", "targets", "finished_counts"] {
      #expect(rows[table]?.isEmpty == false, "nothing is in \(table)")
    }
    #expect(rows["unfinished_counts"]?.isEmpty == (sharing == .alone))
    var counts = StoreFinding(check: .keptCounts)
    try LeaseFindings(on: whole.file.connection).addMiscounts(to: &counts)
    #expect(counts.examples == [])
  }

  private func open(_ name: String, _ sharing: StoreSharing, _ payloads: PayloadRule) throws -> SQLiteStore {
    let store = try SQLiteStore(path: folder.file(name), payloads: payloads, sharing: sharing, log: nil)
    if sharing == .shared {
      _ = try store.lease(LeaseRequest(duration: .seconds(60)), renewing: nil)
    }
    return store
  }
}
