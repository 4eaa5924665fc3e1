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
