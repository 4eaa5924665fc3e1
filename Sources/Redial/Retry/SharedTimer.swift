internal import Dispatch

/// One timer for the timeouts of all attempts on the machine's clock.
///
/// A `Task.sleep` that is cancelled stays in memory until its time has come, for some 700 bytes each: a million calls of a
/// millisecond with a timeout of half a minute would keep as much as thirty thousand of them take at a time. An entry here is
/// gone when it is removed.
final class SharedTimer: Sendable {
  static let shared = SharedTimer()

  /// What happens when a time is up.
  private struct Alarm {
    let timeLeft: @Sendable () -> Duration
    let action: @Sendable () -> Void
  }

  private struct Entry {
    let at: ContinuousClock.Instant
    let id: UInt64
  }

  private struct State {
    var alarms: [UInt64: Alarm] = [:]
    /// The earliest first, as a binary heap; also entries that were removed.
    var heap: [Entry] = []
    var lastID: UInt64 = 0
    /// When the queue looks next; nil for never.
    var looksAt: ContinuousClock.Instant?

    mutating func add(_ entry: Entry) {
      heap.append(entry)
      var place = heap.count - 1
      while place > 0, heap[place].at < heap[(place - 1) / 2].at {
        heap.swapAt(place, (place - 1) / 2)
        place = (place - 1) / 2
      }
    }

    mutating func removeFirst() {
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
      sink(0)
    }

    private mutating func sink(_ start: Int) {
      var place = start
      while true {
        var least = place
        for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child].at < heap[least].at {
          least = child
        }
        if least == place { return }
        heap.swapAt(place, least)
        place = least
      }
    }

    /// Drops entries that were removed, once they are most of the heap.
    mutating func tidy() {
      guard heap.count > 64, heap.count > 2 * alarms.count else { return }
      heap.removeAll { alarms[$0.id] == nil }
      for place in stride(from: heap.count / 2, through: 0, by: -1) { sink(place) }
    }
  }

  private let state = Guarded(State())
  private let queue = DispatchQueue(label: "redial.timeouts")

  /// Calls an action after a time, on a queue of its own, unless it is removed before.
  ///
  /// - Parameter timeLeft: Asked when the time is up; if it is more than zero, the action is that much later. It is
  ///   called under a lock, so it must only compute.
  func add(
    after time: Duration, unless timeLeft: @escaping @Sendable () -> Duration = { .zero },
    _ action: @escaping @Sendable () -> Void
  ) -> UInt64 {
    let at = ContinuousClock.now + time
    let (id, isFirst) = state.withLock { state in
      state.lastID += 1
      state.alarms[state.lastID] = Alarm(timeLeft: timeLeft, action: action)
      state.add(Entry(at: at, id: state.lastID))
      let isFirst = state.looksAt.map { at < $0 } ?? true
      if isFirst { state.looksAt = at }
      return (state.lastID, isFirst)
    }
    if isFirst { look(at: at) }
    return id
  }

  /// Removes an action; false if it was called, or is about to be.
  func remove(_ id: UInt64) -> Bool {
    state.withLock { state in
      defer { state.tidy() }
      return state.alarms.removeValue(forKey: id) != nil
    }
  }

  private func look(at time: ContinuousClock.Instant) {
    let wait = (time - .now).components
    let nanoseconds = min(max(0, wait.seconds), 86_400) * 1_000_000_000 + wait.attoseconds / 1_000_000_000
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { [self] in fire(lookingFor: time) }
  }

  private func fire(lookingFor time: ContinuousClock.Instant) {
    let (due, next) = state.withLock { state -> ([@Sendable () -> Void], ContinuousClock.Instant?) in
      // An earlier look has taken its place.
      guard state.looksAt == time else { return ([], nil) }
      let now = ContinuousClock.now
      var due: [@Sendable () -> Void] = []
      while let first = state.heap.first, first.at <= now || state.alarms[first.id] == nil {
        state.removeFirst()
        guard let alarm = state.alarms[first.id] else { continue }
        let left = alarm.timeLeft()
        if left > .zero {
          state.add(Entry(at: now + left, id: first.id))
        } else {
          state.alarms[first.id] = nil
          due.append(alarm.action)
        }
      }
      state.looksAt = state.heap.first?.at
      return (due, state.looksAt)
    }
    for action in due { action() }
    if let next { look(at: next) }
  }
}
