import RedialCore
import RedialModel
import RedialStore
import Testing

extension StoreConformance {
  /// For targets that stand in any way, a list by waits has the calls that show such a wait.
  package func waits(seed: UInt64) throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    var random = RandomSource(seed: seed)
    let now = Sample.time(30)
    func time() -> Timestamp? {
      Bool.random(using: &random) ? Sample.time(Int.random(in: 20...40, using: &random)) : nil
    }
    func breaker() -> TargetStanding.Breaker {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: .halfOpen
      case 1: .tripped
      case 2, 3: .open(until: Sample.time(Int.random(in: 20...40, using: &random)))
      default: .closed
      }
    }
    let targets = (0..<8).map { TargetKey("t\($0)", in: .default) }
    var known = KnownStandings(at: now, own: ShardSet((0..<64).filter { _ in Bool.random(using: &random) }))
    for target in targets.dropFirst(2) where Bool.random(using: &random) {
      known.standings[target] = TargetStanding(
        breaker: breaker(), isPaused: Int.random(in: 0..<8, using: &random) == 0,
        isPaced: Bool.random(using: &random), paceUntil: time(), lacksConnection: Bool.random(using: &random),
        retryAfterUntil: time(), rateUntil: time(), retriesUntil: time())
    }
    var calls: [CallRecord] = []
    for number in 0..<300 {
      var call = Sample.call(
        number << 20, StoredState.allCases.randomElement(using: &random) ?? .scheduled,
        due: Sample.time(Int.random(in: 20...40, using: &random)),
        target: targets.randomElement(using: &random) ?? targets[0],
        labels: number % 3 == 0 ? [.init(name: "team", value: "a")] : [])
      call.progress.attempts = Int.random(in: 0..<3, using: &random)
      call.progress.attemptsBefore = Int.random(in: 0...call.progress.attempts, using: &random)
      switch call.progress.state {
      case .queued:
        call.progress.waiting = [.concurrency, .breaker, .ordering].randomElement(using: &random)
        call.progress.due = call.deadline
      case .scheduled, .held: call.progress.waiting = ([nil] + WaitReason.ofCall).randomElement(using: &random) ?? nil
      default: break
      }
      calls.append(call)
    }
    try store.commit(calls.shuffled(using: &random).map { .insert($0) })
    for target in targets where Bool.random(using: &random) {
      var record = TargetRecord()
      record.controls.isPaused = Int.random(in: 0..<3, using: &random) == 0
      record.askedUntil = time()
      try store.commit([.target(target, record)])
    }
    let all = try reader.calls(CallQuery(limit: 1000)).calls
    #expect(all.count == calls.count)
    var matched = 0
    for reason in [nil] + WaitReason.allCases.map(Optional.some) {
      for before in [nil, now, Sample.time(35), Sample.time(1000)] where reason != nil || before != nil {
        var filter = CallFilter()
        filter.waitingOn = reason
        filter.nextAttemptBefore = before
        if Int.random(in: 0..<3, using: &random) == 0 { filter.attempts = 1 }
        if Int.random(in: 0..<4, using: &random) == 0 { filter.target = "t3" }
        if Int.random(in: 0..<4, using: &random) == 0 { filter.labels = [.init(name: "team", value: "a")] }
        if Int.random(in: 0..<4, using: &random) == 0 { filter.states = [.scheduled, .failed] }
        let expected = all.filter { stored in
          let call = stored.record
          guard let wait = known.wait(of: call, stored: stored.target) else { return false }
          return (reason == nil || wait.reason == reason)
            && (before.map { before in wait.until.map { $0 < before } ?? false } ?? true)
            && call.progress.attempts >= filter.attempts ?? 0
            && (filter.target == nil || call.spec.target.bare == filter.target)
            && filter.labels.allSatisfy(call.spec.labels.contains)
        }
        var query = CallQuery(filter, limit: Int.random(in: 1...40, using: &random), scanLimit: 1, standings: known)
        var found: [CallID] = []
        while true {
          let page = try reader.ids(query)
          #expect(page.calls.count <= query.limit)
          found += page.calls
          guard let next = page.next else { break }
          query.before = next
        }
        #expect(found == expected.map(\.record.id), "seed \(seed), \(filter)")
        matched += found.count
      }
    }
    #expect(matched > 20, "seed \(seed)")
    // Nobody can find calls by waits who does not say how targets stand.
    var filter = CallFilter()
    filter.waitingOn = .breaker
    #expect(throws: StoreError.self) { try reader.ids(CallQuery(filter)) }
  }
}
