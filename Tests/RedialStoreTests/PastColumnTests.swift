import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Attempts that are packed with their call")
struct PastColumnTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("calls.db") }

  private func store(keptResponses: Int = 3) throws -> SQLiteStore {
    try SQLiteStore(path: path, payloads: PayloadRule(compressMinBytes: 100, keptResponses: keptResponses))
  }

  private func rows(_ sql: String) throws -> [Int64] {
    let connection = try SQLiteConnection(path: path, role: .reader)
    defer { connection.close() }
    return try connection.prepare("check", sql).rows { row throws(StoreError) in row.integer(0) }
  }

  /// Commits a call that ends after some attempts, and folds it.
  private func end(_ attempts: Int, in store: SQLiteStore) throws -> CallRecord {
    var call = Sample.call(1, .running)
    try store.commit([.insert(call)])
    for number in 1...attempts {
      call.progress.attempts = number
      if number == attempts {
        (call.progress.state, call.progress.finishedAt) = (.failed, Sample.time(number))
        (call.progress.waiting, call.progress.failure) = (nil, .attemptsExhausted)
      }
      try store.commit([.update(call.id, call.progress, Sample.attempt(number))])
    }
    try store.fold()
    return call
  }

  @Test("need no rows of their own, and are read with those that come later", arguments: [1, 3])
  func read(attempts: Int) throws {
    let store = try store(keptResponses: 8)
    defer { store.close() }
    var call = try end(attempts, in: store)
    #expect(try rows("SELECT count(*) FROM attempts") == [0])
    let reader = try SQLiteReader(path: path, connections: 1, beside: store)
    #expect(try reader.call(call.id, allResponses: true)?.attempts == (1...attempts).map { Sample.attempt($0) })
    // It runs once more, after it was read from its tables.
    call.progress.attempts += 1
    try store.commit([.update(call.id, call.progress, Sample.attempt(attempts + 1))])
    try store.fold()
    #expect(try rows("SELECT count(*) FROM attempts") == [1])
    let all = try #require(try reader.call(call.id, allResponses: true)).attempts
    #expect(all == (1...(attempts + 1)).map { Sample.attempt($0) })
    let last = try #require(try reader.call(call.id, allResponses: false)).attempts
    #expect(last.map { $0.response != nil } == Array(repeating: false, count: attempts) + [true])
  }

  @Test("are found by their outcome and status")
  func found() throws {
    let store = try store()
    defer { store.close() }
    let call = try end(2, in: store)
    let reader = try SQLiteReader(path: path, connections: 1, beside: store)
    let sample = Sample.attempt(2)
    let status = try #require(sample.status)
    for (outcome, statuses, isFound) in [
      (sample.outcome, nil, true), (OutcomeClass.localFault, nil, false), (nil, status...status, true),
      (nil, (status + 1)...(status + 1), false), (sample.outcome, status...status, true),
    ] {
      var filter = CallFilter()
      (filter.outcome, filter.statuses) = (outcome, statuses)
      let page = try reader.calls(CallQuery(filter, limit: 10))
      #expect(page.calls.map(\.record.id) == (isFound ? [call.id] : []))
    }
  }

  @Test("lose the response bodies that are too old, one by one")
  func forgotten() throws {
    let store = try store(keptResponses: 2)
    defer { store.close() }
    var call = try end(2, in: store)
    #expect(try rows("SELECT count(*) FROM attempts") == [0])
    let reader = try SQLiteReader(path: path, connections: 1, beside: store)
    for number in 3...4 {
      call.progress.attempts = number
      try store.commit([.update(call.id, call.progress, Sample.attempt(number))])
      let all = try #require(try reader.call(call.id, allResponses: true)).attempts
      let forgotten = number - 2
      #expect(all.map { $0.response?.body.isEmpty } == (1...number).map { $0 <= forgotten })
      #expect(all.allSatisfy { $0.response?.head == Sample.attempt(1).response?.head })
    }
  }

  @Test("lose their responses with the content of the call, also if they are damaged", arguments: [false, true])
  func erased(isDamaged: Bool) throws {
    var store = try store()
    let call = try end(2, in: store)
    if isDamaged {
      try store.file.connection.execute(
        "damage the test's store", "UPDATE requests SET past = CAST(past || x'78' AS BLOB)")
    }
    store.close()
    store = try self.store()
    defer { store.close() }
    try store.commit([.erase(call.id, call.spec)])
    let found = try #require(
      try SQLiteReader(path: path, connections: 1, beside: store).call(call.id, allResponses: true))
    #expect(found.attempts.map(\.response) == (isDamaged ? [] : [nil, nil]))
    #expect(found.attempts.map(\.number) == (isDamaged ? [] : [1, 2]))
  }

  @Test("cannot be stored twice")
  func twice() throws {
    let store = try store()
    defer { store.close() }
    let call = try end(2, in: store)
    let error = #expect(throws: StoreError.self) {
      try store.commit([.update(call.id, call.progress, Sample.attempt(2))])
    }
    #expect(error?.message.contains("attempt 2") == true)
  }

  @Test("that cannot be read are a damage of the call, which the inspection names")
  func damaged() throws {
    let store = try store()
    let call = try end(1, in: store)
    try store.file.connection.execute(
      "damage the test's store", "UPDATE requests SET past = CAST(x'01010000' AS BLOB)")
    store.close()
    let inspection = try SQLiteInspection(path: path)
    defer { inspection.close() }
    let report = try inspection.report(at: Sample.time(9))
    let finding = report.findings.first { $0.check == .damaged }
    #expect(finding?.examples.contains { $0.contains(call.id.description) } == true)
  }
}
