import RedialCore
import RedialModel
import RedialStore
import Testing

extension StoreConformance {
  /// A call that ended at a second.
  private func finished(_ number: Int, _ state: StoredState, at second: Int, kind: CallKind = .call) -> CallRecord {
    var call = Sample.call(number, state, kind: kind, body: [UInt8](repeating: UInt8(number & 255), count: 100))
    call.progress.finishedAt = Sample.time(second)
    return call
  }

  /// Tidies until nothing is left to do; returns the number of removed calls.
  private func tidyAll(_ store: any CallStore, _ retention: Retention, at now: Timestamp) throws -> Int {
    var removed = 0
    for _ in 0..<100_000 {
      let step = try store.tidy(retention, at: now, within: .milliseconds(2))
      removed += step.removed
      if step.isDone { return removed }
    }
    Issue.record("tidying never ends")
    return removed
  }

  /// Calls are removed when their retention time has passed, with their attempts and keys, whatever their kind and end;
  /// no other call is, however old it is.
  package func retentionByAge() throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    let ends: [StoredState] = [.succeeded, .failed, .cancelled]
    for number in 1...30 {
      let call = finished(number, ends[number % 3], at: number, kind: number % 2 == 0 ? .call : .webhook)
      try store.commit([.insert(call), .update(call.id, call.progress, Sample.attempt(1))])
    }
    let key = KeyRecord(
      key: IdempotencyKey("k", fingerprint: [1]), call: Sample.id(1), createdAt: Sample.start,
      expiresAt: Sample.time(1_000_000))
    try store.commit([.key(key)])
    let waiting: [StoredState] = [.scheduled, .queued, .held, .running]
    try store.commit(waiting.enumerated().map { .insert(Sample.call(100 + $0.offset, $0.element)) })

    let week = Retention(time: .seconds(100), bytes: .max, minimumTime: .zero)
    #expect(try tidyAll(store, week, at: Sample.time(100)) == 0)
    #expect(try tidyAll(store, week, at: Sample.time(110)) == 10)
    #expect(try store.find(key: "k", at: Sample.start) == nil)
    for number in 1...30 {
      let stored = try reader.call(Sample.id(number), allResponses: true)
      #expect((stored != nil) == (number > 10), "call \(number)")
      #expect(stored == nil || stored?.attempts.count == 1)
    }
    #expect(try tidyAll(store, week, at: Sample.time(1_000_000)) == 20)
    for number in waiting.indices {
      #expect(try reader.call(Sample.id(100 + number), allResponses: true) != nil)
    }
    #expect(try reader.usage().finished.allSatisfy { $0.count == 0 })
  }

  /// Erases until nothing is left to do; returns the erased calls, in their order.
  private func eraseAll(_ store: any CallStore, _ retention: Retention, at now: Timestamp) throws -> [CallID] {
    var erased: [CallID] = []
    for _ in 0..<10_000 {
      let step = try store.tidy(retention, at: now, within: .milliseconds(2))
      #expect(step.removed == 0)
      for case .erase(let id, _) in step.erased { erased.append(id) }
      if step.isDone { return erased }
    }
    Issue.record("erasing never ends")
    return erased
  }

  /// Payloads are erased when their time has passed, once. A call whose end is stored late is not missed.
  package func payloadsByAge() throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    var rule = Retention(time: .seconds(1_000_000), bytes: .max, minimumTime: .zero)
    rule.payloadTime = .seconds(100)
    for number in 1...30 {
      // Several end at the same time.
      let call = finished(number, .succeeded, at: number / 5 * 5, kind: number % 2 == 0 ? .call : .webhook)
      try store.commit([.insert(call), .update(call.id, call.progress, Sample.attempt(1))])
    }
    try store.commit([.insert(Sample.call(100)), .erase(Sample.id(3), Sample.call(3).spec.erased(at: Sample.start))])
    #expect(try eraseAll(store, rule, at: Sample.time(99)) == [])
    #expect(try eraseAll(store, rule, at: Sample.time(110)) == (1...14).filter { $0 != 3 }.map(Sample.id))
    #expect(try eraseAll(store, rule, at: Sample.time(110)) == [])
    for number in 1...30 {
      let stored = try #require(try reader.call(Sample.id(number), allResponses: true))
      let isErased = number < 15
      #expect((stored.record.spec.contentErasedAt != nil) == isErased, "call \(number)")
      #expect(stored.record.body.isEmpty == isErased && stored.record.spec.headers.isEmpty == isErased)
      #expect(stored.attempts.map { $0.response == nil } == [isErased] && stored.attempts.map(\.status) == [503])
      #expect(stored.record.progress.state == .succeeded)
    }
    // One is stored late, and one arrives from an archive.
    try store.commit([.insert(Sample.call(40, .running))])
    try store.commit([
      .update(Sample.id(40), finished(40, .failed, at: 2).progress, Sample.attempt(1)),
      .insert(finished(41, .failed, at: 9)),
    ])
    #expect(try eraseAll(store, rule, at: Sample.time(110)) == [40, 41].map(Sample.id))
    #expect(try eraseAll(store, rule, at: Sample.time(1000)) == (15...30).map(Sample.id))
    #expect(try reader.call(Sample.id(100), allResponses: false)?.record.body == Sample.call(100).body)
  }

  /// A call that a command is about to change keeps its payloads, and so do those that ended after it.
  package func payloadsDuringOperation() throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    var rule = Retention(time: .seconds(1_000_000))
    rule.payloadTime = .seconds(100)
    try store.commit((1...3).map { .insert(finished($0, .failed, at: $0)) })
    var call = try #require(try store.claim(Sample.id(2)))
    #expect(try eraseAll(store, rule, at: Sample.time(1000)) == [Sample.id(1)])
    call.progress.state = .held
    call.progress.finishedAt = nil
    try store.commit([.update(call.id, call.progress, nil)])
    #expect(try eraseAll(store, rule, at: Sample.time(1000)) == [Sample.id(3)])
    #expect(try reader.call(Sample.id(2), allResponses: false)?.record.body == finished(2, .failed, at: 2).body)
  }

  /// A call that a command is about to change still exists when the change arrives, however old it is.
  package func retentionDuringOperation() throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    try store.commit((1...3).map { .insert(finished($0, .failed, at: 0)) })
    var call = try #require(try store.claim(Sample.id(2)))
    #expect(try tidyAll(store, Retention(time: .seconds(1)), at: Sample.time(1000)) == 2)
    call.progress.state = .held
    call.progress.finishedAt = nil
    try store.commit([.update(call.id, call.progress, nil)])
    #expect(try tidyAll(store, Retention(time: .seconds(1)), at: Sample.time(1000)) == 0)
    #expect(try reader.call(Sample.id(2), allResponses: false)?.record.progress.state == .held)
  }

  /// If the store is over its maximum size, the calls that ended first are removed, as many as needed, and none that
  /// ended so recently that its client cannot have learned of it.
  package func retentionByBytes() throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    var random = RandomSource(seed: 4)
    for number in 1...200 {
      var call = finished(number, .succeeded, at: number)
      let noise = (0..<8192).map { _ in UInt8.random(in: 0...255, using: &random) }
      call = CallRecord(
        id: call.id, kind: .call, spec: call.spec, body: noise, createdAt: call.createdAt, progress: call.progress)
      try store.commit([.insert(call)])
    }
    let full = try reader.usage().usedBytes
    #expect(full > 200 * 8192)
    let half = Retention(time: .seconds(1_000_000), bytes: full / 2, minimumTime: .seconds(10))
    let removed = try tidyAll(store, half, at: Sample.time(300))
    #expect((90...115).contains(removed), "\(removed)")
    #expect(try reader.usage().usedBytes <= full / 2)
    #expect(try reader.call(Sample.id(removed), allResponses: false) == nil)
    #expect(try reader.call(Sample.id(removed + 1), allResponses: false) != nil)
    let least = Retention(time: .seconds(1_000_000), bytes: 1, minimumTime: .seconds(10))
    _ = try tidyAll(store, least, at: Sample.time(205))
    #expect(try reader.usage().finished.map(\.count).reduce(0, +) == 5)
  }

  /// The stored counts of finished calls agree with a naive model through ends, retries, discards and removals.
  package func finishedCounts(seed: UInt64) throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    var random = RandomSource(seed: seed)
    var model: [Int: (kind: CallKind, state: StoredState)] = [:]
    for round in 0..<400 {
      let number = Int.random(in: 0..<60, using: &random)
      let state = StoredState.allCases.randomElement(using: &random) ?? .held
      if let known = model[number] {
        if Int.random(in: 0..<5, using: &random) == 0 {
          try store.commit([.discard(Sample.id(number))])
          model[number] = nil
        } else {
          var progress = Sample.call(number, state).progress
          progress.finishedAt = state.isFinal ? Sample.time(round) : nil
          try store.commit([.update(Sample.id(number), progress, nil)])
          model[number] = (known.kind, state)
        }
      } else {
        let kind: CallKind = Bool.random(using: &random) ? .call : .webhook
        try store.commit([.insert(Sample.call(number, state, kind: kind))])
        model[number] = (kind, state)
      }
      guard round % 20 == 0 else { continue }
      let usage = try reader.usage()
      for kind in CallKind.allCases {
        for state in [StoredState.succeeded, .failed, .cancelled] {
          let kept = usage.finished.first { $0.kind == kind && $0.state == state.visible }?.count ?? 0
          #expect(kept == model.values.count { $0 == (kind, state) }, "round \(round), \(kind) \(state)")
        }
      }
    }
  }
}
