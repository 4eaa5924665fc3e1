public import RedialCore
internal import RedialModel

extension SQLiteStore {
  /// Free pages that stay in the file, 4 MiB: new calls use them again, where giving them back and growing again would
  /// write twice.
  static let sparePages = 1024
  /// Calls that a step removes at most.
  static let removalBatch = 256
  /// How long after a claim has answered an ended call it stays, whatever its age: far longer than any operation on it
  /// takes to come back as a change, which must find it.
  static let shownTime = Duration.seconds(60)
  /// The name of the time by which the calls had ended that were removed, in microseconds since 1970.
  static let goneBy = "goneBy"
  /// Pages that are given back between two looks at the clock.
  private static let releaseBatch = 16

  /// Removes some of the calls that are not to be kept, or gives some of the space that such left back to the file
  /// system, in one transaction that takes about the time allowed.
  ///
  /// One of the two is done at a time: space is given back once nothing is left to remove.
  ///
  /// - Parameter budget: After this time no further call or page is begun with. The commit comes on top of it.
  public func tidy(
    _ retention: Retention, at now: Timestamp, within budget: Duration
  ) throws(StoreError) -> TidyStep {
    // Also where nothing is committed, so that an idle service finds out before the next call comes.
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
        // What is over is only the size: no call more than needed is to go before its time.
        if isOver, try usage.usedBytes() <= retention.bytes { break }
      }
      try noteGone(by: calls[calls.startIndex + removed - 1].end)
      return TidyStep(removed: removed, isDone: false)
    }
  }

  /// Notes, within a transaction, that calls which ended by a time may be gone: what tells of them is not at fault.
  func noteGone(by end: Timestamp) throws(StoreError) {
    let known = try settings.value(of: Self.goneBy).flatMap { Int64($0) }
    if let known, known >= end.microseconds { return }
    try settings.set(Self.goneBy, to: "\(end.microseconds)")
  }

  private func releasePages(until end: ContinuousClock.Instant) throws(StoreError) -> TidyStep {
    // A file that an older version made gives nothing back (see docs/operating.md): its pages are used again only.
    guard canRelease else { return TidyStep() }
    let free = try usage.free()
    // Where room is short, none is spared.
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
    if step.isDone { checkpoints.moveAll() }
    return step
  }
}
