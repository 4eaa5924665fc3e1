package import RedialStore
package import RedialCore
package import RedialModel

extension SQLiteStore {
  /// Removes some of the expired calls, or returns some of the free space to the file system, in one transaction that
  /// takes about the allowed time.
  ///
  /// It does one of the two: space is returned once nothing is left to remove.
  ///
  /// - Parameter budget: After this time it begins with no further call or page. The commit takes additional time.
  package func tidy(
    _ retention: Retention, at now: Timestamp, within budget: Duration
  ) throws(StoreError) -> TidyStep {
    // Also without a commit, so that an idle service notices before the next call.
    try file.checkPlace()
    try foldIfIdle()
    // What is to be removed waits until all is sealed by new keys.
    if try rekeyIfWanted() { return TidyStep(removed: 0, isDone: false) }
    if time.isDue(at: now), !isShortOfRoom { try transaction { () throws(StoreError) in try time.write() } }
    let end = ContinuousClock.now + budget
    let usedBytes = try pages.usedBytes()
    let isOver = usedBytes > retention.bytes
    let horizon = retention.horizon(at: now, bytes: usedBytes)
    let due = log.ended(by: horizon)
    if !due.isEmpty { try transaction { () throws(StoreError) in try log.fold(due, into: calls) } }
    let ended = try eviction.next(endedBy: horizon, at: end)
    if ended.isEmpty {
      if let step = try erasePayloads(retention, at: now, until: end) { return step }
      let step = try releasePages(until: end)
      if step.isDone { file.takeReserve() }
      return step
    }
    return try transaction { () throws(StoreError) in
      var removed = 0
      for call in ended {
        try calls.remove(call.id)
        removed += 1
        if ContinuousClock.now >= end { break }
        // Only the size is over the limit: no more calls than needed are removed early.
        if isOver, try pages.usedBytes() <= retention.bytes { break }
      }
      try eviction.recordGone(by: ended[removed - 1].end)
      if log.mayHave(endedBy: ended[removed - 1].end, at: now) { try log.empty(into: calls, at: now) }
      return TidyStep(removed: removed, isDone: false)
    }
  }

  /// Erases the payloads of some of the calls that ended long enough ago, in one transaction; nil if there are none.
  private func erasePayloads(
    _ retention: Retention, at now: Timestamp, until deadline: ContinuousClock.Instant
  ) throws(StoreError) -> TidyStep? {
    guard let horizon = retention.payloadHorizon(at: now) else { return nil }
    let due = log.ended(by: horizon)
    if !due.isEmpty { try transaction { () throws(StoreError) in try log.fold(due, into: calls) } }
    let ended = try eviction.nextPayloads(endedBy: horizon, at: deadline)
    if ended.isEmpty { return nil }
    return try transaction { () throws(StoreError) in
      var step = TidyStep(isDone: false)
      for (id, end) in ended {
        if let spec = try eviction.remains(of: id, at: now) {
          try calls.erase(id, leaving: spec)
          step.erased.append(.erase(id, spec))
        }
        try eviction.setErased(to: PayloadPlace(end: end, id: id))
        if log.mayHave(endedBy: end, at: now) { try log.empty(into: calls, at: now) }
        if ContinuousClock.now >= deadline { break }
      }
      return step
    }
  }

  /// Writes the log to the tables if nothing was written to it since the last step, so that programs which read the
  /// file find the calls there.
  private func foldIfIdle() throws(StoreError) {
    guard log.isIdle() else { return }
    try transaction { () throws(StoreError) in try log.empty(into: calls) }
  }

  /// Writes the log to the tables.
  func fold() throws(StoreError) {
    try transaction { () throws(StoreError) in try log.foldAll(into: calls) }
  }

  private func releasePages(until end: ContinuousClock.Instant) throws(StoreError) -> TidyStep {
    let excess = try pages.excess(isShort: isShortOfRoom)
    guard excess > 0 else { return TidyStep() }
    let step = try transaction { () throws(StoreError) in try pages.release(excess, until: end) }
    if step.isDone { file.moveLog() }
    return step
  }
}
