internal import RedialCore
internal import RedialModel

/// Targets as people want to see them: with what their calls wait for, and what came of those before.
extension Engine {
  /// Counts an attempt that the target, and nobody's wish, has ended.
  mutating func tally(
    _ attempt: AttemptRecord, _ decision: RetryDecision, _ cancelledBy: [ReplyToken], of index: Int
  ) {
    guard attempt.outcome != .interrupted, attempt.outcome != .cancelled else { return }
    var (succeeded, ended) = (false, !cancelledBy.isEmpty)
    switch decision.action {
    case .succeed: (succeeded, ended) = (true, true)
    case .stop: ended = true
    case .retry, .park: break
    }
    targets[index].recent.count(attempt.duration, succeeded: succeeded, ended: ended, at: now)
  }

  /// One target.
  func describe(_ index: Int) -> TargetSnapshot {
    describe(targets[index].key).targets.first ?? targets[index].snapshot(at: now)
  }

  /// All targets, or one, with the due calls and those in memory counted by what they wait for. One look at every call
  /// in memory, whose number is bounded.
  func describe(_ key: String?) -> EngineReport {
    let wanted = key.map { targetIndex[$0].map { [$0] } ?? [] } ?? knownTargets
    let standings = targets.indices.map { targets[$0].isForgotten ? TargetStanding() : targets[$0].standing(at: now) }
    var backlogs = Array(repeating: TargetBacklog(), count: targets.count)
    for index in wanted { backlogs[index].add(targets[index].stored, standings[index].waitReason(at: now)) }
    let only = key == nil ? nil : wanted.first
    for call in calls.values where only == nil || call.target == only {
      // Who awaits a turn is counted in the store, where nearly all of them are.
      guard !call.isRunning, call.record.progress.waiting != .ordering,
        let wait = CallView.Wait(of: call.record, for: standings[call.target], at: now)
      else { continue }
      backlogs[call.target].add(1, wait.reason)
    }
    return EngineReport(
      targets: wanted.map { index in
        var snapshot = targets[index].snapshot(at: now)
        snapshot.backlog = backlogs[index]
        return snapshot
      }, inFlight: inFlight, unfinished: max(0, unfinished), held: calls.count,
      storeFailing: trouble != nil || !leases.canWork)
  }
}
