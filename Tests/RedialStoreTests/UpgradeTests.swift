import RedialCore
import RedialModel
import Testing

@testable import RedialStore

@Suite("Stores of older versions")
struct UpgradeTests {
  let folder = TemporaryFolder()

  @Test("calls that are there already are found by their labels, and one that is damaged stops nobody")
  func labels() throws {
    let path = folder.file("calls.db")
    let before = try #require(Schema.migrations.firstIndex { $0.contains("CREATE TABLE labels") })
    let old = try SQLiteConnection(path: path, role: .writer)
    try old.execute(
      "prepare the test",
      "PRAGMA journal_mode = WAL; \(Schema.migrations[..<before].joined(separator: "\n"))"
        + "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(before);")
    let spec = Sample.spec(labels: [.init(name: "team", value: "it's \"a\""), .init(name: "x.y", value: "")])
    for (number, text) in [String(decoding: spec.canonicalJSON, as: UTF8.self), "{"].enumerated() {
      try old.execute(
        "prepare the test",
        "INSERT INTO calls (id, kind, target_id, created_at, state, due, attempts, interruptions, attempts_before,"
          + " round_started_at) VALUES (\(number + 1), 0, 1, 0, 0, 0, 0, 0, 0, 0);"
          + "INSERT INTO requests (id, spec) VALUES (\(number + 1), CAST('\(text.replacing("'", with: "''"))' AS BLOB))"
      )
    }
    old.close()
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    let reader = try SQLiteReader(path: path, connections: 1)
    for label in spec.labels {
      #expect(try reader.ids(CallQuery(CallFilter(labels: [label]))).calls == [CallID(rawValue: 1)])
    }
  }

  @Test("turns that are there already are those of their calls' namespaces, and webhooks are found by no label")
  func turnsAndLabels() throws {
    let path = folder.file("calls.db")
    let before = try #require(Schema.migrations.firstIndex { $0.contains("turns_by_namespace") })
    let old = try SQLiteConnection(path: path, role: .writer)
    let insert = { (number: Int, kind: Int, namespace: Int) in
      "INSERT INTO calls (id, kind, namespace, target_id, created_at, state, due, attempts, interruptions,"
        + " attempts_before, round_started_at, waiting)"
        + " VALUES (\(number), \(kind), \(namespace), \(namespace + 1), 0, 1, 0, 0, 0, 0, 0, 8);"
        + "INSERT INTO labels VALUES ('\(namespace > 0 ? "x" : "event")', 'call.failed', \(number));"
        + "INSERT INTO turns (call_id, target_id, key, has_turn) VALUES (\(number), \(namespace + 1), 'k', 0);"
    }
    try old.execute(
      "prepare the test",
      "PRAGMA journal_mode = WAL; \(Schema.migrations[..<before].joined(separator: "\n"))"
        + "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(before);"
        + "INSERT INTO namespaces VALUES (1, 'acme');"
        + "INSERT INTO targets (id, key) VALUES (1, 't'), (2, 'acme' || char(31) || 't');"
        + insert(1, 0, 0) + insert(2, 1, 0) + insert(3, 0, 1)
        + "INSERT INTO labels VALUES ('acme' || char(31) || 'team', 'a', 1);"
        // So that no turn is free, to be given to anybody.
        + "INSERT INTO turns (call_id, target_id, key, has_turn) VALUES (8, 1, 'k', 1), (9, 2, 'k', 1);")
    old.close()
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    let reader = try SQLiteReader(path: path, connections: 1)
    let acme = try #require(Namespace("acme"))
    let counts = try reader.backlog(of: nil, in: acme, limit: 10).counts
    #expect(counts.map(\.count) == [1] && counts.map(\.target) == [QualifiedKey.make("t", in: acme)])
    #expect(try reader.backlog(of: nil, in: .default, limit: 10).counts.map(\.count) == [2])
    let event = CallSpec.Label(name: "event", value: "call.failed")
    #expect(try reader.ids(CallQuery(CallFilter(labels: [event]))).calls == [CallID(rawValue: 1)])
    // A name from before there were namespaces is not taken for that of another.
    let team = CallSpec.Label(name: "team", value: "a")
    var filter = CallFilter(labels: [team])
    filter.namespace = acme
    #expect(try reader.ids(CallQuery(filter)).calls.isEmpty)
  }

  /// Makes a file as it was before a migration, which is known by a piece of its text.
  private func makeFile(before fragment: String, _ sql: String) throws -> String {
    let path = folder.file("calls.db")
    let before = try #require(Schema.migrations.firstIndex { $0.contains(fragment) })
    let old = try SQLiteConnection(path: path, role: .writer)
    try old.execute(
      "prepare the test",
      "PRAGMA journal_mode = WAL; \(Schema.migrations[..<before].joined(separator: "\n"))"
        + "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(before); \(sql)")
    old.close()
    return path
  }

  /// Calls as versions stored them that had a state 3 for attempts under way: held, running, ended, with a label and so many
  /// attempts each.
  private static let callsWithRunning: [(number: Int, state: Int, waiting: String, attempts: Int)] = [
    (1, 2, "NULL", 0), (2, 2, "2", 1), (3, 3, "NULL", 1), (4, 3, "NULL", 3), (5, 5, "NULL", 1), (6, 6, "NULL", 4),
    (7, 1, "4", 2), (8, 0, "1", 0), (9, 3, "NULL", 2),
  ]

  private func fileWithRunning() throws -> String {
    let rows = Self.callsWithRunning.map { call in
      // What is under way has no attempt recorded yet.
      let recorded = call.state == 3 ? call.attempts - 1 : call.attempts
      let (finished, failure) = (call.state >= 5 ? "900" : "NULL", call.state == 6 ? "1" : "NULL")
      let spec = String(decoding: Self.spec(of: call.number).canonicalJSON, as: UTF8.self)
      return "INSERT INTO calls (id, kind, target_id, created_at, state, due, waiting, attempts, interruptions,"
        + " attempts_before, round_started_at, finished_at, failure)"
        + " VALUES (\(call.number), \(call.number == 9 ? 1 : 0), 1, 0, \(call.state), \(call.number * 100), \(call.waiting),"
        + " \(call.attempts), 0, 0, 0, \(finished), \(failure));"
        + "INSERT INTO requests (id, spec, body) VALUES (\(call.number), CAST('\(spec)' AS BLOB), x'6869');"
        + (call.number == 9 ? "" : "INSERT INTO labels VALUES ('team', '\(call.number % 2)', \(call.number));")
        + (0..<recorded).map { index in
          "INSERT INTO attempts (call_id, number, started_at, duration, outcome, status, decision, truncated, response_body)"
            + " VALUES (\(call.number), \(index + 1), \(index), 5, 0, 503, x'7b7d', 0, x'0\(index)');"
        }.joined()
    }
    return try makeFile(
      before: "WHERE namespace IN (SELECT id FROM namespaces) AND kind IN (0, 1) AND state = 3",
      "INSERT INTO targets (id, key, shard) VALUES (1, 'https://example.com', \(ShardSet.shard(of: "https://example.com")));"
        + "INSERT INTO finished_counts VALUES (0, 5, 1), (0, 6, 1);" + rows.joined())
  }

  private static func spec(of number: Int) -> CallSpec {
    Sample.spec(labels: [.init(name: "team", value: "\(number % 2)")])
  }

  @Test("calls whose attempt was under way are found as such, and no others, with every attempt and label")
  func running() throws {
    let path = try fileWithRunning()
    let store = try SQLiteStore(path: path)
    let reader = try SQLiteReader(path: path, connections: 1)
    func ids(_ filter: CallFilter) throws -> [Int64] {
      try reader.ids(CallQuery(filter)).calls.map(\.rawValue)
    }
    #expect(try ids(CallFilter(state: .running)) == [4, 3])
    #expect(try ids(CallFilter(kind: .webhook, state: .running)) == [9])
    #expect(try ids(CallFilter(state: .scheduled)) == [8, 7, 2, 1])
    #expect(try ids(CallFilter(labels: [.init(name: "team", value: "1")])) == [7, 5, 3, 1])
    for call in Self.callsWithRunning {
      let found = try #require(try reader.call(CallID(rawValue: Int64(call.number)), allResponses: true))
      #expect(found.record.progress.state == StoredState(rawValue: UInt8(call.state)))
      #expect(found.record.progress.waiting?.rawValue == UInt8(call.waiting))
      #expect(found.record.progress.due == Timestamp(microseconds: Int64(call.number * 100)))
      let recorded = call.state == 3 ? call.attempts - 1 : call.attempts
      #expect(found.attempts.map(\.number) == Array(1..<(recorded + 1)))
      #expect(found.attempts.map { $0.response?.body } == (0..<recorded).map { [UInt8($0)] })
    }
    let state = try store.recover(at: Sample.start)
    #expect(state.running.map(\.id.rawValue) == [3, 4, 9])
    #expect(state.unfinished == 7)
    // They go on: an attempt that is recorded now is one more.
    var progress = try #require(state.running.last).progress
    (progress.state, progress.finishedAt) = (.succeeded, Sample.start)
    try store.commit([.update(CallID(rawValue: 9), progress, Sample.attempt(2))])
    #expect(try reader.call(CallID(rawValue: 9), allResponses: true)?.attempts.map(\.number) == [1, 2])
    var call = Sample.call(1, .running)
    call.progress.attempts = 1
    try store.commit([.insert(call), .update(call.id, call.progress, Sample.attempt(1))])
    #expect(throws: StoreError.self) { try store.commit([.update(call.id, call.progress, Sample.attempt(1))]) }
    #expect(try reader.call(call.id, allResponses: true)?.attempts == [Sample.attempt(1)])
    // Judged by their last attempts.
    #expect(try ids(CallFilter(statuses: 503...503)) == [call.id.rawValue, 7, 6, 5, 4, 2])
    store.close()
    let inspection = try StoreInspection(path: path)
    let report = try inspection.report(at: Sample.start)
    inspection.close()
    #expect(report.isClean, "\(report.findings.filter { $0.count > 0 })")
  }

  @Test("calls of an older version are removed with all that belongs to them")
  func removal() throws {
    let path = try fileWithRunning()
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    try store.commit(Self.callsWithRunning.map { .discard(CallID(rawValue: Int64($0.number))) })
    for table in ["calls", "requests", "attempts", "labels"] {
      #expect(try store.connection.value("check", "SELECT count(*) FROM \(table)") { $0.integer(0) } == 0, "\(table)")
    }
  }

  @Test(
    "a removed call leaves no label behind, whatever its spec says by then",
    arguments: [
      "SELECT 1", "UPDATE requests SET spec = x'7b00'", "UPDATE requests SET spec = x'7b7d7d'", "DELETE FROM requests",
      // Still a spec, of other labels; one whose last label is cut off.
      "UPDATE requests SET spec = CAST(replace(CAST(spec AS TEXT), '\"a\"', '\"z\"') AS BLOB)",
      "UPDATE requests SET spec = CAST(replace(CAST(spec AS TEXT), '\"a\"', '') AS BLOB)",
    ])
  func removedLabels(damage: String) throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    let acme = try #require(Namespace("acme"))
    let labels = [
      CallSpec.Label(name: "team \"x\"", value: "a"), .init(name: "é", value: "\n"), .init(name: "a", value: ""),
    ]
    func call(_ number: Int, in namespace: Namespace, header: HeaderField?) -> CallRecord {
      let spec = CallSpec(
        url: "https://example.com/\"labels\":{", method: "POST", headers: header.map { [$0] } ?? [],
        target: QualifiedKey.make("t", in: namespace), policy: RetryPolicy(), labels: labels, captureLimit: 0)
      return CallRecord(
        id: Sample.id(number), kind: .call, spec: spec, body: [], createdAt: Sample.start,
        progress: Sample.call(number, .succeeded).progress)
    }
    // A header field that looks like labels, or like a namespace, comes before them.
    let calls = [
      call(1, in: .default, header: nil), call(2, in: acme, header: nil),
      call(3, in: acme, header: HeaderField("labels", "x")),
      call(4, in: .default, header: HeaderField("namespace", "acme")),
      Sample.call(5, .succeeded), Sample.call(6, .succeeded, kind: .webhook, labels: labels),
    ]
    let other = call(7, in: acme, header: nil)
    try store.commit((calls + [other]).map { .insert($0) })
    try store.connection.execute(
      "prepare the test", damage + (damage == "SELECT 1" ? "" : " WHERE id < \(other.id.rawValue)"))
    try store.commit(calls.map { .discard($0.id) })
    let left = try store.connection.prepare("check", "SELECT DISTINCT call_id FROM labels").rows {
      row throws(StoreError) in CallID(rawValue: row.integer(0))
    }
    #expect(left == [other.id])
    let number = try store.connection.value("check", "SELECT count(*) FROM labels") { $0.integer(0) }
    #expect(number == Int64(labels.count))
  }

  @Test("a webhook is not found by the label that names its event, and its call's own label is")
  func webhookLabels() throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    let label = CallSpec.Label(name: "event", value: "call.failed")
    let webhook = Sample.call(1, kind: .webhook, labels: [label])
    let call = Sample.call(2, labels: [label])
    try store.commit([.insert(webhook), .insert(call)])
    let reader = try SQLiteReader(path: path, connections: 1)
    #expect(try reader.ids(CallQuery(CallFilter(labels: [label]))).calls == [call.id])
  }
}
