/// Outcomes of the recent past, for a breaker to judge by.
///
/// Storage is reserved once; recording and counting allocate nothing.
public struct SlidingWindow: Sendable, Hashable {
  /// What a window holds.
  public struct Counts: Sendable, Hashable {
    /// Outcomes in all.
    public var total = 0
    /// Those that were failures.
    public var failures = 0
    /// Those that were slow, failures or not.
    public var slow = 0

    mutating func add(_ other: Counts, times sign: Int = 1) {
      total += sign * other.total
      failures += sign * other.failures
      slow += sign * other.slow
    }
  }

  private enum Storage: Sendable, Hashable {
    case time(TimeWindow)
    case calls(CallWindow)
  }

  private var storage: Storage

  /// An empty window.
  public init(_ window: CircuitBreakerSettings.Window) {
    switch window {
    case .time(let length): storage = .time(TimeWindow(length: length))
    case .calls(let count): storage = .calls(CallWindow(capacity: count))
    }
  }

  /// Counts one outcome.
  public mutating func record(isFailure: Bool, isSlow: Bool = false, at now: Timestamp) {
    let outcome = Counts(total: 1, failures: isFailure ? 1 : 0, slow: isSlow ? 1 : 0)
    // Taken out and put back, so that the storage is not copied by being held twice.
    switch storage {
    case .time(var window):
      storage = .calls(.none)
      window.record(outcome, at: now)
      storage = .time(window)
    case .calls(var window):
      storage = .calls(.none)
      window.record(outcome)
      storage = .calls(window)
    }
  }

  /// The outcomes that are still within the window.
  public func counts(at now: Timestamp) -> Counts {
    switch storage {
    case .time(let window): window.counts(at: now)
    case .calls(let window): window.counts
    }
  }

  /// Forgets everything.
  public mutating func clear() {
    switch storage {
    case .time(var window):
      storage = .calls(.none)
      window.clear()
      storage = .time(window)
    case .calls(var window):
      storage = .calls(.none)
      window.clear()
      storage = .calls(window)
    }
  }
}

/// Outcomes by time, in ten buckets of equal length.
///
/// Ten buckets forget in steps of a tenth of the window (as Hystrix and resilience4j do), at the price of a handful of
/// integers, however many outcomes there are.
private struct TimeWindow: Sendable, Hashable {
  private static let bucketCount: Int64 = 10

  private struct Bucket: Sendable, Hashable {
    var index = Int64.min
    var counts = SlidingWindow.Counts()
  }

  private var bucketMicroseconds: Int64
  private var buckets: [Bucket]

  /// A length under 10 µs counts as 10 µs.
  init(length: Duration) {
    bucketMicroseconds = max(1, length.wholeMicroseconds / Self.bucketCount)
    buckets = Array(repeating: Bucket(), count: Int(Self.bucketCount))
  }

  mutating func record(_ outcome: SlidingWindow.Counts, at now: Timestamp) {
    let index = now.microseconds / bucketMicroseconds
    let slot = Int(index.magnitude % UInt64(Self.bucketCount))
    // A clock that went back must not make the past look empty: what is newer stays.
    if buckets[slot].index < index { buckets[slot] = Bucket(index: index) }
    buckets[slot].counts.add(outcome)
  }

  func counts(at now: Timestamp) -> SlidingWindow.Counts {
    let newest = now.microseconds / bucketMicroseconds
    var sum = SlidingWindow.Counts()
    for bucket in buckets where bucket.index > newest - Self.bucketCount { sum.add(bucket.counts) }
    return sum
  }

  mutating func clear() {
    for slot in buckets.indices { buckets[slot] = Bucket() }
  }
}

/// The latest outcomes, whenever they were: two bits each, in a ring, with running sums.
private struct CallWindow: Sendable, Hashable {
  private let capacity: Int
  private var bits: [UInt64]
  private var next = 0
  private(set) var counts = SlidingWindow.Counts()

  /// Holds nothing, in no memory.
  static let none = CallWindow()

  private init() {
    capacity = 0
    bits = []
  }

  init(capacity: Int) {
    self.capacity = min(max(1, capacity), CircuitBreakerSettings.largestWindow)
    bits = Array(repeating: 0, count: (self.capacity + 31) / 32)
  }

  mutating func record(_ outcome: SlidingWindow.Counts) {
    guard capacity > 0 else { return }
    let shift = UInt64(next % 32 * 2)
    let oldest = bits[next / 32] >> shift
    if counts.total == capacity {
      counts.add(.init(total: 1, failures: Int(oldest & 1), slow: Int(oldest >> 1 & 1)), times: -1)
    }
    counts.add(outcome)
    bits[next / 32] &= ~(3 << shift)
    bits[next / 32] |= UInt64(outcome.failures | outcome.slow << 1) << shift
    next = (next + 1) % capacity
  }

  mutating func clear() {
    counts = .init()
    next = 0
  }
}
