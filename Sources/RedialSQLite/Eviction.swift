internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Which finished calls retention removes next, and what it has removed.
final class Eviction {
  /// Maximum number of calls that a step removes.
  static let batch = 256

  private let finished: FinishedCalls
  private let settings: SettingTable
  private var shown = ShownCalls()

  /// Prepares the queries.
  init(on connection: SQLiteConnection, settings: SettingTable) throws(StoreError) {
    finished = try FinishedCalls(on: connection)
    self.settings = settings
  }

  /// An ended call was loaded, and stays for a while.
  func spare(_ id: CallID, at now: ContinuousClock.Instant) {
    shown.remember(id, at: now)
  }

  /// The calls to remove next, with the time of their end: some of those that ended by a time, earliest first.
  func next(
    endedBy horizon: Timestamp, at now: ContinuousClock.Instant
  ) throws(StoreError) -> [(id: CallID, end: Timestamp)] {
    shown.dropOld(at: now)
    let ended = try finished.ended(by: horizon, limit: Self.batch + shown.count)
    return Array(ended.lazy.filter { !self.shown.contains($0.id) }.prefix(Self.batch))
  }

  /// Records, within a transaction, that calls which ended by a time may be missing: webhooks about them are not
  /// faults.
  func recordGone(by end: Timestamp) throws(StoreError) {
    let known = try settings.value(of: Retention.goneBy).flatMap { Int64($0) }
    if let known, known >= end.microseconds { return }
    try settings.set(Retention.goneBy, to: "\(end.microseconds)")
  }
}
