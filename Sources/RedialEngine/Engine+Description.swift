internal import RedialCore
package import RedialModel

/// Targets as people see them: with the reasons for which their calls wait, and the results of earlier attempts.
extension Engine {
  /// Counts an attempt that the target has ended, not a client or Redial.
  mutating func tally(
    _ attempt: AttemptRecord, _ decision: RetryDecision, _ cancelledBy: [ReplyToken<CallCommand.Reply>],
    _ kind: CallKind, of index: Int
  ) {
    guard attempt.outcome != .interrupted, attempt.outcome != .cancelled else { return }
    var (succeeded, ended) = (false, !cancelledBy.isEmpty)
    switch decision.action {
    case .succeed: (succeeded, ended) = (true, true)
    case .stop: ended = true
    case .retry, .park: break
    }
    roster.countAttempt(
      attempt.duration, succeeded: succeeded, ended: ended, isClients: kind == .call, of: index, at: now)
  }

  func describe(_ index: Int) -> TargetSnapshot {
    describe([index]).first ?? roster.targets[index].snapshot(at: now)
  }

  /// One target; nil if it is not known.
  ///
  /// - Parameter hasCalls: Whether the store has calls to it, which makes it known.
  package mutating func describe(_ key: TargetKey, hasCalls: Bool = false) -> TargetSnapshot? {
    if hasCalls, owns(key) { _ = target(key) }
    return roster.place(of: key).map { describe($0) }
  }

  /// The current state.
  package func report() -> EngineReport {
    var oldest = oldestDue()
    return EngineReport(
      targets: roster.places.map { place in
        var snapshot = roster.targets[place].snapshot(at: now)
        snapshot.oldestDueAt = oldestDue(of: place, oldest.removeValue(forKey: place))
        return snapshot
      }, inFlight: roster.occupancy.inFlight, unfinished: max(0, roster.unfinished), held: calls.count,
      durations: roster.durations, storeFailing: desk.isFailing)
  }

  /// Since when the oldest due call in memory of each target is due, by place.
  private func oldestDue() -> [Int: Timestamp] {
    var oldest: [Int: Timestamp] = [:]
    for call in calls.values where call.isReady { oldest[call.target] = older(oldest[call.target], call) }
    return oldest
  }

  /// The earlier of a time, if there is one, and since when a call is due.
  private func older(_ known: Timestamp?, _ call: ActiveCall) -> Timestamp {
    let due = call.record.progress.dueSince(at: now)
    return min(due, known ?? due)
  }

  /// Since when the oldest due call of a target is due: memory has the oldest. If it has none yet, such as after a restart
  /// during an outage, those in the store have waited at least since then.
  private func oldestDue(of place: Int, _ known: Timestamp?) -> Timestamp? {
    known ?? (roster.targets[place].stored.count > 0 ? roster.targets[place].holds.start : nil)
  }

  /// Why new calls are not accepted; nil while they are.
  package var unreadiness: Refusal? { desk.isFailing || desk.lacksKey ? desk.refusal : nil }

  /// The counts of each namespace since the last request for them.
  package mutating func takeTallies() -> [NamespaceTally] { roster.takeTallies() }

  /// A page of the targets of a namespace, by key.
  ///
  /// - Complexity: O(*n*) in all targets; at most a page of them is in memory at a time.
  package func describe(_ query: TargetQuery) -> TargetPage {
    guard let place = roster.knownPlace(of: query.namespace) else { return TargetPage(targets: []) }
    let limit = max(1, query.limit)
    // The smallest keys, one more than fits on a page, to see whether there is another page.
    var page: [Int] = []
    page.reserveCapacity(limit + 2)
    for index in roster.targets.indices
    where roster.targets[index].namespace == place && !roster.targets[index].isForgotten {
      let key = roster.targets[index].key
      if let after = query.after, key <= after { continue }
      if page.count > limit, let last = page.last, roster.targets[last].key < key { continue }
      if query.isActive, !roster.targets[index].isActive(at: now) { continue }
      var (low, high) = (0, page.count)
      while low < high {
        let middle = (low + high) / 2
        if roster.targets[page[middle]].key < key { low = middle + 1 } else { high = middle }
      }
      page.insert(index, at: low)
      if page.count > limit + 1 { page.removeLast() }
    }
    let isMore = page.count > limit
    let targets = describe(Array(page.prefix(limit)))
    return TargetPage(targets: targets, next: isMore ? targets.last?.key : nil)
  }

  /// The targets of some namespaces that may have issues, up to a limit: those that are down, held or fail, and those whose
  /// calls wait.
  ///
  /// - Complexity: O(*n*) in all targets.
  package func troubled(in namespaces: Set<Namespace>, limit: Int = .max) -> [TargetSnapshot] {
    let places = Set(namespaces.compactMap { roster.knownPlace(of: $0) })
    guard !places.isEmpty else { return [] }
    var wanted: [Int] = []
    // In place: a target is too large to be copied for a look.
    for index in roster.targets.indices
    where places.contains(roster.targets[index].namespace) && !roster.targets[index].isForgotten
      && roster.targets[index].isTroubled(at: now)
    {
      guard wanted.count < limit else { break }
      wanted.append(index)
    }
    return describe(wanted)
  }

  /// Some targets, with their due calls and their calls in memory counted by the reason why they wait. It examines
  /// only these targets, and calls in memory until all of theirs are found.
  private func describe(_ wanted: [Int]) -> [TargetSnapshot] {
    var places = [Int: Int](minimumCapacity: wanted.count)
    var backlogs = Array(repeating: TargetBacklog(), count: wanted.count)
    var oldest = [Timestamp?](repeating: nil, count: wanted.count)
    let standings = wanted.map { roster.targets[$0].standing(at: now) }
    var left = 0
    for (place, index) in wanted.enumerated() {
      places[index] = place
      left += roster.targets[index].occupancy.held
      backlogs[place].add(roster.targets[index].stored.count, standings[place].waitReason(at: now))
    }
    if left > 0 {
      for call in calls.values {
        guard let place = places[call.target] else { continue }
        left -= 1
        if call.isReady { oldest[place] = older(oldest[place], call) }
        // Calls that wait for a turn are counted in the store, where nearly all of them are.
        if !call.isRunning, call.record.progress.waiting != .ordering,
          let wait = CallView.Wait(of: call.record, for: standings[place], at: now)
        {
          backlogs[place].add(1, wait.reason)
        }
        if left == 0 { break }
      }
    }
    return wanted.enumerated().map { place, index in
      var snapshot = roster.targets[index].snapshot(at: now)
      snapshot.backlog = backlogs[place]
      snapshot.oldestDueAt = oldestDue(of: index, oldest[place])
      return snapshot
    }
  }
}
