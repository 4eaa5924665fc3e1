import RedialCore
package import RedialModel
package import RedialStore
import Testing

/// Calls that end with their first attempt: most calls do, so stores may keep that attempt in another way than others.
extension StoreConformance {
  /// First attempts with everything that attempts have or lack, small and large.
  package static let firstAttempts: [AttemptRecord] = {
    let failed = AttemptRecord(
      number: 1, startedAt: Sample.time(1), duration: .zero, outcome: .maybeSent,
      failure: AttemptFailure(code: "connectionReset", message: "The peer reset the connection\0 – é."))
    let bare = AttemptRecord(
      number: 1, startedAt: Sample.time(1), duration: .seconds(1), outcome: .answered, status: 204,
      response: CapturedResponse(head: HeaderBlock(), body: [], truncated: false))
    var truncated = Sample.attempt(1)
    truncated.response?.truncated = true
    let sizes = [0, 1, 200, 1400, 1601, 4096, 100_000].map { size in
      Sample.attempt(1, body: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })
    }
    return [failed, bare, truncated] + sizes
  }()

  /// Stores calls, and ends each with an attempt, in another commit, as an engine does.
  @discardableResult
  package static func end(
    _ attempts: [AttemptRecord], callback: Callback? = nil, in store: any CallStore
  ) throws -> [CallRecord] {
    var calls = attempts.indices.map { Sample.call($0, .running, callback: callback) }
    try store.commit(calls.map { .insert($0) })
    for (index, attempt) in attempts.enumerated() {
      calls[index].progress.attempts = 1
      calls[index].progress.state = attempt.failure == nil ? .succeeded : .failed
      calls[index].progress.failure = attempt.failure == nil ? nil : .notRetryable
      calls[index].progress.finishedAt = Sample.time(index + 2)
    }
    try store.commit(zip(calls, attempts).map { .update($0.id, $0.progress, $1) })
    return calls
  }

  /// They are read back unchanged, with the requested responses, by the next process, too.
  package func firstAttempts() throws {
    let store = try openStore()
    let calls = try Self.end(Self.firstAttempts, in: store)
    store.close()
    let again = try openStore()
    defer { again.close() }
    let reader = try openReader(again)
    for (call, attempt) in zip(calls, Self.firstAttempts) {
      let all = try #require(try reader.call(call.id, allResponses: true))
      #expect(all.record.progress == call.progress)
      #expect(all.attempts == [attempt])
      #expect(try reader.call(call.id, allResponses: false)?.attempts == [attempt])
      #expect(try reader.attempts(of: call.id, withBodies: true) == [attempt])
      var head = attempt
      head.response?.body = []
      #expect(try reader.attempts(of: call.id, withBodies: false) == [head])
    }
    for call in try reader.calls(CallQuery()).calls {
      let attempt = Self.firstAttempts[try #require(calls.firstIndex { $0.id == call.record.id })]
      #expect(call.last == LastAnswer(attempt) && call.attempts.isEmpty)
    }
    let filter = CallFilter(outcome: .maybeSent)
    #expect(try reader.ids(CallQuery(filter)).calls == [calls[0].id])
  }

  /// A call that is retried by hand keeps its first attempt, and its webhook gets it; another end adds another attempt.
  package func firstAttemptsOfRetriedCalls() throws {
    let store = try openStore()
    defer { store.close() }
    let reader = try openReader(store)
    let first = Self.firstAttempts
    let callback = Callback(url: "https://me.example.com/hooks")
    var calls = try Self.end(first, callback: callback, in: store)
    for index in calls.indices {
      calls[index].progress.state = .scheduled
      (calls[index].progress.finishedAt, calls[index].progress.failure) = (nil, nil)
      calls[index].progress.attemptsBefore = 1
    }
    try store.commit(calls.map { .update($0.id, $0.progress, nil) })
    let histories = first.map { attempt in
      var attempt = attempt
      attempt.response = nil
      return [attempt]
    }
    #expect(try store.claim(calls[2].id)?.history == histories[2])
    let claimed = try store.claimDue(before: Sample.time(1000), limit: 100).calls
    for call in claimed { #expect(call.history == histories[calls.firstIndex { $0.id == call.id } ?? 0]) }
    #expect(claimed.count == calls.count - 1, "one is held already")
    for index in calls.indices {
      calls[index].progress.attempts = 2
      calls[index].progress.state = .succeeded
      calls[index].progress.finishedAt = Sample.time(500)
    }
    let later = calls.indices.map { index in
      var attempt = Sample.attempt(2)
      guard index.isMultiple(of: 2) else { return attempt }
      (attempt.outcome, attempt.status, attempt.response) = (.notSent, nil, nil)
      attempt.failure = AttemptFailure(code: "connectionRefused", message: "Nobody listens.")
      return attempt
    }
    try store.commit(zip(calls, later).map { .update($0.id, $0.progress, $1) })
    let listed = try reader.calls(CallQuery()).calls
    #expect(listed.reversed().map(\.last) == later.map { LastAnswer($0) })
    for ((call, attempt), last) in zip(zip(calls, first), later) {
      #expect(try reader.call(call.id, allResponses: true)?.attempts == [attempt, last])
      var bare = attempt
      bare.response = nil
      #expect(try reader.call(call.id, allResponses: false)?.attempts == [bare, last])
    }
  }

  /// They are erased and removed with their calls.
  package func removedFirstAttempts() throws {
    let store = try openStore()
    defer { store.close() }
    let reader = try openReader(store)
    let calls = try Self.end(Self.firstAttempts, in: store)
    let erasedAt = Timestamp(microseconds: 1_790_000_000_123_000)
    try store.commit(calls.map { .erase($0.id, $0.spec.erased(at: erasedAt)) })
    for (call, attempt) in zip(calls, Self.firstAttempts) {
      var erased = attempt
      erased.response = nil
      #expect(try reader.call(call.id, allResponses: true)?.attempts == [erased])
    }
    try store.commit([.discard(calls[2].id)])
    #expect(try reader.call(calls[2].id, allResponses: true) == nil)
    var removed = 0
    for _ in 0..<100 {
      removed += try store.tidy(Retention(time: .seconds(1)), at: Sample.time(1000), within: .seconds(1)).removed
    }
    #expect(removed == calls.count - 1)
    #expect(try reader.calls(CallQuery()).calls.isEmpty)
    // Nothing is left of the earlier ones: the same calls can be stored again.
    let again = try Self.end(Self.firstAttempts, in: store)
    #expect(try reader.call(again[5].id, allResponses: true)?.attempts == [Self.firstAttempts[5]])
  }
}
