internal import RedialCore
internal import RedialModel

/// Calls with an attempt in flight when a process died: one of them may have ended it, so they run one at a time.
///
/// All others run beside them. If a suspect takes long, the next one begins before it has ended, so that slow targets do
/// not hold up suspects of others: all that wait begin within ``EngineSettings/suspectsWithin``. A death then proves
/// nothing, and after it each of them gets more time alone.
struct Suspects: Sendable {
  /// A suspect that waits; void if the call's stamp has changed.
  private struct Waiting: Sendable {
    var id: CallID
    var stamp: UInt32
  }

  private let within: Duration
  private var line = Queue<Waiting>()
  /// The most that waited since the last time that there was none.
  private var longest = 0
  private var inFlight: [CallID] = []
  /// The last one that has begun, if it has not ended.
  private var last: (id: CallID, begun: Timestamp)?
  /// The most interruptions of any of them.
  private var interruptions = 0
  /// Before this time none begins.
  private var settledAt = Timestamp.epoch
  /// Attempts that this process itself has ended, because it lost its lease: its number, by call. Another process may
  /// take them for those of one that died.
  private var survived: [CallID: Int] = [:]

  /// - Parameter within: How soon all that wait have begun, however long they take.
  init(within: Duration) {
    self.within = within
  }

  /// Drops all of them, because the lease is lost.
  ///
  /// - Parameter cutOff: The attempts in flight, which this process ends itself.
  mutating func startOver(cutOff: [CallID: Int]) {
    self = Suspects(within: within)
    survived = cutOff
  }

  /// Calls are taken over; none that is suspect begins before this time.
  mutating func settle(until time: Timestamp) { settledAt = max(settledAt, time) }

  /// Whether the process that made an attempt was this one, which lives.
  func hasSurvived(_ call: CallRecord) -> Bool { survived[call.id] == call.progress.attempts }

  /// Whether a call has to wait, because it is suspect and another such call has just begun.
  func mustWait(_ progress: CallProgress, at now: Timestamp) -> Bool { progress.isSuspect && now < freeAt }

  /// A suspect waits for its turn.
  mutating func wait(_ id: CallID, _ progress: CallProgress, stamp: UInt32) {
    interruptions = max(interruptions, progress.cutOffAttempts)
    line.append(Waiting(id: id, stamp: stamp))
    longest = max(longest, line.count)
  }

  /// Takes out the next that may begin; nil if there is none, or none may.
  mutating func next(in calls: CallTable, at now: Timestamp) -> CallID? {
    guard !line.isEmpty, now >= freeAt else { return nil }
    while let first = line.popFirst() {
      if calls.stamp(of: first.id) == first.stamp { return first.id }
    }
    return nil
  }

  /// A suspect begins. Returns those that are still in flight beside it.
  mutating func begin(_ id: CallID, _ progress: CallProgress, at now: Timestamp) -> [CallID] {
    defer { inFlight.append(id) }
    interruptions = max(interruptions, progress.cutOffAttempts)
    last = (id, now)
    return inFlight
  }

  /// The attempt of a call has ended, or was undone.
  mutating func end(_ id: CallID) {
    guard let place = inFlight.firstIndex(of: id) else { return }
    inFlight.remove(at: place)
    // Not as soon as none waits: the last one may have to wait again.
    if inFlight.isEmpty, line.isEmpty { longest = 0 }
    if last?.id == id { last = nil }
  }

  /// When to look for the next one; nil if none waits, or one could begin now.
  func wake(at now: Timestamp) -> Timestamp? {
    line.isEmpty || freeAt <= now ? nil : freeAt
  }

  /// When the next one may begin, if the last one has not ended before.
  private var freeAt: Timestamp {
    guard let last else { return settledAt }
    // A death that proved nothing gives each of them four times as long.
    let times = Int64(1) << (2 * min(Self.mostExtensions, max(0, interruptions - 1)))
    return max(settledAt, last.begun + .microseconds(within.wholeMicroseconds * times / Int64(longest + 1)))
  }

  private static let mostExtensions = 10
}
