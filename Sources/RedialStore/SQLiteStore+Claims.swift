public import RedialCore
public import RedialModel

extension SQLiteStore {
  /// Takes the store over from a process that is gone.
  public func recover(at now: Timestamp) throws(StoreError) -> RecoveredState {
    // The state that it returns counts only the calls that are unfinished after it.
    try claiming(countsDamaged: false) { damaged throws(StoreError) in
      try changes.releaseAllHeld()
      // An interrupted import has given no turns yet.
      try turns.grantFree()
      // They stay running on disk until their interruption is committed: a recovery after a crash in between finds
      // them again.
      let running = try take(try queries.allRunning(), at: now, &damaged) { _ in }
      let unfinished = try namespaces.unfinished()
      return RecoveredState(
        running: running, nextDue: try queries.due.next(), queued: try queries.queueLengths(),
        breakers: try targets.breakers(), controls: try targets.controls(),
        unfinished: unfinished.reduce(0) { $0 + $1.unfinished }, namespaces: unfinished,
        lastID: try queries.lastID())
    }
  }

  /// Loads calls that are due by a time, alternating between namespaces, earliest first.
  public func claimDue(before time: Timestamp, limit: Int) throws(StoreError) -> Claim {
    try claiming { damaged throws(StoreError) in
      let (due, owner) = (shardQueries?.due ?? queries.due, shardQueries == nil ? nil : session?.id)
      let calls = try hold(upTo: limit, at: time, &damaged) { count throws(StoreError) in
        try due.due(by: time, limit: count, of: owner)
      }
      return Claim(calls: calls, nextDue: try due.next(of: owner))
    }
  }

  /// Loads calls from the queue of a target, the most urgent first, then the oldest.
  public func claimQueued(target: TargetKey, limit: Int) throws(StoreError) -> [CallRecord] {
    try claiming { damaged throws(StoreError) in
      guard try isOwn(target), let targetID = try targets.find(target) else { return [] }
      return try hold(upTo: limit, at: nil, &damaged) { count throws(StoreError) in
        try queries.queued(targetID: targetID, limit: count)
      }
    }
  }

  /// Loads one call, unless it has ended.
  ///
  /// - Throws: `corrupt`, with the damage, if it cannot be read. It has then ended, by itself or because it was set
  ///   to `failed`. In a shared store it stays unchanged until its owner finds it, because nobody can tell whose it
  ///   is.
  public func claim(_ id: CallID, in namespace: Namespace) throws(StoreError) -> CallRecord? {
    let found = try claiming { damaged throws(StoreError) -> Result<CallRecord?, StoreError> in
      switch try read(id, namespace: try namespaces.find(namespace) ?? -1) {
      case nil: return .success(nil)
      case .damaged(let call):
        var error = call.error
        error.damaged = .init(id: id, hasEnded: try end(call, &damaged))
        return .failure(error)
      case .intact(var call):
        guard try isOwn(call.spec.target) else { return .success(call) }
        guard !call.progress.state.isFinal else {
          // A command for it, such as a retry, follows and must still find it.
          shown[id] = ContinuousClock.now
          return .success(call)
        }
        try changes.hold(id)
        call.progress.state = .held
        return .success(call)
      }
    }
    return try found.get()
  }

  /// Ends a damaged call that was requested. Returns whether it has ended.
  private func end(_ call: DamagedCall, _ damaged: inout [DamagedCall]) throws(StoreError) -> Bool {
    if try changes.hasEnded(call.id) { return true }
    guard sharing == .alone else { return false }
    try changes.setAside(call.id, at: nil)
    try turns.pass(call.id)
    damaged.append(call)
    return true
  }

  /// Whether a target is in a shard of this store's owner.
  func isOwn(_ target: TargetKey) throws(StoreError) -> Bool {
    guard sharing == .shared, let session else { return true }
    return try sessions.shards(of: session.id).contains(target: target)
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
      calls += try take(ids, at: time, &damaged) { id throws(StoreError) in try changes.hold(id) }
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
      switch try read(id) {
      case nil: throw DamagedCall(id: id, reason: "an index names it and the table lacks it").error
      case .damaged(let call):
        try changes.setAside(id, at: time)
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
