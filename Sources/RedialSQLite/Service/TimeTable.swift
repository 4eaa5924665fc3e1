internal import RedialCore
internal import RedialStore
internal import RedialModel

/// The service's time in the settings, by which the next process sees whether the clock was set back.
final class TimeTable {
  private let settings: SettingTable
  /// The time of now, which may be newer than the stored one; nil before the first.
  private var time: ServiceTime?
  /// The stored one; nil if that is not known.
  private var stored: ServiceTime?

  init(settings: SettingTable) {
    self.settings = settings
  }

  /// A process takes over. Returns what happened to the clock since the one before.
  func begin(at now: Timestamp) throws(StoreError) -> ClockSetBack? {
    let before = try settings.value(of: ServiceTime.setting).flatMap(ServiceTime.init)
    time = ServiceTime(startingAt: now)
    try write()
    return before.flatMap { ClockSetBack(from: $0.seen, to: now) }
  }

  /// Whether the time is to be stored, since it is long ago or time has jumped.
  func isDue(at now: Timestamp) -> Bool {
    guard var new = time else { return false }
    new.advance(to: now, last: new.seen)
    time = new
    return stored.map { $0.since != new.since || new.seen - $0.seen >= ServiceTime.grain } ?? true
  }

  /// Stores the time, within a transaction.
  func write() throws(StoreError) {
    guard let time else { return }
    try settings.set(ServiceTime.setting, to: time.text)
    stored = time
  }

  /// The process ends.
  func end(at now: Timestamp) throws(StoreError) {
    _ = isDue(at: now)
    try write()
  }

  /// A transaction was rolled back, perhaps with the time.
  func forget() {
    stored = nil
  }
}
