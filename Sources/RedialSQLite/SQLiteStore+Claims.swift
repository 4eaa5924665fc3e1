internal import RedialStore
package import RedialCore
package import RedialModel

extension SQLiteStore {
  /// Takes the store over from a process that is gone.
  package func recover(at now: Timestamp) throws(StoreError) -> RecoveredState {
    // Emptying the log needs space, of which the reserve may have left too little.
    var state = try file.lending { () throws(StoreError) in try recovered(at: now) }
    state.crash = file.takeCrash()
    return state
  }

  private func recovered(at now: Timestamp) throws(StoreError) -> RecoveredState {
    var corrected: (by: Duration, calls: Int)?
    // The state that it returns counts only the calls that are unfinished after it.
    let state = try claiming(countsDamaged: false) { damaged throws(StoreError) in
      try log.empty(into: calls)
      try calls.releaseAllHeld()
      if let setBack = try time.begin(at: now) { corrected = (setBack.shift, try correct(by: setBack, at: now)) }
      // An interrupted import has given no turns yet.
      try turns.grantFree()
      // They stay running on disk until their interruption is committed: a recovery after a crash in between finds
      // them again.
      let running = try take(try search.allRunning(), at: now, &damaged) { _ in }
      let unfinished = try namespaces.unfinished()
      return RecoveredState(
        running: running, nextDue: try search.due.next(), queued: try search.queueLengths(),
        targets: try targets.records(at: now) { notices.post(.targetDamaged($0, $1)) },
        unfinished: unfinished.reduce(0) { $0 + $1.unfinished },
        namespaces: unfinished,
        lastID: try search.lastID())
    }
    if let corrected { notices.post(.clockSetBack(by: corrected.by, calls: corrected.calls)) }
    return state
  }

  /// Moves the times of calls and targets that are by an earlier clock. Returns how many calls are changed.
  private func correct(by setBack: ClockSetBack, at now: Timestamp) throws(StoreError) -> Int {
    var changed = 0
    for id in try search.unfinished(after: now) {
      guard case .intact(let call) = try calls.read(id),
        let progress = try setBack.corrected(call, lastEnd: { () throws(StoreError) in try calls.lastEnd(of: id) })
      else { continue }
      try calls.update(id, progress)
      changed += 1
    }
    try targets.correct(by: setBack)
    return changed
  }

  /// Loads calls that are due by a time, alternating between namespaces, earliest first.
  package func claimDue(before time: Timestamp, limit: Int) throws(StoreError) -> Claim {
    try claiming { damaged throws(StoreError) in
      let calls = try hold(upTo: limit, at: time, &damaged) { count throws(StoreError) in
        try search.due.due(by: time, limit: count)
      }
      return Claim(calls: calls, nextDue: try search.due.next())
    }
  }

  /// Loads calls from the queue of a target, the most urgent first, then the oldest.
  package func claimQueued(target: TargetKey, limit: Int) throws(StoreError) -> [CallRecord] {
    try claiming { damaged throws(StoreError) in
      guard let targetID = try targets.find(target) else { return [] }
      return try hold(upTo: limit, at: nil, &damaged) { count throws(StoreError) in
        try search.queued(targetID: targetID, limit: count)
      }
    }
  }

  /// Loads some calls, in one transaction: each has an fsync.
  ///
  /// - Returns: Of each the call, or the damage with which it cannot be read. It has then ended, by itself or because it
  ///   was set to `failed`.
  func fetch(_ addresses: [CallAddress]) throws(StoreError) -> [Result<CallRecord?, StoreError>] {
    try claiming { damaged throws(StoreError) in
      try log.fold(addresses.map(\.id), into: calls)
      var found: [Result<CallRecord?, StoreError>] = []
      found.reserveCapacity(addresses.count)
      for address in addresses { found.append(try fetch(address, &damaged)) }
      return found
    }
  }

  private func fetch(
    _ address: CallAddress, _ damaged: inout [DamagedCall]
  ) throws(StoreError) -> Result<CallRecord?, StoreError> {
    let id = address.id
    switch try calls.read(id, namespace: try namespaces.find(address.namespace) ?? -1) {
    case nil: return .success(nil)
    case .damaged(let call):
      if let cause = call.cause { throw cause }
      var error = call.error
      error.damaged = .init(id: id, hasEnded: try end(call, &damaged))
      return .failure(error)
    case .intact(var call):
      guard !call.progress.state.isFinal else {
        // A command for it, such as a retry, follows and must still find it.
        eviction.spare(id, at: .now)
        return .success(call)
      }
      try calls.hold(id)
      call.progress.state = .held
      return .success(call)
    }
  }

  /// Ends a damaged call that was requested. Returns whether it has ended.
  private func end(_ call: DamagedCall, _ damaged: inout [DamagedCall]) throws(StoreError) -> Bool {
    if try calls.hasEnded(call.id) { return true }
    try calls.setAside(call.id, at: nil)
    try turns.pass(call.id)
    damaged.append(call)
    return true
  }

  /// Runs a transaction of a takeover, which begins without a session.
  func recovering<Result>(
    _ body: (inout [DamagedCall]) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try claiming(isFenced: false, body)
  }

  /// Runs a transaction of a claim, and reports damaged calls once it is on disk.
  ///
  /// - Parameter countsDamaged: Whether the engine counts the damaged calls as unfinished until now.
  private func claiming<Result>(
    isFenced: Bool = true, countsDamaged: Bool = true, _ body: (inout [DamagedCall]) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var damaged: [DamagedCall] = []
    let result = try transaction(isFenced: isFenced) { () throws(StoreError) in try body(&damaged) }
    for call in damaged { notices.post(.damaged(call.id, call.error)) }
    if countsDamaged, !damaged.isEmpty {
      var calls: [(id: CallID, namespace: Namespace)] = []
      for call in damaged { calls.append((call.id, try namespaces.namespace(of: call.id))) }
      notices.post(.setAside(calls))
    }
    return result
  }

  /// Holds calls until the limit is reached, or `next` finds no more. A damaged call does not count: fewer calls than
  /// the limit mean that there are no more.
  private func hold(
    upTo limit: Int, at time: Timestamp?, _ damaged: inout [DamagedCall],
    next: (_ count: Int) throws(StoreError) -> [CallID]
  ) throws(StoreError) -> [CallRecord] {
    var calls: [CallRecord] = []
    while calls.count < limit {
      let ids = try next(limit - calls.count)
      if ids.isEmpty { break }
      calls += try take(ids, at: time, &damaged) { id throws(StoreError) in try self.calls.hold(id) }
    }
    return calls
  }

  /// Reads calls to hold, and marks each. A call that cannot be read becomes `failed` instead: left unchanged it would
  /// be claimed again forever, and an error would stop all calls behind it.
  func take(
    _ ids: [CallID], at time: Timestamp?, _ damaged: inout [DamagedCall], mark: (CallID) throws(StoreError) -> Void
  ) throws(StoreError) -> [CallRecord] {
    var calls: [CallRecord] = []
    calls.reserveCapacity(ids.count)
    for id in ids {
      switch try self.calls.read(id) {
      case nil: throw DamagedCall(id: id, reason: "an index names it and the table lacks it").error
      case .damaged(let call):
        if let cause = call.cause { throw cause }
        try self.calls.setAside(id, at: time)
        try turns.pass(id)
        damaged.append(call)
      case .intact(var call):
        try mark(id)
        call.progress.state = .held
        calls.append(call)
      }
    }
    return calls
  }
}
