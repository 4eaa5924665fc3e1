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
  private let rows: CallRows
  /// How far payloads are erased; nil if they never were.
  private(set) var erasedTo: PayloadPlace?

  /// Prepares the queries.
  init(on connection: SQLiteConnection, settings: SettingTable) throws(StoreError) {
    finished = try FinishedCalls(on: connection)
    self.settings = settings
    rows = try CallRows(on: connection, bodies: false)
    erasedTo = try settings.value(of: PayloadPlace.settingName).flatMap { PayloadPlace($0) }
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

  // MARK: Payloads

  /// The calls whose payloads are to be erased next, with the time of their end: some of those that ended by a time, up
  /// to one that stays for a while.
  func nextPayloads(
    endedBy horizon: Timestamp, at now: ContinuousClock.Instant
  ) throws(StoreError) -> [(id: CallID, end: Timestamp)] {
    // Another instance may have gone on, or back.
    erasedTo = try settings.value(of: PayloadPlace.settingName).flatMap { PayloadPlace($0) } ?? .start
    shown.dropOld(at: now)
    let ended = try finished.ended(after: erasedTo ?? .start, by: horizon, limit: Self.batch)
    return Array(ended.prefix { !self.shown.contains($0.id) })
  }

  /// What stays of a call when its payloads are erased; nil if they are, or if it cannot be read.
  func remains(of id: CallID, at now: Timestamp) throws(StoreError) -> CallSpec? {
    guard case .intact(let call)? = try rows.call(id), call.spec.contentErasedAt == nil else { return nil }
    return call.spec.withoutPayloads(at: now)
  }

  /// Records, within a transaction, how far payloads are erased.
  func setErased(to place: PayloadPlace) throws(StoreError) {
    try settings.set(PayloadPlace.settingName, to: place.text)
    erasedTo = place
  }

  /// Goes back, within a transaction, for changes of which one ends a call before the place.
  func notice(_ writes: [StoreWrite]) throws(StoreError) {
    guard let erasedTo, let end = writes.firstEnd, end <= erasedTo.end else { return }
    try setErased(to: PayloadPlace(before: end))
  }
}
