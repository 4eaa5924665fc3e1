import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Ordered calls in copies of a store")
struct ArchivedTurnTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("calls.db") }
  var copy: String { folder.file("copy.db") }

  /// A store with calls of one target and key, the first of which has the turn.
  private func store(_ numbers: [Int], at path: String) throws -> SQLiteStore {
    let store = try SQLiteStore(path: path)
    for number in numbers {
      var call = Sample.call(number, .queued, due: Sample.time(900), orderingKey: "k")
      call.progress.waiting = .ordering
      try store.commit([.insert(call), .awaitTurn(call.id, target: call.spec.target, orderingKey: "k")])
    }
    return store
  }

  /// Makes a call wait after an attempt, or run its second one.
  private func goOn(_ number: Int, _ state: StoredState, in store: SQLiteStore) throws {
    var progress = Sample.call(number, state, due: Sample.time(5)).progress
    (progress.waiting, progress.attempts) = (.backoff, state == .running ? 2 : 1)
    try store.commit([.update(Sample.id(number), progress, Sample.attempt(1))])
  }

  private func exported(_ path: String, state: CallState? = nil) throws -> [ArchivedCall] {
    let export = try StoreExport(path: path, state: state)
    defer { export.close() }
    var calls: [ArchivedCall] = []
    try export.forEach {
      calls.append($0)
    } damage: {
      Issue.record("\($0)")
    }
    return calls
  }

  private func importing(_ calls: [ArchivedCall]) throws {
    let store = try StoreImport(path: copy, at: Sample.start)
    for call in calls {
      try store.add(try call.json.withUnsafeBufferPointer { try ArchivedCall.read($0, at: Sample.start) })
    }
    try store.finish()
  }

  private func turns(_ path: String) throws -> [String] {
    let connection = try SQLiteConnection(path: path, role: .reader)
    defer { connection.close() }
    return try connection.prepare(
      "prepare the test", "SELECT call_id, key, has_turn FROM turns ORDER BY call_id"
    ).rows { row throws(StoreError) in
      "\(row.integer(0) - Sample.id(0).rawValue) \(row.text(1)) \(row.integer(2))"
    }
  }

  private func due(_ store: SQLiteStore) throws -> [CallID] {
    try store.claimDue(before: Sample.time(10), limit: 10).calls.map { $0.id }
  }

  private func end(_ number: Int, in store: SQLiteStore) throws {
    try store.commit([
      .update(Sample.id(number), Sample.call(number, .cancelled).progress, nil), .passTurn(Sample.id(number)),
    ])
  }

  @Test(
    "a call between its attempts keeps its turn, before those behind it and newer ones",
    arguments: [StoredState.scheduled, .held, .running], [true, false])
  func turnsGoAlong(state: StoredState, isTold: Bool) throws {
    let source = try store([1, 2, 3], at: path)
    try goOn(1, state, in: source)
    source.close()
    var calls = try exported(path)
    #expect(calls.map(\.hasTurn) == [true, false, false])
    // Archives of older versions do not contain it.
    if !isTold { for index in calls.indices { calls[index].hasTurn = nil } }
    try importing(calls)
    #expect(try turns(copy) == ["1 k 1", "2 k 0", "3 k 0"])
    #expect(try turns(copy) == turns(path))
    let next = try store([4], at: copy)
    defer { next.close() }
    #expect(try next.recover(at: Sample.start).running.map(\.id) == (state == .running ? [Sample.id(1)] : []))
    #expect(try due(next) == (state == .running ? [] : [Sample.id(1)]))
    for number in 1...3 {
      try end(number, in: next)
      #expect(try due(next) == [Sample.id(number + 1)])
    }
  }

  @Test("the call with the turn may come after older ones in the archive, or in another import")
  func holderComesLater() throws {
    let source = try store([2, 3], at: path)
    // Number 1 was accepted first, ended, and was retried: it is behind both.
    var again = Sample.call(1, .queued, due: Sample.time(900), orderingKey: "k")
    again.progress.waiting = .ordering
    try source.commit([.insert(again), .awaitTurn(again.id, target: again.spec.target, orderingKey: "k")])
    try goOn(2, .scheduled, in: source)
    source.close()
    try importing(try exported(path))
    #expect(try turns(copy) == ["1 k 0", "2 k 1", "3 k 0"])
    // Without the call that has the turn, the oldest has it, and the other then finds that one before itself.
    let other = folder.file("other.db")
    let calls = try exported(path)
    let store = try StoreImport(path: other, at: Sample.start)
    try store.add(calls[0])
    try store.add(calls[2])
    try store.finish()
    #expect(try turns(other) == ["1 k 1", "3 k 0"])
    let rest = try StoreImport(path: other, at: Sample.start)
    for call in calls { try rest.add(call) }
    try rest.finish()
    #expect(try turns(other) == ["1 k 1", "2 k 0", "3 k 0"])
    let opened = try SQLiteStore(path: other)
    defer { opened.close() }
    #expect(try due(opened) == [Sample.id(1)])
    let demoted = try #require(try opened.claim(Sample.id(2)))
    #expect(demoted.progress.waiting == .ordering && demoted.progress.due == demoted.lastStart)
  }

  @Test("an imported call waits if another has its turn here, and its attempt counts as interrupted")
  func runningIsDemoted() throws {
    let source = try store([1], at: path)
    try goOn(1, .running, in: source)
    source.close()
    try store([5], at: copy).close()
    try importing(try exported(path))
    #expect(try turns(copy) == ["1 k 0", "5 k 1"])
    let call = try #require(try exported(copy).first)
    #expect(call.record.progress.state == .queued && call.record.progress.cutOffAttempts == 1)
    #expect(call.attempts.map(\.outcome) == [.answered, .interrupted])
    #expect(call.attempts.map(\.number) == [1, 2])
  }

  @Test("after an interrupted import every call gets its turn once a service takes over the store")
  func cutOff() throws {
    let source = try store([1, 2, 3], at: path)
    source.close()
    let calls = try exported(path)
    let cut = try SQLiteStore(path: copy)
    try cut.insert(Array(calls[1...]), at: Sample.start)
    #expect(try turns(copy) == ["2 k 0", "3 k 0"])
    _ = try cut.recover(at: Sample.start)
    #expect(try due(cut) == [Sample.id(2)])
    cut.close()
    try importing(calls)
    #expect(try turns(copy) == ["1 k 0", "2 k 1", "3 k 0"])
  }
}
