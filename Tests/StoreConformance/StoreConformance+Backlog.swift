import RedialCore
import RedialModel
import RedialStore
import Testing

extension StoreConformance {
  /// Waiting calls in the store are counted by target and reason, up to the limit, with the same result as counting all
  /// calls.
  package func backlog(seed: UInt64) throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    var random = RandomSource(seed: seed)
    var expected: [String: Int] = [:]
    let reasons: [WaitReason] = [.startTime, .backoff, .retryAfter, .retryBudget]
    var calls: [CallRecord] = []
    for number in 0..<200 {
      var call = Sample.call(
        number, StoredState.allCases.randomElement(using: &random) ?? .scheduled,
        target: "t\(Int.random(in: 0..<3, using: &random))",
        kind: Int.random(in: 0..<4, using: &random) == 0 ? .webhook : .call)
      call.progress.waiting = call.progress.state == .queued ? .concurrency : reasons.randomElement(using: &random)
      // A call without a wait reason waits for its due time, and is counted.
      if number % 10 == 0, call.progress.state == .scheduled { call.progress.waiting = nil }
      if call.progress.state == .scheduled {
        expected["\(call.spec.target) \((call.progress.waiting ?? .startTime).name)", default: 0] += 1
      }
      calls.append(call)
    }
    // Of one key, whose first call has the turn and is scheduled, while the others wait for it.
    for number in 200..<205 {
      var call = Sample.call(number, .queued, target: "t0", orderingKey: "k")
      call.progress.waiting = .ordering
      expected[number > 200 ? "t0 ordering" : "t0 startTime", default: 0] += 1
      calls.append(call)
    }
    for call in calls { try store.commit([.insert(call)]) }
    // Another tenant's calls are separate.
    let acme = try #require(Namespace("acme"))
    let foreign = TargetKey("t0", in: acme)
    for number in 300..<310 {
      var call = Sample.call(number, .scheduled, target: foreign, orderingKey: number < 305 ? "k" : nil)
      call.progress.state = number > 300 && number < 305 ? .queued : .scheduled
      call.progress.waiting = call.progress.state == .queued ? .ordering : .backoff
      try store.commit([.insert(call)])
    }
    try store.commit((300..<305).map { .awaitTurn(Sample.id($0), target: foreign, orderingKey: "k") })
    try store.commit(
      (200..<205).map { .awaitTurn(Sample.id($0), target: "t0", orderingKey: "k") })
    func found(_ target: TargetKey?) throws -> [String: Int] {
      let backlog = try reader.backlog(of: target, in: .default, limit: 10_000)
      #expect(backlog.isComplete)
      return Dictionary(uniqueKeysWithValues: backlog.counts.map { ("\($0.target) \($0.reason.name)", $0.count) })
    }
    #expect(try found(nil) == expected, "seed \(seed)")
    for target: TargetKey in ["t0", "t1", "t2"] {
      #expect(try found(target) == expected.filter { $0.key.hasPrefix(target.bare) }, "seed \(seed)")
    }
    #expect(try found("none").isEmpty)
    let others = try reader.backlog(of: nil, in: acme, limit: 10_000)
    #expect(
      others.counts.map { "\($0.target.bare) \($0.reason.name) \($0.count)" }.sorted()
        == ["t0 backoff 5", "t0 ordering 4", "t0 startTime 1"])
    let short = try reader.backlog(of: nil, in: .default, limit: 2)
    #expect(!short.isComplete && short.counts.reduce(0) { $0 + $1.count } == 4)
  }
}
