/// Recent outcomes, from which a breaker decides.
///
/// Storage is reserved once; recording and counting allocate nothing.
public struct SlidingWindow: Sendable, Hashable {
  /// The counts of a window.
  public struct Counts: Sendable, Hashable {
    /// All outcomes.
    public var total = 0
    /// Failures among them.
    public var failures = 0
    /// Slow ones among them, failures or not.
    public var slow = 0

    mutating func add(_ other: Counts, times sign: Int = 1) {
      total += sign * other.total
      failures += sign * other.failures
      slow += sign * other.slow
    }
  }

  private enum Storage: Sendable, Hashable {
    /// Successes, failures and slow calls by time.
    case time(RollingCounts)
    case calls(CallWindow)
  }

  private var storage: Storage

  /// An empty window. A length of time is limited to 10 ms to a day.
  public init(_ window: CircuitBreakerSettings.Window) {
    switch window {
    case .time(let length): storage = .time(RollingCounts(length: length))
    case .calls(let count): storage = .calls(CallWindow(capacity: count))
    }
  }

  /// Counts one outcome.
  public mutating func record(isFailure: Bool, isSlow: Bool = false, at now: Timestamp) {
    switch storage {
    case .time(var counts):
      counts.count(isFailure ? .second : .first, at: now)
      if isSlow { counts.count(.third, at: now) }
      storage = .time(counts)
    case .calls(var window):
      // Moved out and back, so that the storage is not copied because of two references.
      storage = .calls(.none)
      window.record(Counts(total: 1, failures: isFailure ? 1 : 0, slow: isSlow ? 1 : 0), at: now)
      storage = .calls(window)
    }
  }

  /// The outcomes that are still within the window.
  public func counts(at now: Timestamp) -> Counts {
    switch storage {
    case .time(var counts):
      let sums = counts.sums(at: now)
      return Counts(
        total: Int(clamping: sums.first + sums.second), failures: Int(clamping: sums.second),
        slow: Int(clamping: sums.third))
    case .calls(var window):
      window.forget(at: now)
      return window.counts
    }
  }

  /// Resets the counts.
  public mutating func clear() {
    switch storage {
    case .time(var counts):
      counts.clear()
      storage = .time(counts)
    case .calls(var window):
      storage = .calls(.none)
      window.clear()
      storage = .calls(window)
    }
  }
}

/// The latest outcomes of the last hour: two bits each, in a ring, with running sums.
private struct CallWindow: Sendable, Hashable {
  private let capacity: Int
  private var bits: [UInt64]
  private var next = 0
  private(set) var counts = SlidingWindow.Counts()
  /// How many there were in the last hour.
  private var recent = RollingCounts(length: UsualFailures.memoryTime)

  /// Empty, without memory.
  static let none = CallWindow()

  private init() {
    capacity = 0
    bits = []
  }

  init(capacity: Int) {
    self.capacity = min(max(1, capacity), CircuitBreakerSettings.largestWindow)
    bits = Array(repeating: 0, count: (self.capacity + 31) / 32)
  }

  mutating func record(_ outcome: SlidingWindow.Counts, at now: Timestamp) {
    guard capacity > 0 else { return }
    if counts.total == capacity { forgetOldest() }
    let shift = UInt64(next % 32 * 2)
    counts.add(outcome)
    bits[next / 32] &= ~(3 << shift)
    bits[next / 32] |= UInt64(outcome.failures | outcome.slow << 1) << shift
    next = (next + 1) % capacity
    recent.count(.first, at: now)
  }

  /// Forgets what is too old.
  mutating func forget(at now: Timestamp) {
    let most = recent.sums(at: now).first
    while counts.total > most { forgetOldest() }
  }

  private mutating func forgetOldest() {
    let place = (next - counts.total + capacity) % capacity
    let oldest = bits[place / 32] >> UInt64(place % 32 * 2)
    counts.add(.init(total: 1, failures: Int(oldest & 1), slow: Int(oldest >> 1 & 1)), times: -1)
  }

  mutating func clear() {
    counts = .init()
    next = 0
    recent.clear()
  }
}
