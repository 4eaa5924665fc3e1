import RedialCore
import RedialModel
import RedialStore
import Testing

extension StoreConformance {
  /// Due calls are claimed earliest first, up to the limit, once; the claim returns when the next is due.
  package func dueClaims() throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    // Due at 5, 4, 3, 2, 1 and 9 s; no claim includes the others.
    try store.commit(
      (1...5).map { .insert(Sample.call($0, $0 == 2 ? .queued : .scheduled, due: Sample.time(6 - $0))) }
        + [.insert(Sample.call(6, due: Sample.time(9)))]
        + [StoredState.held, .running, .succeeded, .failed, .cancelled].enumerated().map {
          .insert(Sample.call(10 + $0, $1, due: Sample.time(0)))
        })
    let first = try store.claimDue(before: Sample.time(5), limit: 3)
    #expect(first.calls.map { $0.id } == [Sample.id(5), Sample.id(4), Sample.id(3)])
    #expect(first.calls.allSatisfy { $0.progress.state == .held && $0.body == Array("hello".utf8) })
    #expect(first.calls.map { $0.progress.due } == [Sample.time(1), Sample.time(2), Sample.time(3)])
    #expect(first.nextDue == Sample.time(4))
    let second = try store.claimDue(before: Sample.time(5), limit: 3)
    #expect(second.calls.map { $0.id } == [Sample.id(2), Sample.id(1)])
    #expect(second.nextDue == Sample.time(9))
    #expect(try store.claimDue(before: Sample.time(5), limit: 3).calls.isEmpty)
    #expect(try store.claimDue(before: Sample.time(9), limit: 3).nextDue == nil)
    #expect(try reader.call(Sample.id(2), allResponses: false)?.record.progress.state == .held)
  }

  /// Many due calls of one namespace do not delay those of others, however early they were due.
  package func fairClaims() throws {
    let store = try openStore()
    defer { store.close() }
    func call(_ number: Int, of namespace: String, due: Int) throws -> StoreWrite {
      let name = try #require(Namespace(namespace))
      let call = Sample.call(number, due: Sample.time(due), target: TargetKey("https://example.com", in: name))
      return .insert(call)
    }
    // A hundred of one since the first second, and two and one of two others, due long after.
    try store.commit(
      try (1...100).map { try call($0, of: "crowd", due: 1) }
        + [call(101, of: "default", due: 8), call(102, of: "default", due: 9), call(103, of: "quiet", due: 9)])
    let first = try store.claimDue(before: Sample.time(10), limit: 12)
    #expect(first.calls.map(\.id).sorted() == ((1...9).map { Sample.id($0) } + (101...103).map { Sample.id($0) }))
    #expect(first.nextDue == Sample.time(1))
    // With fewer places than namespaces, those that have waited longest are first.
    try store.commit([
      try call(104, of: "default", due: 0), try call(105, of: "quiet", due: 2), try call(106, of: "quiet", due: 3),
    ])
    let second = try store.claimDue(before: Sample.time(10), limit: 2)
    #expect(second.calls.map(\.id).sorted() == [Sample.id(10), Sample.id(104)])
    // All of them are claimed, once, and no call that is not due.
    try store.commit([try call(107, of: "quiet", due: 30)])
    let rest = try store.claimDue(before: Sample.time(10), limit: 1000)
    #expect(rest.calls.count == 92 && Set(rest.calls.map(\.id)).count == 92)
    #expect(rest.nextDue == Sample.time(30))
  }

  /// The queue of a target is claimed oldest first, and no other target's.
  package func queuedClaims() throws {
    let store = try openStore()
    defer { store.close() }
    try store.commit(
      (1...9).map { number in
        .insert(
          Sample.call(
            number, number == 4 ? .scheduled : .queued, due: Sample.time(100 - number),
            target: number % 2 == 0 ? "even" : "odd", kind: number == 6 ? .webhook : .call))
      })
    #expect(try store.claimQueued(target: "even", limit: 2).map { $0.id } == [Sample.id(2), Sample.id(6)])
    let rest = try store.claimQueued(target: "even", limit: 2)
    #expect(rest.map { $0.id } == [Sample.id(8)])
    #expect(rest.allSatisfy { $0.progress.state == .held })
    #expect(try store.claimQueued(target: "even", limit: 2).isEmpty)
    #expect(try store.claimQueued(target: "nobody", limit: 2).isEmpty)
    #expect(try store.claimQueued(target: "odd", limit: 100).count == 5)
  }

  /// A claim by id holds a call that has not ended, and returns one that has.
  package func claimsByID() throws {
    let store = try openStore()
    defer { store.close() }
    for (number, state) in StoredState.allCases.enumerated() {
      try store.commit([.insert(Sample.call(number, state))])
      let claimed = try #require(try store.claim(Sample.id(number)))
      #expect(claimed.progress.state == (state.isFinal ? state : .held))
    }
    #expect(try store.claim(Sample.id(99)) == nil)
    #expect(try store.claimDue(before: .distantFuture, limit: 10).calls.isEmpty)
  }

  /// Several calls at once come in the order in which they were named, each for those of its namespace alone.
  package func claimsOfSeveral() throws {
    let store = try openStore()
    defer { store.close() }
    let states = StoredState.allCases
    let acme = try #require(Namespace("acme"))
    for (number, state) in states.enumerated() { try store.commit([.insert(Sample.call(number, state))]) }
    let named: [CallAddress] =
      [CallAddress(Sample.id(99), in: .default), CallAddress(Sample.id(0), in: acme)]
      + states.indices.reversed().map { CallAddress(Sample.id($0), in: .default) }
      + [CallAddress(Sample.id(0), in: .default), CallAddress(Sample.id(1), in: acme)]
    let found = try store.fetch(named).map { try $0.get() }
    #expect(
      found.map { $0?.id } == [nil, nil] + states.indices.reversed().map { Sample.id($0) } + [Sample.id(0), nil])
    let expected = states.reversed().map { $0.isFinal ? $0 : .held }
    #expect(found[2..<2 + states.count].map { $0?.progress.state } == expected)
    #expect(try store.fetch([]).isEmpty)
    #expect(try store.claimDue(before: .distantFuture, limit: 10).calls.isEmpty)
  }

  /// A claimed call has its attempts only if its webhook contains them, and never their responses.
  package func claimedHistory() throws {
    let store = try openStore()
    defer { store.close() }
    let callback = Callback(url: "https://me.example.com/hooks")
    for (number, callback) in [(1, nil), (2, callback)] {
      let call = Sample.call(number, callback: callback)
      var progress = call.progress
      progress.attempts = 2
      try store.commit([
        .insert(call), .update(call.id, progress, Sample.attempt(1)), .update(call.id, progress, Sample.attempt(2)),
      ])
    }
    let calls = try store.claimDue(before: Sample.start, limit: 2).calls
    #expect(calls.map { $0.history.count } == [0, 2])
    var expected = [Sample.attempt(1), Sample.attempt(2)]
    for index in expected.indices { expected[index].response = nil }
    #expect(calls.last?.history == expected)
  }

  /// A process that takes over gets the running calls, returns the held ones, and gets the number of the others.
  package func recovery() throws {
    let store = try openStore()
    #expect(try store.recover(at: Sample.start).unfinished == 0)
    var writes: [StoreWrite] = []
    for number in 1...40 {
      let state: StoredState = StoredState.allCases[number % StoredState.allCases.count]
      writes.append(
        .insert(
          Sample.call(
            number, state, due: Sample.time(number), target: number % 2 == 0 ? "even" : "odd",
            kind: number % 3 == 0 ? .webhook : .call)))
    }
    // The last word counts. A time that has passed does not, nor an old pace, unless the breaker is open.
    let late = Sample.time(50) + SavedPace.memory
    func pace(_ second: Int) -> SavedPace {
      SavedPace(delivered: 12.345, isLimited: second != 51, at: Sample.time(second))
    }
    let odd = TargetRecord(
      breaker: OpenBreaker(until: Sample.time(10), trips: 3), pace: pace(1), askedUntil: Sample.time(80))
    let even = TargetRecord(pace: pace(51), askedUntil: Sample.time(50))
    writes += [
      .target("odd", TargetRecord(breaker: OpenBreaker(until: Sample.time(7), trips: 2))), .target("odd", odd),
      .target("even", TargetRecord(breaker: OpenBreaker(until: Sample.time(8), trips: 1), pace: pace(49))),
      .target("even", even), .target("unseen", odd), .target("unseen", TargetRecord()),
      .target("old", TargetRecord(pace: pace(49))),
    ]
    try store.commit(writes)
    store.close()

    let next = try openStore()
    let state = try next.recover(at: Sample.time(50))
    func records(_ state: RecoveredState) -> [TargetKey: TargetRecord] {
      Dictionary(uniqueKeysWithValues: state.targets.map { ($0.target, $0.record) })
    }
    #expect(
      records(state) == ["odd": odd, "even": TargetRecord(pace: pace(51)), "old": TargetRecord(pace: pace(49))])
    func numbers(_ state: StoredState) -> [Int] {
      (1...40).filter { StoredState.allCases[$0 % StoredState.allCases.count] == state }
    }
    #expect(state.running.map { $0.id }.sorted() == numbers(.running).map { Sample.id($0) })
    #expect(state.running.allSatisfy { $0.progress.state == .held })
    let waiting = numbers(.scheduled) + numbers(.queued) + numbers(.held)
    #expect(state.unfinished == waiting.count + numbers(.running).count)
    #expect(state.nextDue == waiting.min().map { Sample.time($0) })
    #expect(state.lastID == Sample.id(40))
    let queued = numbers(.queued)
    let counts = Dictionary(uniqueKeysWithValues: state.queued.map { ($0.target, $0.count) })
    #expect(counts == ["even": queued.filter { $0 % 2 == 0 }.count, "odd": queued.filter { $0 % 2 == 1 }.count])
    #expect(
      records(try next.recover(at: late)) == [
        "odd": TargetRecord(breaker: odd.breaker, pace: odd.pace), "even": TargetRecord(pace: pace(51)),
      ])
    let claimed = try next.claimDue(before: Sample.time(100), limit: 100)
    #expect(claimed.calls.map { $0.id } == waiting.sorted().map { Sample.id($0) })
    next.close()
  }

  /// A call that was claimed from its target's queue returns there, and does not wait for its deadline.
  package func queueAfterCrash() throws {
    let store = try openStore()
    var call = Sample.call(1, .queued, due: Sample.time(900), target: "t")
    call.progress.waiting = .breaker
    var other = Sample.call(2, due: Sample.time(3), target: "t")
    other.progress.waiting = .backoff
    try store.commit([.insert(call), .insert(other)])
    #expect(try store.claimQueued(target: "t", limit: 10).map(\.id) == [Sample.id(1)])
    #expect(try store.claimDue(before: Sample.time(4), limit: 10).calls.map(\.id) == [Sample.id(2)])
    store.close()

    let next = try openStore()
    let state = try next.recover(at: Sample.time(10))
    #expect(state.queued.map { "\($0.target): \($0.count)" } == ["t: 1"])
    #expect(state.nextDue == Sample.time(3))
    #expect(try next.claimQueued(target: "t", limit: 10).map(\.id) == [Sample.id(1)])
    next.close()
  }

  /// However calls changed between waiting and running, a list always shows which are which, and a process that takes
  /// over after a crash gets exactly those with an attempt in flight.
  package func runningAfterCrash(seed: UInt64) throws {
    let store = try openStore()
    let reader = try openReader(store)
    var random = RandomSource(seed: seed)
    var states: [Int: StoredState] = [:]
    let label = CallSpec.Label(name: "team", value: "a")
    func numbers(_ state: CallState, of calls: [Int: StoredState]) -> [CallID] {
      calls.filter { $0.value.visible == state }.map { Sample.id($0.key) }.sorted(by: >)
    }
    for number in 1...30 {
      let call = Sample.call(
        number, [.scheduled, .held, .running][number % 3], due: Sample.time(number), labels: [label])
      states[number] = call.progress.state
      try store.commit([.insert(call)])
    }
    for step in 1...150 {
      let number = Int.random(in: 1...30, using: &random)
      if Int.random(in: 0..<5, using: &random) == 0 {
        // A claim holds a call in any state.
        if try #require(try store.claim(Sample.id(number))).progress.state == .held { states[number] = .held }
      } else {
        var progress = Sample.call(number).progress
        progress.state = StoredState.allCases.randomElement(using: &random) ?? .held
        progress.waiting = progress.state == .held && Bool.random(using: &random) ? .backoff : nil
        (progress.attempts, progress.due) = (step, Sample.time(100 + step))
        progress.finishedAt = progress.state.isFinal ? Sample.time(step) : nil
        try store.commit([.update(Sample.id(number), progress, nil)])
        states[number] = progress.state
        let found = try reader.call(Sample.id(number), allResponses: false)
        #expect(found?.record.progress == progress, "seed \(seed), step \(step)")
      }
      for state in [CallState.running, .scheduled] {
        // With the label, each call is checked by itself.
        for filter in [CallFilter(state: state), CallFilter(state: state, labels: [label])] {
          let ids = try reader.calls(CallQuery(filter)).calls.map { $0.record.id }
          #expect(ids == numbers(state, of: states), "seed \(seed), step \(step)")
        }
      }
    }
    store.close()
    let next = try openStore()
    defer { next.close() }
    let running = try next.recover(at: Sample.time(500)).running
    #expect(running.map(\.id).sorted(by: >) == numbers(.running, of: states), "seed \(seed)")
    #expect(running.allSatisfy { $0.progress.state == .held && $0.progress.waiting == nil })
    let waiting = numbers(.scheduled, of: states).count
    #expect(try next.claimDue(before: .distantFuture, limit: 100).calls.count <= waiting, "seed \(seed)")
  }

  /// A process that dies in its recovery, before the interruption is on disk, does not lose it.
  package func twiceRunning() throws {
    let store = try openStore()
    try store.commit([.insert(Sample.call(1, .running))])
    // Its strikes change while it runs.
    var known = Sample.call(1, .running).progress
    _ = known.strike(isCrash: true)
    known.isAlone = true
    try store.commit([.update(Sample.id(1), known, nil)])
    store.close()
    for _ in 1...2 {
      let next = try openStore()
      let running = try next.recover(at: Sample.time(1)).running
      #expect(running.map(\.id) == [Sample.id(1)] && running.map(\.progress.interruptions) == [known.interruptions])
      next.close()
    }
    let last = try openStore()
    #expect(try last.recover(at: Sample.time(2)).running.count == 1)
    var progress = Sample.call(1).progress
    progress.due = Sample.time(5)
    try last.commit([.update(Sample.id(1), progress, Sample.attempt(1))])
    #expect(try last.claimDue(before: Sample.time(6), limit: 10).calls.map(\.id) == [Sample.id(1)])
    last.close()
  }
}
