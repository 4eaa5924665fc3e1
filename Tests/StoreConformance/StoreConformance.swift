import RedialCore
import RedialModel
package import RedialStore
import Testing

/// The rules for every store: written once against the protocols, run for each implementation in its own location.
package struct StoreConformance {
  /// Opens the store of this location; again after a `close()`, as the next process does.
  package var openStore: () throws -> any CallStore
  /// Opens a reader of it.
  package var openReader: (any CallStore) throws -> any CallReader

  /// Creates the suite for a location.
  package init(
    openStore: @escaping () throws -> any CallStore, openReader: @escaping (any CallStore) throws -> any CallReader
  ) {
    self.openStore = openStore
    self.openReader = openReader
  }

  // MARK: Round trips

  /// Every field of a call is read back unchanged.
  package func callRoundTrip() throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    let policy = RetryPolicy(
      maxAttempts: 8, deadline: .seconds(3600), attemptTimeout: .milliseconds(1500),
      backoff: Backoff(
        initial: .milliseconds(20), multiplier: 2.25, maximum: .seconds(7), jitter: .proportional(factor: 0.25)),
      retryOn: RetryConditions(network: .whenNotSent, statuses: StatusSet([408...408, 500...599])),
      stopOn: StatusSet(statuses: [410, 451]), retryAfter: RetryAfterRule(isRespected: false, maximum: .seconds(60)),
      onTrip: .fail)
    let spec = CallSpec(
      url: "https://example.com/a?b=%C3%A9", method: "PATCH",
      headers: [HeaderField("X-Quoted", #"a "b" \ c"#), HeaderField("accept", "*/*")], target: "billing – é",
      policy: policy, captureLimit: 1234
    ) {
      $0.labels = [CallSpec.Label(name: "team", value: "payments"), CallSpec.Label(name: "a", value: "")]
      $0.callback = Callback(url: "https://me.example.com/hooks", events: [.callFailed, .callTripped])
    }
    let progress = CallProgress(
      state: .queued, due: Sample.time(9), waiting: .retryAfter, attempts: 7, interruptions: 2, attemptsBefore: 3,
      roundStartedAt: Sample.time(1))
    let bodies: [[UInt8]] = [
      [], Array(0...255), Array(repeating: 0xFF, count: 2048), (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) },
    ]
    let calls = bodies.enumerated().map { number, body in
      CallRecord(
        id: Sample.id(number), kind: number == 1 ? .webhook : .call, spec: spec, body: body,
        createdAt: Sample.start, progress: progress)
    }
    try store.commit(calls.map { .insert($0) })
    for call in calls {
      let found = try #require(try reader.call(call.id, allResponses: true))
      #expect(ComparableCall(found.record) == ComparableCall(call).shown)
      #expect(found.attempts.isEmpty)
    }
    #expect(try reader.call(Sample.id(99), allResponses: true) == nil)
    try reader.ping()
  }

  /// Progress and attempts are read back as of the last update, with the requested responses.
  package func updatesAndAttempts() throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    try store.commit([.insert(Sample.call(1))])
    let broken = AttemptRecord(
      number: 3, startedAt: Sample.time(3), duration: .zero, outcome: .maybeSent,
      failure: AttemptFailure(code: "connectionReset", message: "The peer reset the connection – é."))
    var large = Sample.attempt(2, body: (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    large.response?.truncated = true
    var attempts = [Sample.attempt(1), large, broken]
    var progress = Sample.call(1).progress
    for attempt in attempts {
      progress.state = .held
      progress.attempts = attempt.number
      progress.waiting = .backoff
      progress.due = attempt.startedAt
      try store.commit([.update(Sample.id(1), progress, attempt)])
    }
    let bare = AttemptRecord(
      number: 4, startedAt: Sample.time(4), duration: .seconds(1), outcome: .answered, status: 204,
      response: CapturedResponse(head: HeaderBlock(), body: [], truncated: false))
    attempts.append(bare)
    var ended = CallProgress(
      state: .failed, due: Sample.time(5), attempts: 4, attemptsBefore: 1,
      roundStartedAt: Sample.time(2), finishedAt: Sample.time(5), failure: .deadlineExceeded,
      issue: FailedGroup(.call, "https://example.com", .deadlineExceeded, endedBy: nil).id)
    // The highest numbers that there can be.
    (ended.cutOffAttempts, ended.unprovenAttempts) = (.max, .max)
    ended.mayBeProcessing = true
    try store.commit([.update(Sample.id(1), progress, nil), .update(Sample.id(1), ended, bare)])

    let all = try #require(try reader.call(Sample.id(1), allResponses: true))
    #expect(all.record.progress == ended)
    #expect(all.attempts == attempts)
    let last = try #require(try reader.call(Sample.id(1), allResponses: false))
    #expect(last.attempts.map { $0.response } == [nil, nil, nil, bare.response])
    #expect(last.attempts.map { $0.number } == [1, 2, 3, 4])
  }

  /// A value is stored under its name until another replaces it.
  package func settings() throws {
    let store = try openStore()
    #expect(try store.setting("secret") == nil)
    try store.setSetting("secret", to: "whsec_1")
    try store.setSetting("empty", to: "")
    try store.setSetting("secret", to: "whsec_é")
    store.close()
    let next = try openStore()
    defer { next.close() }
    #expect(try next.setting("secret") == "whsec_é")
    #expect(try next.setting("empty") == "")
    #expect(try next.keepSetting("empty", orElse: "2") == "")
    #expect(try next.keepSetting("new", orElse: "3") == "3")
    #expect(try next.keepSetting("new", orElse: "4") == "3")
  }

  // MARK: All or nothing

  /// If one change of a commit is impossible, none of them is made, and the store continues.
  package func rollback() throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    let call = Sample.call(1, target: "new")
    let unknown = StoreWrite.update(Sample.id(7), call.progress, nil)
    let breaker = StoreWrite.target("other", TargetRecord(breaker: OpenBreaker(until: Sample.time(5), trips: 1)))
    #expect(throws: StoreError.self) { try store.commit([.insert(call), breaker, unknown]) }
    #expect(try reader.call(call.id, allResponses: false) == nil)
    #expect(try store.claimDue(before: Sample.time(100), limit: 10).calls.isEmpty)

    try store.commit([.insert(call), .update(call.id, call.progress, Sample.attempt(1))])
    #expect(throws: StoreError.self) { try store.commit([.insert(call)]) }
    #expect(throws: StoreError.self) {
      try store.commit([.insert(Sample.call(2)), .update(call.id, call.progress, Sample.attempt(1))])
    }
    #expect(try reader.calls(CallQuery(target: "new")).calls.map { $0.record.id } == [call.id])
    #expect(try reader.calls(CallQuery()).calls.map { $0.record.id } == [call.id])
    #expect(try store.recover(at: Sample.start).targets.isEmpty)
  }

  /// Committed data is there for the next process.
  package func durability() throws {
    let store = try openStore()
    try store.commit((1...100).map { .insert(Sample.call($0)) })
    store.close()
    let next = try openStore()
    let reader = try openReader(next)
    defer { next.close() }
    #expect(try reader.calls(CallQuery(limit: 1000)).calls.count == 100)
    #expect(try next.recover(at: Sample.start).lastID == Sample.id(100))
  }
}
