import RedialCore
import RedialModel
import RedialStore
import Testing

extension StoreConformance {
  /// Every list, page by page, is what sorting and filtering all calls would give.
  func listing(seed: UInt64) throws {
    let (store, reader) = (try openStore(), try openReader())
    defer { store.close() }
    var random = RandomSource(seed: seed)
    var calls: [CallRecord] = (0..<300).map { number in
      Sample.call(
        number * 3, StoredState.allCases.randomElement(using: &random) ?? .held,
        due: Sample.time(Int.random(in: 0..<50, using: &random)), target: "t\(Int.random(in: 0..<3, using: &random))",
        kind: Int.random(in: 0..<4, using: &random) == 0 ? .webhook : .call)
    }
    try store.commit(calls.shuffled(using: &random).map { .insert($0) })
    for index in calls.indices where Bool.random(using: &random) {
      calls[index].progress.state = StoredState.allCases.randomElement(using: &random) ?? .held
      try store.commit([.update(calls[index].id, calls[index].progress, nil)])
    }
    for kind in CallKind.allCases {
      for state in [nil] + CallState.allCases.map({ Optional($0) }) {
        for target in [nil, "t0", "t1", "t2", "none"] {
          let expected = calls.reversed().filter {
            $0.kind == kind && (state == nil || $0.progress.state.visible == state)
              && (target == nil || $0.spec.target == target)
          }
          var query = CallQuery(state: state, target: target, kind: kind, limit: Int.random(in: 1...40, using: &random))
          var found: [StoredCall] = []
          while true {
            let page = try reader.calls(query)
            #expect(page.count <= query.limit)
            found += page
            guard page.count == query.limit, let last = page.last else { break }
            query.before = last.record.id
          }
          #expect(found.map { $0.record.id } == expected.map { $0.id }, "seed \(seed), \(query)")
          #expect(found.map { $0.record.progress } == expected.map { $0.progress }, "seed \(seed), \(query)")
          #expect(found.allSatisfy { $0.record.body.isEmpty && $0.attempts.isEmpty })
        }
      }
    }
    #expect(try reader.calls(CallQuery(limit: 0)).isEmpty)
  }
}
