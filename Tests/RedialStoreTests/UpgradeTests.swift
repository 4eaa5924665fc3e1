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
}
