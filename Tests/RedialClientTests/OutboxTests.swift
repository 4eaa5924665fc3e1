import Foundation
import HTTPServer
@testable import RedialClient
import RedialTestSupport
import Testing

@Suite("A call in an outbox is made if its transaction commits, and only then", .timeLimit(.minutes(5)))
struct OutboxTests {
  private static let outbox = Outbox(.sqlite)
  private static let accepts = ScriptedService.Act.call(.running, status: 202)

  private static func relay(
    _ url: URL, _ database: ShopDatabase, clock: any RetryClock = TestClock(), workers: Int = 8
  ) -> OutboxRelay {
    var client = RedialClient(url)
    client.clock = clock
    return OutboxRelay(outbox, client: client, database: database, workers: workers)
  }

  private static func call(_ name: String, orderingKey: String? = nil) -> OutgoingCall {
    OutgoingCall(loopback(1, "/\(name)"), method: "POST", orderingKey: orderingKey)
  }

  /// The name in the URL of a call.
  private static func name(_ request: ScriptedService.Request) -> String {
    struct Call: Decodable { var url: URL }
    return (try? JSONDecoder().decode(Call.self, from: Data(request.body)))?.url.lastPathComponent ?? ""
  }

  @Test("a commit is submitted once, under its key and byte for byte; a rollback never")
  func commit() async throws {
    try await ShopDatabase.run { shop, other async throws in
      try await shop.query("BEGIN")
      let key = try await Self.outbox.submit(Self.call("kept"), to: shop)
      let stored = try await shop.texts("SELECT descriptor FROM redial_outbox")
      try await shop.query("COMMIT")
      try await shop.query("BEGIN")
      try await Self.outbox.submit(Self.call("gone"), to: shop)
      try await shop.query("ROLLBACK")
      let strange = #"{ "url" : "http://127.0.0.1/é",  "method":"POST" , "x": 1.0 }"#
      try await shop.query(Self.outbox.dialect.insert, [.text("a\"b, c"), .text(strange)])
      try await ScriptedService.run { _, _ in
        Self.accepts
      } body: { url, service async throws in
        let relay = Self.relay(url, other, workers: 1)
        #expect(try await relay.runOnce() == 2)
        #expect(service.requests.map { String(decoding: $0.body, as: UTF8.self) } == stored + [strange])
        #expect(service.requests.map(\.idempotencyKey) == [key, #""a\"b, c""#])
        #expect(service.requests.allSatisfy { $0.method == "POST" && $0.path == "/v1/calls" })
        #expect(try await relay.runOnce() == 0)
        #expect(service.requests.count == 2)
      }
    }
  }

  @Test("what is written is ASCII, and is answered when it is repeated, unless it says otherwise")
  func written() throws {
    var call = Self.call("a")
    call.description = "é € 🙂 \\ \" \u{7F} %s ?"
    let row = try Outbox(.postgresql).insertion(of: call, idempotencyKey: "charge-7")
    #expect(row.statement == "INSERT INTO redial_outbox (idempotency_key, descriptor) VALUES ($1, $2)")
    #expect(row.idempotencyKey == "charge-7")
    guard row.values.count == 2, case .text(let text) = row.values[1] else {
      throw ShopDatabase.Failed(message: "\(row)")
    }
    #expect(row.values[0] == .text("charge-7"))
    #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) })
    let members = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
    #expect(members["description"] == call.description)
    #expect(members["onRepeat"] == "answer")
    call.onRepeat = .rerun
    let other = try Outbox(.mysql).insertion(of: call)
    #expect("\(other.values)".contains("rerun"))
    #expect(other.statement.hasSuffix("VALUES (?, ?)"))
    let keys = try (1...2).map { _ in try Outbox(.mysql).insertion(of: call).idempotencyKey }
    #expect(keys[0] != keys[1])
  }

  @Test(
    "a key that a database may change is refused",
    arguments: ["", "a ", "é", "a\n", String(repeating: "k", count: 256)])
  func invalidKey(key: String) throws {
    let error = #expect(throws: InvalidIdempotencyKey.self) {
      try Self.outbox.insertion(of: Self.call("a"), idempotencyKey: key)
    }
    #expect(error?.description.contains("1 to 255 visible ASCII") == true)
  }

  @Test("a row whose answer is lost, or is none of the service, stays, and is submitted again under its key")
  func lostAnswer() async throws {
    try await ShopDatabase.run { shop, other async throws in
      let key = try await Self.outbox.submit(Self.call("a"), to: shop, idempotencyKey: "charge-7")
      try await ScriptedService.run { _, number in
        switch number {
        case 1: .reset
        case 2: .answer(HTTPResponse(status: 200, text: #"{"id": "other"}"#))
        case 3: .answer(HTTPResponse(status: 400, text: "<html>"))
        default: Self.accepts
        }
      } body: { url, service async throws in
        let relay = Self.relay(url, other)
        await #expect(throws: RedialTransportError.self) { try await relay.runOnce() }
        await #expect(throws: UnexpectedAnswer.self) { try await relay.runOnce() }
        await #expect(throws: RedialProblem.self) { try await relay.runOnce() }
        #expect(try await shop.texts("SELECT idempotency_key FROM redial_outbox WHERE problem_code IS NULL") == [key])
        #expect(try await relay.runOnce() == 1)
        #expect(service.requests.map(\.idempotencyKey) == [key, key, key, key])
        #expect(Set(service.requests.map(\.body)).count == 1)
      }
    }
  }

  @Test("a refused row stays with its problem, others go on, and it is submitted once it is mended")
  func refused() async throws {
    try await ShopDatabase.run { shop, other async throws in
      try await Self.outbox.submit(Self.call("bad", orderingKey: "k"), to: shop)
      try await Self.outbox.submit(Self.call("good", orderingKey: "k"), to: shop)
      try await shop.query(Self.outbox.dialect.insert, [.text("é"), .text("{}")])
      try await ScriptedService.run { request, number in
        number == 1 ? .problem(422) : Self.accepts
      } body: { url, service async throws in
        let relay = Self.relay(url, other, workers: 1)
        #expect(try await relay.runOnce() == 1)
        #expect(service.requests.map(Self.name) == ["bad", "good"])
        let codes = try await shop.texts("SELECT problem_code FROM redial_outbox ORDER BY id")
        #expect(codes == ["someCode", "invalidIdempotencyKey"])
        #expect(try await shop.texts("SELECT problem_detail FROM redial_outbox ORDER BY id")[0] == "Some detail.")
        #expect(try await relay.runOnce() == 0)
        try await shop.query("UPDATE redial_outbox SET problem_code = NULL, problem_detail = NULL WHERE id = 1")
        #expect(try await relay.runOnce() == 1)
        #expect(service.requests[2].idempotencyKey == service.requests[0].idempotencyKey)
      }
    }
  }

  @Test("rows with the same ordering key are submitted in their order, also if one of them must wait")
  func order() async throws {
    try await ShopDatabase.run { shop, other async throws in
      for number in 0..<20 {
        for key in ["a", "b"] {
          try await Self.outbox.submit(Self.call("\(key)\(number)", orderingKey: key), to: shop)
        }
      }
      try await ScriptedService.run { request, _ in
        Self.name(request) == "a7" ? .problem(503) : Self.accepts
      } body: { url, service async throws in
        await #expect(throws: RedialProblem.self) { try await Self.relay(url, other).runOnce() }
        let names = service.requests.map(Self.name)
        #expect(names.filter { $0.hasPrefix("a") } == (0...7).map { "a\($0)" })
        #expect(names.filter { $0.hasPrefix("b") } == (0..<20).map { "b\($0)" })
      }
      try await ScriptedService.run { _, _ in
        Self.accepts
      } body: { url, service async throws in
        #expect(try await Self.relay(url, other).runOnce() == 13)
        #expect(service.requests.map(Self.name) == (7..<20).map { "a\($0)" })
      }
    }
  }

  @Test("a relay waits while the service is away, goes on, and gives the hold away when it is cancelled")
  func away() async throws {
    try await ShopDatabase.run { shop, other async throws in
      let key = try await Self.outbox.submit(Self.call("a"), to: shop)
      let clock = TestClock()
      try await ScriptedService.run { _, number in
        number == 1 ? .problem(503, retryAfter: 7) : number <= 4 ? .problem(401) : Self.accepts
      } body: { url, service async throws in
        let relay = Self.relay(url, other, clock: clock)
        let running = Task { await relay.run() }
        try await shop.waitUntilEmpty()
        running.cancel()
        await running.value
        #expect(service.requests.map(\.idempotencyKey) == Array(repeating: key, count: 5))
        let waits = clock.waits
        #expect(waits.count >= 4 && waits[0] == .seconds(7))
        #expect(waits.count >= 4 && (.milliseconds(250)...(.milliseconds(500))).contains(waits[1]))
        #expect(waits.count >= 4 && (.milliseconds(1_000)...(.milliseconds(2_000))).contains(waits[3]))
        #expect(try await shop.query("SELECT held_until FROM redial_outbox_relay") == [[.integer(0)]])
      }
    }
  }

  @Test("a relay stands by while another holds the outbox, and looks at once when it is woken")
  func standsBy() async throws {
    try await ShopDatabase.run { shop, other async throws in
      try await Self.outbox.submit(Self.call("a"), to: shop)
      let clock = TestClock(.manual)
      let now = clock.wallTime.microseconds / 1_000_000
      try await shop.query(Self.outbox.dialect.firstHold, [.text("other"), .integer(now + 10)])
      try await ScriptedService.run { _, _ in
        Self.accepts
      } body: { url, service async throws in
        let relay = Self.relay(url, other, clock: clock)
        let running = Task { await relay.run() }
        await clock.waitForSleepers()
        #expect(service.requests.isEmpty)
        clock.advance(by: .seconds(11))
        try await shop.waitUntilEmpty()
        await clock.waitForSleepers()
        try await Self.outbox.submit(Self.call("b"), to: shop)
        await relay.wake()
        try await shop.waitUntilEmpty()
        running.cancel()
        await running.value
        #expect(service.requests.map(Self.name) == ["a", "b"])
      }
    }
  }

  @Test("the tables are those of the page")
  func tables() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(
      contentsOf: root.deletingLastPathComponent().appendingPathComponent("docs/outbox.md"), encoding: .utf8)
    let blocks = page.components(separatedBy: "```sql\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }.filter { $0.hasPrefix("CREATE") }
    let written = blocks.map { block in
      block.components(separatedBy: ";\n").filter { !$0.isEmpty }
    }
    #expect(written == [OutboxDialect.postgresql, .mysql, .sqlite].map(\.tables))
  }
}
