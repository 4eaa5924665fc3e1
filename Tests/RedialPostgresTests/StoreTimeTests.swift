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
    let store = try PostgresStore(proxy.settings(for: database.settings, of: database.cluster))
    defer { store.close() }
    proxy.delayAnswer(to: text, seconds: 4)
    let read = PostgresQuery("now", "read the time", "SELECT \(LeaseQueries.now("NULL"))")
    let before = try database.number(read.sql)
    let time = try store.time().microseconds
    let after = try database.number(read.sql)
    #expect(after - before >= 4_000_000, "it was late")
    // The middle of all would be two seconds ahead, or behind.
    #expect(abs(time - after) < 1_000_000, "\(time - after) us ahead")
  }
}
