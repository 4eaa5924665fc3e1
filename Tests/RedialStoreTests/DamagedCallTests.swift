import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("A stored call that cannot be read")
struct DamagedCallTests {
  let folder = TemporaryFolder()

  /// A store with five calls of which the third is damaged.
  private func damagedStore(
    _ state: StoredState, sql: String, notices: StoreNotices = StoreNotices()
  ) throws -> SQLiteStore {
    let store = try SQLiteStore(path: folder.file("calls.db"), notices: notices)
    let callback = Callback(url: "https://me.example.com/hooks")
    for number in 1...5 {
      let call = Sample.call(number, state, due: Sample.time(number), callback: callback)
      var progress = call.progress
      progress.attempts = 1
      try store.commit([.insert(call), .update(call.id, progress, Sample.attempt(1))])
    }
    try store.fold()
    try store.file.connection.execute("prepare the test", "\(sql) = \(Sample.id(3).rawValue)")
    return store
  }

  static let damage = [
    "UPDATE requests SET spec = x'7b00' WHERE id", "DELETE FROM requests WHERE id",
    "UPDATE calls SET waiting = 77 WHERE id", "UPDATE calls SET failure = -1 WHERE id",
    "UPDATE attempts SET outcome = 99 WHERE call_id", "UPDATE requests SET body_size = 9 WHERE id",
  ]

  @Test("stops no other due call, is reported once, and is not claimed again", arguments: damage)
  func due(sql: String) throws {
    let log = NoticeLog()
    let store = try damagedStore(.scheduled, sql: sql, notices: log.notices)
    defer { store.close() }
    let claim = try store.claimDue(before: Sample.time(9), limit: 4)
    #expect(claim.calls.map { $0.id } == [1, 2, 4, 5].map { Sample.id($0) })
    #expect(claim.nextDue == nil)
    #expect(log.setAside == [[Sample.id(3)]])
    #expect(log.damaged.map { $0.kind } == [.corrupt])
    #expect(log.damaged.first?.message.contains(Sample.id(3).description) == true)
    #expect(try store.claimDue(before: Sample.time(9), limit: 4).calls.isEmpty)
    #expect(log.damaged.count == 1)

    let state = try store.file.connection.value(
      "check", "SELECT state, finished_at FROM calls WHERE id = \(Sample.id(3).rawValue)"
    ) { [$0.integer(0), $0.integer(1)] }
    #expect(state == [Int64(StoredState.failed.rawValue), Sample.time(9).microseconds])
  }

  @Test("stops nothing else of its target's queue")
  func queued() throws {
    let store = try damagedStore(.queued, sql: Self.damage[0])
    defer { store.close() }
    let calls = try store.claimQueued(target: "https://example.com", limit: 3)
    #expect(calls.map { $0.id } == [1, 2, 4].map { Sample.id($0) })
  }

  @Test("does not stop the store from being taken over")
  func running() throws {
    let log = NoticeLog()
    let store = try damagedStore(.running, sql: Self.damage[0], notices: log.notices)
    defer { store.close() }
    let state = try store.recover(at: Sample.time(9))
    #expect(state.running.count == 4)
    // The call is not in this number, so no notice may take it out again.
    #expect(state.unfinished == 4)
    #expect(log.damaged.count == 1 && log.setAside.isEmpty)
  }

  @Test("has ended once a client has requested it, and can be removed", arguments: damage)
  func asked(sql: String) throws {
    let log = NoticeLog()
    let store = try damagedStore(.scheduled, sql: sql, notices: log.notices)
    defer { store.close() }
    let error = #expect(throws: StoreError.self) { try store.claim(Sample.id(3)) }
    #expect(error?.damaged == StoreError.Damage(id: Sample.id(3), hasEnded: true))
    // Its end may have replaced the damaged part.
    do {
      #expect(try store.claim(Sample.id(3))?.progress.state == .failed)
    } catch {
      #expect(error.damaged == StoreError.Damage(id: Sample.id(3), hasEnded: true))
    }
    #expect(log.setAside == [[Sample.id(3)]])
    #expect(try store.claimDue(before: Sample.time(9), limit: 9).calls.count == 4)
    try store.commit([.discard(Sample.id(3))])
    #expect(try store.claim(Sample.id(3)) == nil)
  }

  @Test("is an error among others that are requested with it")
  func amongOthers() throws {
    let store = try damagedStore(.scheduled, sql: Self.damage[0])
    defer { store.close() }
    let found = try store.fetch((1...5).map { CallAddress(Sample.id($0), in: .default) })
    #expect(found.map { (try? $0.get())?.progress.state } == [.held, .held, nil, .held, .held])
    guard case .failure(let error) = found[2] else {
      Issue.record("\(found[2])")
      return
    }
    #expect(error.damaged == StoreError.Damage(id: Sample.id(3), hasEnded: true))
  }

  @Test("is an error with its id for the client that requests it, and a line among others in a list")
  func reading() throws {
    let store = try damagedStore(.succeeded, sql: Self.damage[0])
    defer { store.close() }
    let reader = try SQLiteReader(path: folder.file("calls.db"), connections: 1, beside: store)
    for ask in [
      { () throws in _ = try reader.call(Sample.id(3), allResponses: false) },
      { () throws in _ = try store.claim(Sample.id(3)) },
    ] {
      let error = #expect(throws: StoreError.self) { try ask() }
      #expect(error?.kind == .corrupt)
      #expect(error?.message.contains(Sample.id(3).description) == true)
    }
    // The call, which had ended, is unchanged by that, and the store works.
    let error = #expect(throws: StoreError.self) { try store.claim(Sample.id(3)) }
    #expect(error?.damaged == StoreError.Damage(id: Sample.id(3), hasEnded: true))
    let list = try reader.calls(CallQuery(state: .succeeded)).calls
    #expect(list.map { $0.record.id } == (1...5).reversed().map { Sample.id($0) })
    #expect(list.map { $0.record.spec.url.isEmpty } == [false, false, true, false, false])
    #expect(list.map { $0.damage != nil } == [false, false, true, false, false])
  }

  @Test("shows its target and its labels as far as they are there", arguments: damage)
  func remains(sql: String) throws {
    let store = try damagedStore(.succeeded, sql: sql)
    defer { store.close() }
    let reader = try SQLiteReader(path: folder.file("calls.db"), connections: 1, beside: store)
    let error = #expect(throws: StoreError.self) { try reader.call(Sample.id(3), in: .default, allResponses: false) }
    let problem = try #require(error?.callDamaged)
    #expect(problem.status == 409 && problem.code == .callDamaged && problem.call?.id == Sample.id(3))
    let isGone = sql.contains("requests SET spec") || sql.contains("DELETE")
    #expect(problem.call?.target == (isGone ? nil : "https://example.com"))
  }
}
