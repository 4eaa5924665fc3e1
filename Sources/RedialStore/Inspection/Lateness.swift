package import RedialCore
package import RedialModel
internal import RedialText

/// What is late in a store.
package struct LateCalls: Sendable {
  /// Calls that are overdue or stuck.
  package var findings: [StoreFinding]
  /// Due calls that the store shows as ones in an engine's memory, without an attempt in flight; not all if there are very
  /// many.
  package var held: [HeldCall]

  /// Creates a result.
  package init(findings: [StoreFinding] = [], held: [HeldCall] = []) {
    self.findings = findings
    self.held = held
  }
}

/// What is late in a store of a running service.
package struct Lateness: Sendable {
  /// How late something may be before it is a finding: a service that starts with a full store needs some time.
  package static let grace = Duration.seconds(60)
  /// Maximum number of findings that are counted; more are as bad.
  package static let most = 10_000

  /// What was to happen before this time is late.
  package let limit: Timestamp

  /// What fell due while no service worked is not late before the service had the time for it.
  ///
  /// - Parameters:
  ///   - now: The time now; it counts if the store remembers none of the service.
  ///   - time: What the store remembers of the service's time.
  package init(at now: Timestamp, by time: ServiceTime? = nil) {
    let now = time.map { $0.seen - $0.since < Self.grace ? .epoch : $0.seen } ?? now
    limit = Timestamp(microseconds: now.microseconds &- Self.grace.wholeMicroseconds)
  }

  /// What is late.
  ///
  /// - Parameters:
  ///   - overdue: The calls in no engine's memory that were due before the limit.
  ///   - inMemory: The calls in an engine's memory that were due before the limit.
  package func calls(overdue ids: [CallID], inMemory calls: [CallRecord]) -> LateCalls {
    LateCalls(
      findings: [overdue(ids), stuck(calls)],
      held: calls.compactMap { $0.progress.state == .held ? HeldCall($0.id, at: $0.spec.target) : nil })
  }

  private func overdue(_ ids: [CallID]) -> StoreFinding {
    var finding = StoreFinding(check: .overdue)
    for id in ids { finding.add("\(id)") }
    return finding
  }

  /// Those of some calls in memory whose attempt or deadline should have ended before the limit.
  private func stuck(_ calls: some Sequence<CallRecord>) -> StoreFinding {
    var finding = StoreFinding(check: .stuck)
    for call in calls {
      let isRunning = call.progress.state == .running
      let end = isRunning ? call.progress.due + call.spec.policy.attemptTimeout : max(call.deadline, call.progress.due)
      let since = TimestampText.format(call.progress.due)
      if end < limit { finding.add("\(call.id) is \(isRunning ? "running" : "in memory") since \(since)") }
    }
    return finding
  }
}
