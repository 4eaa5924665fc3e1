internal import RedialCore
internal import RedialForecast
internal import RedialModel
internal import RedialStore

/// Some of the waiting calls of a target, spread over their ages.
struct BacklogSample: Sendable {
  /// Due calls, the oldest first.
  private(set) var due: [LiveLoad.Waiting] = []
  /// Calls that are due later, the earliest first.
  private(set) var later: [LiveLoad.Waiting] = []
  /// The policy of the newest call; nil without calls.
  private(set) var newest: RetryPolicy?
  /// Whether it has all of them.
  private(set) var isComplete = true

  /// How many calls there are.
  var count: Int { due.count + later.count }

  /// Calls up to this number are all read.
  private static let small = 500
  /// Times at which a larger backlog is looked at, and calls that are read at each.
  private static let slices = 20
  private static let perSlice = 25

  /// Reads calls that wait for a target.
  init(of target: TargetKey, from reader: any CallReader, at now: Timestamp) throws(StoreError) {
    let page = try Self.calls(of: target, before: nil, limit: Self.small, from: reader)
    var records = page.calls
    if page.next != nil, let last = records.last {
      isComplete = false
      let oldest = try Self.oldest(of: target, before: last.createdAt, from: reader, at: now)
      records = []
      for slice in 0...Self.slices {
        let time = oldest + (now - oldest) * slice / Self.slices + .milliseconds(1)
        records += try Self.calls(of: target, before: time, limit: Self.perSlice, from: reader).calls
      }
    }
    var seen: Set<CallID> = []
    records = records.filter { seen.insert($0.id).inserted }.sorted { $0.id < $1.id }
    newest = records.last?.spec.policy
    for record in records where record.progress.waiting != .ordering {
      let progress = record.progress
      let waiting = LiveLoad.Waiting(
        due: max(now, progress.due), attempts: progress.chargedAttempts, startedAt: progress.roundStartedAt,
        waits: progress.waits, policy: record.spec.policy)
      if progress.state == .queued || progress.due <= now { due.append(waiting) } else { later.append(waiting) }
    }
    later.sort { $0.due < $1.due }
  }

  /// When about the oldest call was accepted: looks twice as far back until there are none.
  private static func oldest(
    of target: TargetKey, before known: Timestamp, from reader: any CallReader, at now: Timestamp
  ) throws(StoreError) -> Timestamp {
    var oldest = known
    var age = max(Duration.seconds(1), now - known)
    for _ in 0..<30 {
      age = age * 2
      let time = Timestamp(microseconds: now.microseconds - age.wholeMicroseconds)
      guard let found = try calls(of: target, before: time, limit: 1, from: reader).calls.first else {
        // Between this time and the oldest that is known; that is near enough.
        return try calls(of: target, before: oldest, limit: perSlice, from: reader).calls.last?.createdAt ?? oldest
      }
      oldest = found.createdAt
    }
    return oldest
  }

  private static func calls(
    of target: TargetKey, before time: Timestamp?, limit: Int, from reader: any CallReader
  ) throws(StoreError) -> (calls: [CallRecord], next: CallID?) {
    var filter = CallFilter(kind: target.isOfWebhooks ? .webhook : .call, state: .scheduled)
    filter.namespace = target.namespace
    filter.target = target.bare
    filter.createdBefore = time
    let page = try reader.calls(CallQuery(filter, limit: limit))
    return (page.calls.map(\.record), page.next)
  }
}
