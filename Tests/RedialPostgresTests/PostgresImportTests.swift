import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("An import into a database")
struct PostgresImportTests {
  let database = TestDatabase()

  @discardableResult
  private func importing(_ calls: [ArchivedCall], at now: Timestamp = Sample.start) throws -> StoreImport.Tally {
    let store = StoreImport(
      into: try PostgresArchiveDestination(database.settings, payloads: PayloadRule()), at: now)
    for call in calls {
      try store.add(try call.json.withUnsafeBufferPointer { try ArchivedCall.read($0, at: Sample.start) })
    }
    try store.finish()
    return store.tally
  }

  private func exported() throws -> [ArchivedCall] {
    let export = try PostgresExport(database.settings, state: nil)
    defer { export.close() }
    var calls: [ArchivedCall] = []
    try export.forEach {
      calls.append($0)
    } damage: {
      Issue.record("\($0)")
    }
    return calls
  }

  private func texts(_ calls: [ArchivedCall]) -> [String] { calls.map { String(decoding: $0.json, as: UTF8.self) } }

  /// Findings of an inspection.
  private func findings() throws -> [StoreCheck: Int] {
    try PostgresInspection(
      database.settings, limits: ServerInspection.Limits(), longest: .seconds(60), patience: .milliseconds(300),
      clock: { Sample.start }
    ).report(at: Sample.start).found
  }

  /// Calls in all states, with attempts, and some with keys and retries.
  private static let samples: [ArchivedCall] = StoredState.allCases.enumerated().flatMap { offset, state in
    [CallKind.call, .webhook].enumerated().map { index, kind in
      let number = 2 * offset + index
      var call = Sample.call(
        number, state, due: Sample.time(100), target: TargetKey("t\(number % 3)", in: .default), kind: kind,
        callback: number % 4 == 0 ? Callback(url: "https://me.example.com/hooks") : nil,
        body: [UInt8](repeating: UInt8(number), count: number * 300), labels: [.init(name: "n", value: "\(number)")])
      call.progress.attempts = 2
      var archived = ArchivedCall(record: call, attempts: [Sample.attempt(1), Sample.attempt(2)])
      archived.attempts[0].decision = AttemptDecision(
        .park(until: Sample.time(3)), because: "status 503", computed: .seconds(2), jitter: 0.75,
        clamps: [.maximum, .deadline])
      archived.attempts[1].decision = AttemptDecision(.stop(.attemptsExhausted), because: "all are used")
      if number % 3 == 0 {
        archived.key = KeyRecord(
          key: IdempotencyKey(IdempotencyName("k\(number)", in: .default), fingerprint: [1, 255]), call: call.id,
          createdAt: Sample.start, expiresAt: Sample.time(60))
        archived.record.retries = [
          ManualRetry(at: Sample.time(1), afterAttempt: 1, attribution: Attribution(by: "me", reason: "r"))
        ]
      }
      return archived
    }
  }

  private static func ordered(_ number: Int, hasTurn: Bool) -> ArchivedCall {
    var call = Sample.call(
      number, hasTurn ? .scheduled : .queued, due: Sample.time(5), target: TargetKey("t", in: .default),
      orderingKey: "k")
    call.progress.waiting = hasTurn ? .backoff : .ordering
    if !hasTurn { call.progress.due = call.lastStart }
    return ArchivedCall(record: call, attempts: [], hasTurn: hasTurn)
  }

  /// A call with a key that all of them have.
  private static func keyed(_ number: Int, until second: Int) -> ArchivedCall {
    var call = ArchivedCall(record: Sample.call(number, .succeeded), attempts: [])
    call.key = KeyRecord(
      key: IdempotencyKey(IdempotencyName("k", in: .default), fingerprint: [1]), call: call.record.id,
      createdAt: Sample.start, expiresAt: Sample.time(second))
    return call
  }

  @Test("has everything of each call, and a second one changes nothing")
  func roundTrip() throws {
    #expect(try importing(Self.samples).imported == Self.samples.count)
    #expect(try texts(exported()) == texts(Self.samples))
    #expect(try findings() == [:])
    let second = try importing(Self.samples)
    #expect(second.imported == 0 && second.known == Self.samples.count)
    #expect(try texts(exported()) == texts(Self.samples))
    #expect(try findings() == [:])
  }

  @Test("leaves the turn with the call that had it, and gives it to the others in their order")
  func turns() throws {
    try importing([1, 2, 3].map { Self.ordered($0, hasTurn: $0 == 2) })
    #expect(try exported().map(\.hasTurn) == [false, true, false])
    // The turn is taken: it waits behind the others.
    try importing([Self.ordered(4, hasTurn: true)])
    #expect(try exported().map(\.hasTurn) == [false, true, false, false])
    let owner = try Instance(database.settings, meets: false)
    defer { owner.kill() }
    _ = try owner.lease()
    for (ended, next) in zip([2, 1, 3], [1, 3, 4]) {
      #expect(try owner.works.claimDue(before: Sample.time(9), limit: 9).calls.map(\.id) == [Sample.id(ended)])
      try owner.works.commit([.passTurn(Sample.id(ended))])
      #expect(try database.number("SELECT call_id FROM turns WHERE has_turn") == Sample.id(next).rawValue)
    }
  }

  @Test("gives a turn that nobody has to the first that waits, once an instance is there")
  func freeTurns() throws {
    try importing([1, 2].map { Self.ordered($0, hasTurn: false) })
    let owner = try Instance(database.settings, meets: false)
    defer { owner.kill() }
    _ = try owner.lease()
    #expect(try owner.works.claimDue(before: Sample.time(9), limit: 9).calls.map(\.id) == [Sample.id(1)])
  }

  @Test("leaves out keys that have expired, or that the store keeps longer for another call")
  func keys() throws {
    func holder() throws -> Int64 { try database.number("SELECT call_id FROM keys") }
    // The fifth replaces one that has expired since it was made.
    for (number, until, now, expected) in [
      (1, 60, 0, 1), (2, 60, 0, 1), (3, 90, 0, 3), (4, 95, 100, 3), (5, 200, 100, 5),
    ] {
      try importing([Self.keyed(number, until: until)], at: Sample.time(now))
      #expect(try holder() == Sample.id(expected).rawValue, "\(number)")
    }
  }

  @Test("keeps the key that lasts longest, if one batch has several")
  func sameKeys() throws {
    try importing([(1, 60), (2, 90), (3, 80)].map { Self.keyed($0.0, until: $0.1) })
    #expect(try database.number("SELECT call_id FROM keys") == Sample.id(2).rawValue)
    #expect(try exported().count == 3)
  }

  @Test("takes the call of a webhook that arrives alone for one that was removed")
  func webhooks() throws {
    var ended = ArchivedCall(record: Sample.call(1, .failed), attempts: [])
    ended.record.progress.finishedAt = Sample.time(-100)
    try importing([ended, ArchivedCall(record: SoundStore.webhook(3, of: 2, at: 0), attempts: [])])
    #expect(try findings()[.orphanedWebhooks] == nil)
  }

  @Test("is refused while an instance uses the store, and no instance joins meanwhile")
  func use() throws {
    let store = try PostgresStore(database.settings, sharing: .alone)
    let refused = #expect(throws: StoreError.self) { try importing([]) }
    #expect(refused?.message.contains("in use by instances") == true)
    try store.resign(at: Sample.time(1))
    store.close()
    let destination = try PostgresArchiveDestination(database.settings, payloads: PayloadRule())
    let late = #expect(throws: StoreError.self) { try PostgresStore(database.settings) }
    #expect(late?.message.contains("`redial import` is copying") == true)
    destination.close()
    try PostgresStore(database.settings).close()
  }
}
