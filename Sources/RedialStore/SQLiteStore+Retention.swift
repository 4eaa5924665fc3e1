public import RedialCore
internal import RedialModel

extension SQLiteStore {
  /// Free pages that stay in the file, 4 MiB: new calls reuse them; returning them and growing again would write twice.
  static let sparePages = 1024
  /// Maximum number of calls that a step removes.
  static let removalBatch = 256
  /// How long an ended call stays after a claim has returned it, whatever its age: far longer than a command for it
  /// takes to become a change, which must find it.
  static let shownTime = Duration.seconds(60)
  /// The name of the setting with the time by which the removed calls had ended, in microseconds since 1970.
  static let goneBy = "goneBy"
  /// Pages that are returned between two checks of the clock.
  private static let releaseBatch = 16

  /// Removes some of the expired calls, or returns some of the free space to the file system, in one transaction that
  /// takes about the allowed time.
  ///
  /// It does one of the two: space is returned once nothing is left to remove.
  ///
  /// - Parameter budget: After this time it begins with no further call or page. The commit takes additional time.
  public func tidy(
    _ retention: Retention, at now: Timestamp, within budget: Duration
  ) throws(StoreError) -> TidyStep {
    // Also without a commit, so that an idle service notices before the next call.
    try checkPlace()
    let end = ContinuousClock.now + budget
    let usedBytes = try usage.usedBytes()
    let isOver = usedBytes > retention.bytes
    if !shown.isEmpty { shown = shown.filter { end < $0.value + Self.shownTime } }
    let limit = Self.removalBatch + shown.count
    let calls = try finished.ended(by: retention.horizon(at: now, bytes: usedBytes), limit: limit)
      .filter { shown[$0.id] == nil }.prefix(Self.removalBatch)
    if calls.isEmpty {
      let step = try releasePages(until: end)
      if step.isDone { takeReserve() }
      return step
    }
    return try transaction { () throws(StoreError) in
      var removed = 0
      for call in calls {
        try remove(call.id)
        removed += 1
        if ContinuousClock.now >= end { break }
        // Only the size is over the limit: no more calls than needed are removed early.
        if isOver, try usage.usedBytes() <= retention.bytes { break }
      }
      try noteGone(by: calls[calls.startIndex + removed - 1].end)
      return TidyStep(removed: removed, isDone: false)
    }
  }

  /// Records, within a transaction, that calls which ended by a time may be missing: webhooks about them are not
  /// faults.
  func noteGone(by end: Timestamp) throws(StoreError) {
    let known = try settings.value(of: Self.goneBy).flatMap { Int64($0) }
    if let known, known >= end.microseconds { return }
    try settings.set(Self.goneBy, to: "\(end.microseconds)")
  }

  private func releasePages(until end: ContinuousClock.Instant) throws(StoreError) -> TidyStep {
    // A file of an older version returns nothing (see docs/operating.md): its pages are only reused.
    guard canRelease else { return TidyStep() }
    let free = try usage.free()
    // If space is short, no free pages are kept.
    let spare = isShortOfRoom ? 0 : Self.sparePages
    guard free > spare else { return TidyStep() }
    let step = try transaction { () throws(StoreError) in
      var released = 0
      while released < free - spare, ContinuousClock.now < end {
        let batch = min(Self.releaseBatch, free - spare - released)
        try connection.execute("give space back", "PRAGMA incremental_vacuum(\(batch))")
        released += batch
      }
      return TidyStep(releasedPages: released, isDone: released >= free - spare)
    }
    if step.isDone {
      checkpoints.moveAll()
      heedCheckpoints()
    }
    return step
  }
}
