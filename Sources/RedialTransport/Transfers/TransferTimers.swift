internal import RedialCore

/// Times at which transfers are checked, the earliest first.
struct TransferTimers {
  /// One use of a transfer. The transfer may have ended, or serve another request, when the time comes.
  struct Entry {
    var transfer: Transfer
    var generation: UInt64
  }

  private struct Timer {
    var entry: Entry
    var at: ContinuousClock.Instant
  }

  /// A binary heap: no entry is due before its parent.
  private var heap: [Timer] = []

  /// Adds an entry that is due after a duration.
  mutating func add(_ entry: Entry, after bound: Duration) {
    var place = heap.count
    heap.append(Timer(entry: entry, at: ContinuousClock.now + bound))
    while place > 0, heap[place].at < heap[(place - 1) / 2].at {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  /// Removes and returns the next entry that is due.
  mutating func popExpired() -> Entry? {
    guard let first = heap.first, first.at <= ContinuousClock.now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var place = 0
    while true {
      var earliest = place
      for child in 2 * place + 1...2 * place + 2 where child < heap.count && heap[child].at < heap[earliest].at {
        earliest = child
      }
      guard earliest != place else { return first.entry }
      heap.swapAt(place, earliest)
      place = earliest
    }
  }

  /// How long the thread may sleep, in milliseconds.
  func sleep(atMost longest: Int32) -> Int32 {
    guard let first = heap.first else { return longest }
    let left = (first.at - ContinuousClock.now).wholeMicroseconds
    return Int32(clamping: min(Int64(longest), max(0, left / 1000 + 1)))
  }
}
