internal import RedialCore

/// When transfers must have begun to be answered. The bound is the same for all, so that a queue keeps them in order.
struct FirstByteTimers {
  /// A use of a handle.
  struct Entry {
    var transfer: Transfer
    var generation: UInt64
  }

  private var entries: [(entry: Entry, at: ContinuousClock.Instant)] = []
  private var head = 0

  /// Notes a transfer that begins now.
  mutating func add(_ entry: Entry, after bound: Duration) {
    entries.append((entry, ContinuousClock.now + bound))
  }

  /// The next whose time has come.
  mutating func popExpired() -> Entry? {
    guard head < entries.count, entries[head].at <= ContinuousClock.now else { return nil }
    defer {
      head += 1
      if head > 64, head * 2 > entries.count {
        entries.removeFirst(head)
        head = 0
      }
    }
    return entries[head].entry
  }

  /// How long the thread may sleep, in milliseconds.
  func sleep(atMost longest: Int32) -> Int32 {
    guard head < entries.count else { return longest }
    let left = (entries[head].at - ContinuousClock.now).wholeMicroseconds
    return Int32(clamping: min(Int64(longest), max(0, left / 1000 + 1)))
  }
}
