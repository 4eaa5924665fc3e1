import RedialCore
import RedialModel
import RedialStore
import Testing

extension StoreConformance {
  /// A target's queue is claimed by priority, then by age, also in the next process.
  package func priorities() throws {
    let store = try openStore()
    let priorities = [5, 0, 9, 5, 9]
    try store.commit(
      priorities.enumerated().map {
        .insert(Sample.call($0.offset, .queued, due: Sample.time(60), priority: $0.element))
      })
    func claim(_ store: any CallStore, _ limit: Int) throws -> [CallID] {
      try store.claimQueued(target: "https://example.com", limit: limit).map { $0.id }
    }
    #expect(try claim(store, 2) == [Sample.id(2), Sample.id(4)])
    store.close()
    let next = try openStore()
    defer { next.close() }
    #expect(try claim(next, 9) == [Sample.id(0), Sample.id(3), Sample.id(1)])
  }

  /// Operators' settings of targets are read back, the latest of each, and are gone after they are undone.
  package func controls() throws {
    let store = try openStore()
    var overrides = TargetOverrides()
    overrides.maxInFlight = 3
    overrides.ratePerSecond = 0.5
    overrides.openInterval = .milliseconds(1500)
    let set = TargetControls(overrides: overrides, isPaused: true)
    try store.commit([
      .target("set", TargetRecord(controls: TargetControls(isPaused: true))),
      .target("set", TargetRecord(controls: set)),
      .target("tripped", TargetRecord(controls: TargetControls(isTripped: true))),
      .target("undone", TargetRecord(controls: set)), .target("undone", TargetRecord()),
    ])
    store.close()
    let next = try openStore()
    defer { next.close() }
    let found = Dictionary(
      uniqueKeysWithValues: try next.recover(at: Sample.start).targets.map { ($0.target, $0.record.controls) })
    #expect(found == ["set": set, "tripped": TargetControls(isTripped: true)])
  }

  private func ordered(_ number: Int, key: String, target: TargetKey = "t") -> [StoreWrite] {
    var call = Sample.call(number, .queued, due: Sample.time(900), target: target, orderingKey: key)
    call.progress.waiting = .ordering
    return [.insert(call), .awaitTurn(call.id, target: target, orderingKey: key)]
  }

  private func end(_ number: Int) -> [StoreWrite] {
    var progress = Sample.call(number, .failed).progress
    progress.attempts = 1
    return [.update(Sample.id(number), progress, nil), .passTurn(Sample.id(number))]
  }

  /// The oldest of a key's calls is scheduled, the others wait in no queue until it ends, is discarded, or is given up;
  /// calls of other keys and targets do not affect them.
  package func turns() throws {
    let store = try openStore()
    let reader = try openReader(store)
    func due() throws -> [CallID] {
      try store.claimDue(before: Sample.time(10), limit: 10).calls.map { $0.id }
    }
    try store.commit(
      (1...4).flatMap { ordered($0, key: "a") } + ordered(5, key: "b") + ordered(6, key: "a", target: "u"))
    #expect(try due() == [1, 5, 6].map { Sample.id($0) })
    #expect(try store.claimQueued(target: "t", limit: 10).isEmpty)
    #expect(try reader.call(Sample.id(2), allResponses: false)?.record.progress.waiting == .ordering)
    #expect(try store.claimDue(before: Sample.time(10), limit: 1).nextDue == Sample.time(900))
    // Twice, as after a commit of unknown outcome.
    try store.commit(end(1) + [.passTurn(Sample.id(1))])
    #expect(try due() == [Sample.id(2)])
    try store.commit(end(3))
    #expect(try due().isEmpty)
    // In memory because of its deadline, it still has the turn.
    _ = try store.claim(Sample.id(4))
    try store.commit([.discard(Sample.id(2))])
    #expect(try due() == [Sample.id(4)])
    // Back behind the call with the turn, which is itself.
    var waiting = Sample.call(4, .queued, due: Sample.time(900)).progress
    waiting.waiting = .ordering
    try store.commit([
      .update(Sample.id(4), waiting, nil), .awaitTurn(Sample.id(4), target: "t", orderingKey: "a"),
    ])
    #expect(try due() == [Sample.id(4)])
    store.close()
    let next = try openStore()
    defer { next.close() }
    #expect(try next.recover(at: Sample.start).queued.isEmpty)
    try next.commit(ordered(9, key: "a"))
    #expect(
      try next.claimDue(before: Sample.time(10), limit: 10).calls.map { $0.id } == [4, 5, 6].map { Sample.id($0) })
  }

  /// Compared with a list that is searched from end to end, over crashes.
  package func turnsAgree(seed: UInt64) throws {
    var random = RandomSource(seed: seed)
    var store = try openStore()
    var keys: [Int: String] = [:]
    var holders: [String: Int] = [:]
    for number in 1...400 {
      if random.unitInterval() < 0.5 || keys.isEmpty {
        let key = "k\(random.next() % 4)"
        try store.commit(ordered(number, key: key))
        keys[number] = key
        if holders[key] == nil { holders[key] = number }
      } else {
        let victim = keys.keys.sorted()[Int(random.next() % UInt64(keys.count))]
        let key = keys.removeValue(forKey: victim) ?? ""
        try store.commit(random.unitInterval() < 0.8 ? end(victim) : [.discard(Sample.id(victim))])
        if holders[key] == victim { holders[key] = keys.filter { $0.value == key }.keys.min() }
      }
      if random.unitInterval() < 0.05 {
        store.close()
        store = try openStore()
      }
      _ = try store.recover(at: Sample.start)
      let due = try store.claimDue(before: Sample.time(10), limit: 100).calls.map { $0.id }
      #expect(due == holders.values.sorted().map { Sample.id($0) }, "seed \(seed), step \(number)")
    }
    store.close()
  }
}
