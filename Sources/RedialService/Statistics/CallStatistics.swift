internal import Dispatch
internal import Glibc
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// The results of calls and attempts over time and across restarts.
///
/// The engine counts results, which costs a few additions per call. The counts are collected every ``interval``, and on
/// each request, and added to a small table of the store. After a crash the counts of at most one interval are lost: no
/// call depends on them.
final class CallStatistics: Sendable {
  /// How often the counts are collected and written.
  static let interval = Duration.seconds(10)
  /// The maximum number of minutes, of all namespaces, that wait while the store cannot be written; beyond it, counts
  /// are lost.
  private static let mostWaiting = 10_000

  private struct Slot: Hashable {
    var namespace: Namespace
    var minute: Timestamp
  }

  private struct State {
    /// Collected, and not being written.
    var gathered: [Slot: CallTally] = [:]
    /// Being written.
    var writing: [Slot: CallTally] = [:]
    /// How many writes were made.
    var commits = 0
    var lastGathered: Timestamp?
    var isStopped = false
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "redial.statistics")

  // MARK: Gathering

  /// Calls a closure at the end of every interval, until it is stopped.
  func start(_ gather: @escaping @Sendable () -> Void) {
    let length = Self.interval.wholeMicroseconds
    // With the wall clock, so that an interval lies within a minute.
    let pause = length - Clock.wallTime().microseconds % length
    queue.asyncAfter(deadline: .now() + .microseconds(Int(pause))) { [weak self] in
      guard let self, !state.withLock({ $0.isStopped }) else { return }
      gather()
      start(gather)
    }
  }

  func stop() {
    state.withLock { $0.isStopped = true }
  }

  /// Takes the engine's counts since the last time.
  func add(_ tallies: [NamespaceTally], at now: Timestamp) {
    state.withLock { state in
      // These were counted between the last time and now.
      let earliest = Timestamp(microseconds: now.microseconds - Self.interval.wholeMicroseconds)
      let since = min(now, max(earliest, state.lastGathered ?? earliest))
      let middle = Timestamp(microseconds: since.microseconds + (now.microseconds - since.microseconds) / 2)
      state.lastGathered = now
      let minute = StatisticsStep.minute.start(of: middle)
      for counted in tallies {
        let slot = Slot(namespace: counted.namespace, minute: minute)
        guard state.gathered[slot] != nil || state.gathered.count < Self.mostWaiting else { continue }
        state.gathered[slot, default: CallTally()].add(counted.tally)
        state.gathered[slot, default: CallTally()].countBacklog(counted.backlog, for: now - since)
      }
    }
  }

  // MARK: Writing

  /// Whether anything waits to be written.
  var hasGathered: Bool { state.withLock { !$0.gathered.isEmpty } }

  /// The counts to write now; nil if there are none.
  func beginWriting() -> StoreWrite? {
    state.withLock { state in
      guard !state.gathered.isEmpty else { return nil }
      state.writing = state.gathered
      state.gathered = [:]
      return .tallied(
        state.writing.map { MinuteTally(namespace: $0.key.namespace, minute: $0.key.minute, tally: $0.value) })
    }
  }

  /// They are on disk, or could not be written and are kept for the next time.
  func endWriting(isWritten: Bool) {
    state.withLock { state in
      if isWritten {
        state.commits += 1
      } else {
        for (slot, tally) in state.writing { state.gathered[slot, default: CallTally()].add(tally) }
      }
      state.writing = [:]
    }
  }

  // MARK: Reading

  /// The windows of a namespace, including counts that are not written yet. Blocks while the store is read.
  func windows(of namespace: Namespace, at now: Timestamp, from reader: any CallReader) throws -> [StatisticsWindow] {
    var windows = StatisticsWindow.Length.allCases.map { StatisticsWindow($0, at: now) }
    // Counts that are being written may or may not be in the store yet: then it is read again.
    for attempt in 0..<Self.mostReadings {
      let before = state.withLock { ($0.commits, $0.writing.isEmpty, $0.gathered) }
      if before.1 || attempt == Self.mostReadings - 1 {
        for index in windows.indices { try windows[index].read(of: namespace, from: reader) }
        let isSame = state.withLock { $0.commits == before.0 && $0.writing.isEmpty }
        if isSame || attempt == Self.mostReadings - 1 {
          for (slot, tally) in before.2 where slot.namespace == namespace {
            for index in windows.indices { windows[index].add(tally, at: slot.minute) }
          }
          break
        }
      }
      usleep(Self.readingPause)
    }
    return windows
  }

  private static let mostReadings = 20
  private static let readingPause: UInt32 = 2000
}
