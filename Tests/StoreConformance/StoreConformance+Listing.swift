import RedialCore
import RedialModel
import RedialStore
import Testing

extension StoreConformance {
  /// Every list, page by page, equals the result of sorting and filtering all calls.
  package func listing(seed: UInt64) throws {
    let store = try openStore()
    let reader = try openReader(store)
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
              && (target == nil || $0.spec.target.bare == target)
          }
          var query = CallQuery(state: state, target: target, kind: kind, limit: Int.random(in: 1...40, using: &random))
          var found: [StoredCall] = []
          while true {
            let page = try reader.calls(query)
            #expect(page.calls.count <= query.limit)
            found += page.calls
            guard let next = page.next else { break }
            query.before = next
          }
          #expect(found.map { $0.record.id } == expected.map { $0.id }, "seed \(seed), \(query)")
          #expect(found.map { $0.record.progress } == expected.map { $0.progress }, "seed \(seed), \(query)")
          #expect(found.allSatisfy { $0.record.body.isEmpty && $0.attempts.isEmpty })
        }
      }
    }
    #expect(try reader.calls(CallQuery(limit: 0)).calls.isEmpty)
  }

  /// For any combination of conditions, the pages equal the result of checking every call, and no page examines more
  /// calls than its limit.
  package func filtering(seed: UInt64) throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    var random = RandomSource(seed: seed)
    var (calls, last): ([CallRecord], [CallID: AttemptRecord]) = ([], [:])
    for number in 0..<200 {
      var labels: [CallSpec.Label] = []
      for name in ["team", "region"] where Bool.random(using: &random) {
        labels.append(.init(name: name, value: "\(Int.random(in: 0..<3, using: &random))"))
      }
      var call = Sample.call(
        number << 20 | 5, StoredState.allCases.randomElement(using: &random) ?? .held,
        target: "t\(number % 2)", labels: labels)
      call.progress.attempts = Int.random(in: 0..<5, using: &random)
      if call.progress.state == .failed, let reason = StopReason.allCases.randomElement(using: &random) {
        call.progress.failure = reason
        call.progress.issue = number % 3 == 0 ? nil : FailedGroup(.call, "t0", reason, endedBy: nil).id
      }
      calls.append(call)
      try store.commit([.insert(call)])
      for attempt in 0..<Int.random(in: 0..<3, using: &random) {
        var record = Sample.attempt(attempt + 1)
        record.status = [200, 404, 503, nil].randomElement(using: &random) ?? nil
        record.outcome = record.status == nil ? .notSent : .answered
        last[call.id] = record
        try store.commit([.update(call.id, call.progress, record)])
      }
    }
    for _ in 0..<150 {
      var filter = CallFilter()
      func chance() -> Bool { Int.random(in: 0..<3, using: &random) == 0 }
      if chance() {
        filter.states = Set(CallState.allCases.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random)))
      }
      if chance() { filter.target = "t0" }
      if chance() { filter.labels.append(.init(name: "team", value: "1")) }
      if chance() { filter.labels.append(.init(name: "region", value: "2")) }
      if chance() { filter.createdAfter = calls.randomElement(using: &random)?.id.createdAt }
      if chance() { filter.createdBefore = calls.randomElement(using: &random)?.id.createdAt }
      if chance() { filter.statuses = [200...200, 400...503].randomElement(using: &random) }
      if chance() { filter.outcome = .answered }
      if chance() { filter.failure = .tripped }
      if chance() { filter.issue = FailedGroup(.call, "t0", .tripped, endedBy: nil).id }
      if chance() { filter.attempts = Int.random(in: 1..<5, using: &random) }
      let expected = calls.reversed().filter { call in
        let attempt = last[call.id]
        return (filter.states.isEmpty || filter.states.contains(call.progress.state.visible))
          && (filter.target == nil || call.spec.target.bare == filter.target)
          && filter.labels.allSatisfy(call.spec.labels.contains)
          && (filter.createdAfter.map { call.id.createdAt >= $0 } ?? true)
          && (filter.createdBefore.map { call.id.createdAt < $0 } ?? true)
          && (filter.statuses.map { range in attempt?.status.map(range.contains) ?? false } ?? true)
          && (filter.outcome == nil || attempt?.outcome == filter.outcome)
          && call.progress.attempts >= filter.attempts ?? 0
          && (filter.failure == nil || call.progress.failure == filter.failure)
          && (filter.issue == nil || call.progress.issue == filter.issue)
      }
      var query = CallQuery(filter, limit: Int.random(in: 1...40, using: &random), scanLimit: 30)
      var (found, pages): ([CallID], Int) = ([], 0)
      while true {
        let page = try reader.ids(query)
        #expect(page.calls.count <= query.limit)
        found += page.calls
        pages += 1
        guard let next = page.next else { break }
        #expect(query.before.map { next < $0 } ?? true, "a page goes on where it ended")
        query.before = next
      }
      #expect(found == expected.map(\.id), "seed \(seed), \(filter)")
      #expect(pages <= 2 + calls.count / min(query.limit, query.scanLimit) + found.count, "seed \(seed), \(filter)")
    }
    // Labels are removed with their calls.
    let gone = try #require(calls.first { !$0.spec.labels.isEmpty })
    try store.commit([.discard(gone.id)])
    let left = try reader.ids(CallQuery(CallFilter(labels: [gone.spec.labels[0]]), limit: 250))
    #expect(!left.calls.contains(gone.id))
  }
}
