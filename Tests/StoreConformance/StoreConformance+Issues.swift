import RedialCore
import RedialModel
import RedialStore
import Testing

extension StoreConformance {
  /// Whatever happens to failed calls, each group has those that are failed now.
  package func failedGroups(seed: UInt64) throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    var random = RandomSource(seed: seed)
    let tenant = try #require(Namespace("tenant"))
    let targets = [TargetKey("t0", in: .default), TargetKey("t1", in: .default), TargetKey("t0", in: tenant)]
    let now = Sample.time(30 * 3600)
    var (calls, attempts): ([CallID: CallRecord], [CallID: Int]) = ([:], [:])
    func fail(_ call: inout CallRecord) {
      guard let reason = StopReason.allCases.prefix(2).randomElement(using: &random) else { return }
      call.progress.state = .failed
      call.progress.failure = reason
      call.progress.finishedAt = Sample.time(Int.random(in: 0...(30 * 3600 - 1), using: &random))
      call.progress.issue = FailedGroup(call.kind, call.spec.target, reason, endedBy: nil).id
      // As it was before there were groups.
      if Int.random(in: 0..<8, using: &random) == 0 { call.progress.issue = nil }
    }
    for number in 0..<200 {
      var call = Sample.call(
        number << 20, .held, target: targets.randomElement(using: &random) ?? targets[0],
        kind: number % 5 == 0 ? .webhook : .call)
      try store.commit([.insert(call)])
      if Int.random(in: 0..<3, using: &random) > 0 {
        fail(&call)
        try store.commit([.update(call.id, call.progress, Sample.attempt(1))])
        attempts[call.id] = 1
      }
      calls[call.id] = call
      // Another call runs again, fails again or goes.
      guard let other = calls.values.filter({ $0.progress.state == .failed }).randomElement(using: &random) else {
        continue
      }
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        var again = other
        again.progress = CallProgress(
          state: .held, due: now, attempts: 1, attemptsBefore: 1, roundStartedAt: Sample.time(60))
        _ = try store.fetch([CallAddress(other.id, in: other.spec.namespace)])
        try store.commit([.update(again.id, again.progress, nil)])
        if Bool.random(using: &random) {
          fail(&again)
          let number = (attempts[again.id] ?? 0) + 1
          attempts[again.id] = number
          try store.commit([.update(again.id, again.progress, Sample.attempt(number))])
        }
        calls[again.id] = again
      case 1:
        try store.commit([.discard(other.id)])
        calls[other.id] = nil
      default: break
      }
    }
    for namespace in [Namespace.default, tenant, try #require(Namespace("nobody"))] {
      let failed = calls.values.filter { $0.spec.namespace == namespace && $0.progress.issue != nil }
      var expected = Dictionary(grouping: failed) { $0.progress.issue }.compactMap { issue, calls in
        issue.flatMap { group($0, calls, at: now) }
      }
      expected.sort { ($1.count, $0.issue.rawValue) < ($0.count, $1.issue.rawValue) }
      let query = FailedQuery(in: namespace, limit: 100, at: now)
      #expect(try reader.failed(query) == expected, "seed \(seed)")
      #expect(try reader.failed(FailedQuery(in: namespace, limit: 2, at: now)) == Array(expected.prefix(2)))
      for group in expected {
        let one = FailedQuery(in: namespace, issue: group.issue, limit: 1, at: now)
        #expect(try reader.failed(one) == [group], "seed \(seed)")
      }
    }
  }

  private func group(_ issue: IssueID, _ calls: [CallRecord], at now: Timestamp) -> FailedCalls? {
    let ends = calls.compactMap(\.progress.finishedAt)
    guard let first = ends.min(), let last = ends.max(), let newest = calls.map(\.id).max() else { return nil }
    var group = FailedCalls(issue: issue, count: calls.count, firstAt: first, lastAt: last, example: newest)
    for end in ends {
      let age = Int((now - end).components.seconds)
      if (1...24 * 3600).contains(age) { group.hours[(24 * 3600 - age) / 3600] += 1 }
    }
    return group
  }
}
