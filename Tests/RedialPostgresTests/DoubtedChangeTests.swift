import Polling
import Dispatch
import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("A change of the service itself is made once or not at all, and its outcome says which")
struct DoubtedChangeTests {
  let database = TestDatabase()

  private static func operation(_ id: Int64) throws -> StoreWrite {
    let request = try Array(#"{"action": "cancel", "all": true}"#.utf8).withUnsafeBufferPointer {
      try BulkRequest.read($0, rate: 5, at: Sample.start)
    }
    let operation = BulkOperation(id: BulkOperationID(rawValue: id), request: request, createdAt: Sample.start)
    return .put(operation.document)
  }

  private func store(
    _ proxy: Proxy, connectsWithin patience: Duration = .seconds(60), answersWithin limit: Duration = .seconds(60)
  ) throws -> PostgresStore {
    // To make the tables may take longer than that.
    try PostgresStore(database.settings).close()
    var settings = proxy.settings(for: database.settings, of: database.cluster)
    settings.connectTimeout = patience
    settings.answerTimeout = limit
    var store: PostgresStore?
    poll("no connection") {
      store = store ?? (try? PostgresStore(settings))
      return (try? store?.documents(.apiKey)) != nil
    }
    return try #require(store)
  }

  @Test("when the answer is lost: it was made, and that is known")
  func lostAnswer() throws {
    let proxy = Proxy(database.cluster)
    defer { proxy.close() }
    let store = try store(proxy)
    defer { store.close() }
    for round in 1...3 {
      proxy.loseAnswer(to: "upsert_document")
      try store.commit([Self.operation(Int64(round))])
      #expect(try database.number("SELECT count(*) FROM documents") == Int64(round))
    }

    proxy.loseAnswer(to: "insert_document")
    try store.addSecret(StoredDocument(.apiKey, id: "a", [1]))
    proxy.loseAnswer(to: "replace_document")
    #expect(try store.replaceDocument(.apiKey, id: "a", [1], with: [2]))
    proxy.loseAnswer(to: "replace_document")
    #expect(try !store.replaceDocument(.apiKey, id: "a", [1], with: [3]))
    #expect(try store.document(.apiKey, id: "a") == [2])
    proxy.loseAnswer(to: "delete_document")
    try store.commit([.remove(.apiKey, id: "a")])
    #expect(try store.document(.apiKey, id: "a") == nil)
    #expect(try database.number("SELECT count(*) FROM commits") == 1, "the ledger keeps the last change only")
  }

  @Test("when the server would make it later: it is not made any more")
  func late() throws {
    let proxy = Proxy(database.cluster)
    defer { proxy.close() }
    let store = try store(proxy, answersWithin: .milliseconds(500))
    defer { store.close() }
    let holder = try PostgresConnection(database.settings)
    try holder.execute(["BEGIN", "LOCK documents IN ACCESS EXCLUSIVE MODE"], purpose: "lock", within: .seconds(60))
    let error = #expect(throws: StoreError.self) { try store.commit([Self.operation(1)]) }
    #expect(error?.kind == .unavailable, "\(error?.message ?? "")")
    try holder.execute(["COMMIT"], purpose: "unlock", within: .seconds(60))
    let busy = """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()
      """
    try poll { try database.number(busy) == 0 }
    #expect(try database.number("SELECT count(*) FROM documents") == 0)
    poll("it is not made") { (try? store.commit([Self.operation(2)])) != nil }
    #expect(try database.number("SELECT sum(id::int8)::int8 FROM documents") == 2)
  }

  @Test("when the database cannot be asked, its outcome is unknown, and nobody else's secret stays")
  func unknown() throws {
    let proxy = Proxy(database.cluster)
    defer { proxy.close() }
    let store = try store(proxy, connectsWithin: .milliseconds(500))
    defer { store.close() }
    proxy.loseAnswer(to: "upsert_document", then: .freeze)
    var error = #expect(throws: StoreError.self) { try store.commit([Self.operation(1)]) }
    #expect(error?.kind == .outcomeUnknown)
    #expect(throws: StoreError.self) { try store.commit([Self.operation(2)]) }
    proxy.mode = .pass
    poll("it is not made") { (try? store.commit([Self.operation(3)])) != nil }
    #expect(try database.number("SELECT sum(id::int8)::int8 FROM documents WHERE kind = 'operation'") == 4)

    proxy.loseAnswer(to: "insert_document", then: .freeze)
    error = #expect(throws: StoreError.self) { try store.addSecret(StoredDocument(.apiKey, id: "a", [1])) }
    #expect(error?.kind == .outcomeUnknown)
    #expect(try database.number("SELECT count(*) FROM documents WHERE kind = 'apiKey'") == 1, "it was made")
    proxy.mode = .pass
    poll("it cannot be read") { (try? store.documents(.apiKey)) != nil }
    #expect(
      try store.documents(.apiKey).isEmpty
        && database.number("SELECT count(*) FROM documents WHERE kind = 'apiKey'") == 0)
    try store.addSecret(StoredDocument(.apiKey, id: "a", [1]))
    #expect(try store.document(.apiKey, id: "a") == [1])
  }
}
