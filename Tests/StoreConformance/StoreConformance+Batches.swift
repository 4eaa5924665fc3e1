import RedialCore
import RedialModel
import RedialStore
import Testing

extension StoreConformance {
  /// However many changes of however many calls are in a commit, all are made; and none, if one is impossible.
  package func batches(seed: UInt64) throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    var random = RandomSource(seed: seed)
    let labels = (0..<3).map { CallSpec.Label(name: "l\($0)", value: "\(seed)") }
    func bytes(_ random: inout RandomSource) -> [UInt8] {
      let count = [0, 5, 300, 16 * 1024, 16 * 1024 + 1, 70_000].randomElement(using: &random) ?? 0
      return Array(repeating: UInt8.random(in: 0...255, using: &random), count: count)
    }
    for round in 0..<6 {
      var (writes, expected): ([StoreWrite], [ComparableCall]) = ([], [])
      var attempts: [[AttemptRecord]] = []
      for number in 0..<Int.random(in: 1...40, using: &random) {
        var call = Sample.call(
          round * 100 + number, .held, target: "t\(number % 5)", body: bytes(&random),
          labels: Array(labels.prefix(Int.random(in: 0...3, using: &random))))
        var made: [AttemptRecord] = []
        writes.append(.insert(call))
        for attempt in 0..<Int.random(in: 0...3, using: &random) {
          call.progress.state = .running
          call.progress.attempts = attempt + 1
          writes.append(.update(call.id, call.progress, nil))
          call.progress.state = Bool.random(using: &random) ? .succeeded : .held
          call.progress.finishedAt = call.progress.state == .succeeded ? Sample.time(attempt) : nil
          made.append(Sample.attempt(attempt + 1, body: bytes(&random)))
          writes.append(.update(call.id, call.progress, made.last))
        }
        expected.append(ComparableCall(call))
        attempts.append(made)
      }
      // Changes between those of a call are independent of it.
      let breaker = StoreWrite.target("t1", TargetRecord(breaker: OpenBreaker(until: Sample.time(round), trips: 1)))
      writes.insert(breaker, at: Int.random(in: 0...writes.count, using: &random))
      let first = try #require(expected.first)
      for again in [StoreWrite.insert(Sample.call(round * 100)), .update(first.id, first.progress, Sample.attempt(1))] {
        // One call or one attempt twice: nothing is kept, and everything can be committed without it.
        guard case .insert = again else {
          guard !attempts[0].isEmpty else { continue }
          #expect(throws: StoreError.self, "seed \(seed)") { try store.commit(writes + [again]) }
          continue
        }
        #expect(throws: StoreError.self, "seed \(seed)") { try store.commit(writes + [again]) }
        #expect(try reader.call(first.id, allResponses: false) == nil, "seed \(seed)")
      }
      try store.commit(writes)
      for (call, made) in zip(expected, attempts) {
        let found = try #require(try reader.call(call.id, allResponses: true))
        #expect(ComparableCall(found.record) == call.shown, "seed \(seed)")
        #expect(found.attempts == made, "seed \(seed)")
      }
      let labelled = expected.filter { $0.labels.count > 1 }.map(\.id).sorted(by: >)
      let listed = try reader.calls(CallQuery(CallFilter(labels: [labels[1]]), limit: 1000)).calls.map { $0.record.id }
      #expect(listed.filter { id in expected.contains { $0.id == id } } == labelled, "seed \(seed)")
    }
  }
}
