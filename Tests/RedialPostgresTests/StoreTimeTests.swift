import Polling
import RedialCore
import RedialStore
import Testing

@testable import RedialPostgres

@Suite("The time of the store")
struct StoreTimeTests {
  let database = TestDatabase()

  @Test("is right although the connection, or one look at it, is slow", arguments: ["ping", "time"])
  func slow(asked text: String) throws {
    let proxy = Proxy(database.cluster)
    defer { proxy.close() }
    let read = PostgresQuery("now", "read the time", "SELECT \(LeaseQueries.now("NULL"))")
    var ahead: [Int64] = []
    // The middle of all would be half a second ahead, or behind. A busy machine may bring one this far behind, but not all.
    try poll("\(ahead) us ahead") {
      let store = try PostgresStore(proxy.settings(for: database.settings, of: database.cluster))
      defer { store.close() }
      proxy.delayAnswer(to: text, by: .seconds(1))
      let before = try database.number(read.sql)
      let sample = try store.time()
      let middle = sample.asked + (sample.answered - sample.asked) / 2
      let time = (sample.time + middle.duration(to: .now)).microseconds
      let after = try database.number(read.sql)
      #expect(after - before >= 1_000_000, "it was late")
      ahead.append(time - after)
      return abs(time - after) < 250_000
    }
  }
}
