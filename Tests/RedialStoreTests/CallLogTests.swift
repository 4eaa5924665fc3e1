import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("The log of calls")
struct CallLogTests {
  let folder = TemporaryFolder()

  /// Bounds that are reached often.
  static let narrow = [
    LogBounds(),
    LogBounds(foldAfter: 3),
    LogBounds(foldAfter: 20, mostBytes: 20_000, mostRows: 8),
    LogBounds(foldAfter: 1000, mostBytes: 100_000, mostRows: 4, largestRow: 2000),
  ]

  // A process may end after any commit: what is on disk then is what the tables alone would have had.
  @Test("and the tables have what the changes would make of the tables alone, after each commit", arguments: 0..<12)
  func history(seed: Int) throws {
    let payloads = PayloadRule(keptResponses: seed % 2 == 0 ? 1 : 5)
    let bounds = Self.narrow[seed % Self.narrow.count]
    let path = folder.file("logged.db")
    var logged = try SQLiteStore(path: path, payloads: payloads, log: bounds)
    let direct = try SQLiteStore(path: folder.file("direct.db"), payloads: payloads, log: .none)
    defer {
      logged.close()
      direct.close()
    }
    var reader = try SQLiteReader(path: path, connections: 1, beside: logged)
    var history = CallHistory(seed: UInt64(seed))
    var random = RandomSource(seed: UInt64(seed))
    var wereLogged = 0
    for round in 0..<25 {
      let writes = history.next()
      try logged.commit(writes)
      try direct.commit(writes)
      let expected = try StoreRows.all(of: direct)
      for copy in 0..<2 {
        // The second one finds what the first has left.
        let other = try SQLiteStore(
          path: copy == 0 ? try copied(path, round) : folder.file("copy\(round).db"), log: bounds)
        wereLogged += other.log.view.isEmpty ? 0 : 1
        if copy == 1 { try other.fold() }
        let differing = copy == 1 ? differences(try StoreRows.all(of: other), expected) : []
        #expect(differing == [], "after commit \(round) of seed \(seed)")
        copy == 0 ? other.file.close() : other.close()
      }
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try logged.fold()
      case 1:
        // As after a kill.
        logged.file.close()
        logged = try SQLiteStore(path: path, payloads: payloads, log: bounds)
        reader = try SQLiteReader(path: path, connections: 1, beside: logged)
      case 2:
        for id in expectedIDs(writes) {
          let found = try reader.call(id, allResponses: true)
          #expect((found == nil) == (try direct.calls.read(id) == nil))
        }
      default: break
      }
    }
    try logged.fold()
    #expect(differences(try StoreRows.all(of: logged), try StoreRows.all(of: direct)) == [])
    #expect(wereLogged > 5, "the log is used")
  }

  private func expectedIDs(_ writes: [StoreWrite]) -> [CallID] {
    writes.compactMap { write in
      switch write {
      case .insert(let call): call.id
      case .update(let id, _, _), .discard(let id): id
      default: nil
      }
    }
  }

  private func differences(_ found: [String: [String]], _ expected: [String: [String]]) -> [String] {
    expected.flatMap { table, rows in
      Set(found[table] ?? []).symmetricDifference(rows).map { "\(table): \($0.prefix(160))" }.sorted()
    }
  }

  /// A copy of a store's files as they are now.
  private func copied(_ path: String, _ number: Int) throws -> String {
    let copy = folder.file("copy\(number).db")
    for part in ["", "-wal"] {
      if let bytes = contents(of: path + part) { writeFile(copy + part, bytes) }
    }
    return copy
  }

  @Test("takes keys along, the last one of each name")
  func keys() throws {
    let store = try SQLiteStore(path: folder.file("calls.db"), log: LogBounds())
    defer { store.close() }
    func key(_ call: CallRecord, at second: Int) -> StoreWrite {
      .key(
        KeyRecord(
          key: IdempotencyKey("k", fingerprint: [UInt8(second)]), call: call.id, createdAt: Sample.time(second),
          expiresAt: Sample.time(second + 10)))
    }
    let calls = (1...3).map { Sample.call($0, .running) }
    try store.commit([.insert(calls[0]), key(calls[0], at: 0)])
    #expect(try store.find(key: "k", at: Sample.time(9))?.call == calls[0].id)
    #expect(try store.find(key: "k", at: Sample.time(10)) == nil)
    try store.commit([.insert(calls[1]), key(calls[1], at: 20)])
    #expect(try store.find(key: "k", at: Sample.time(25))?.call == calls[1].id)
    // The second ends before the first, and is folded before it.
    try store.transaction { () throws(StoreError) in try store.log.fold([calls[1].id], into: store.calls) }
    #expect(try store.find(key: "k", at: Sample.time(25))?.call == calls[1].id)
    try store.fold()
    #expect(try store.find(key: "k", at: Sample.time(25))?.call == calls[1].id)
    // In one commit with its fold.
    try store.transaction { () throws(StoreError) in
      try store.commitWithin([.insert(calls[2]), key(calls[2], at: 40)])
      try store.log.fold([calls[2].id], into: store.calls)
    }
    #expect(try store.find(key: "k", at: Sample.time(45))?.call == calls[2].id)
  }

  @Test("is read with the tables by exports and inspections, as a killed process has left it")
  func otherReaders() throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path, log: LogBounds())
    let calls = (1...6).map { Sample.call($0, $0 % 2 == 0 ? .running : .scheduled) }
    try store.commit(calls.map { .insert($0) })
    var (ended, waiting) = (calls[1].progress, calls[0].progress)
    (ended.state, ended.attempts, ended.finishedAt) = (.succeeded, 1, Sample.time(1))
    try store.commit([.update(calls[1].id, ended, Sample.attempt(1))])
    // One that the tables have, as it was when it was claimed.
    _ = try store.claim(calls[0].id, in: .default)
    (waiting.state, waiting.attempts) = (.running, 1)
    try store.commit([.update(calls[0].id, waiting, nil)])
    store.file.close()
    func found(_ state: CallState?) throws -> [CallID: Int] {
      let export = try StoreExport(path: path, state: state)
      defer { export.close() }
      var found: [CallID: Int] = [:]
      try export.forEach {
        found[$0.record.id] = $0.attempts.count
      } damage: {
        Issue.record("\($0)")
      }
      return found
    }
    #expect(try found(nil) == Dictionary(uniqueKeysWithValues: calls.map { ($0.id, $0.id == calls[1].id ? 1 : 0) }))
    #expect(try found(.succeeded) == [calls[1].id: 1])
    #expect(try Set(found(.running).keys) == [calls[0].id, calls[3].id, calls[5].id])
    let inspection = try SQLiteInspection(path: path)
    let report = try inspection.report(at: Sample.time(2))
    inspection.close()
    #expect(report.calls == 6 && report.findings.allSatisfy { $0.count == 0 }, "\(report.findings)")
    #expect(report.usage.finished == [FinishedCount(kind: .call, state: .succeeded, count: 1)])
    let connection = try SQLiteConnection(path: path, role: .writer)
    try connection.execute("prepare the test", "DELETE FROM calls WHERE id = \(calls[0].id.rawValue)")
    connection.close()
    let again = try SQLiteInspection(path: path)
    defer { again.close() }
    let integrity = try again.report(at: Sample.time(2)).findings.first { $0.check == .integrity }
    #expect(integrity?.examples == ["The log has progress of \(calls[0].id), and the tables lack it."])
  }

  @Test("is as before when a commit fails")
  func rollback() throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path, log: LogBounds())
    defer { store.close() }
    let reader = try SQLiteReader(path: path, connections: 1, beside: store)
    let call = Sample.call(1, .running)
    try store.commit([.insert(call)])
    var ended = call.progress
    (ended.state, ended.finishedAt) = (.succeeded, Sample.time(1))
    #expect(throws: StoreError.self) { try store.commit([.update(call.id, ended, nil), .insert(call)]) }
    #expect(try reader.call(call.id, allResponses: false)?.record.progress == call.progress)
    try store.commit([.update(call.id, ended, nil)])
    #expect(try reader.call(call.id, allResponses: false)?.record.progress == ended)
    #expect(try reader.calls(CallQuery(CallFilter(state: .succeeded), limit: 9)).calls.map(\.record.id) == [call.id])
  }

  @Test(
    "that cannot be read stops the start, and nothing is changed",
    arguments: [
      ("UPDATE call_log SET changes = CAST(x'01' || substr(changes, 2) AS BLOB) WHERE place = 1", "place 1 is damaged"),
      ("UPDATE call_log SET changes = substr(changes, 1, length(changes) - 1) WHERE place = 2", "place 2 is damaged"),
      // All of it could be read, and would be another call.
      (
        "UPDATE call_log SET changes = CAST(replace(CAST(changes AS TEXT), 'example', 'exemple') AS BLOB) WHERE place = 3",
        "place 3 is damaged"
      ),
      ("DELETE FROM call_log WHERE place = 1", "row 2 is missing"),
    ])
  func damage(sql: String, reason: String) throws {
    let path = folder.file("calls.db")
    let store = try SQLiteStore(path: path, log: LogBounds())
    for number in 1...4 { try store.commit([.insert(Sample.call(number, .running))]) }
    try store.file.connection.execute("prepare the test", sql)
    store.file.close()
    let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
    #expect(error?.kind == .corrupt && error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }
}
