/// Three counts over the recent past, in ten buckets of equal length, within the value itself: nothing is allocated.
///
/// Ten buckets forget in steps of a tenth of the window, as Finagle's `WindowedAdder` and Hystrix do. If a clock steps
/// back by less than the window, counting continues in the newest bucket; a larger step empties the window.
struct RollingCounts: Sendable, Hashable {
  /// Selects a count.
  enum Lane { case first, second, third }

  /// The counts of a window.
  struct Sums: Sendable, Hashable {
    var first: Int64 = 0
    var second: Int64 = 0
    var third: Int64 = 0
  }

  /// A bucket stops counting at 2^32 − 1, so that no sum of ten can overflow.
  private struct Bucket: Sendable, Hashable {
    var first: UInt32 = 0
    var second: UInt32 = 0
    var third: UInt32 = 0
  }

  private static let bucketCount: Int64 = 10
  /// The shortest window and the longest: 10 ms and a day.
  static let lengths = Duration.milliseconds(10) ... .seconds(86400)

  /// The length of the whole window, a multiple of ten microseconds.
  var lengthMicroseconds: Int64 { bucketMicroseconds * Self.bucketCount }

  // 64 bits even if an `Int` has 32, which would overflow after 35 minutes.
  private let bucketMicroseconds: Int64
  private var newest: Int64
  private var buckets: InlineTen<Bucket>

  /// An empty window, its length clamped to ``lengths``.
  init(length: Duration) {
    let clamped = min(max(length, Self.lengths.lowerBound), Self.lengths.upperBound)
    bucketMicroseconds = clamped.wholeMicroseconds / Self.bucketCount
    newest = 0
    buckets = InlineTen(repeating: Bucket())
  }

  /// Counts one at this time.
  mutating func count(_ lane: Lane, at now: Timestamp) {
    advance(to: now)
    let slot = Self.slot(of: newest)
    switch lane {
    case .first where buckets[slot].first < .max: buckets[slot].first += 1
    case .second where buckets[slot].second < .max: buckets[slot].second += 1
    case .third where buckets[slot].third < .max: buckets[slot].third += 1
    default: break
    }
  }

  /// Removes one that was counted at `time`, if the window still contains it.
  mutating func takeBack(_ lane: Lane, countedAt time: Timestamp) {
    let index = index(of: time)
    guard index <= newest, index > newest - Self.bucketCount else { return }
    let slot = Self.slot(of: index)
    switch lane {
    case .first where buckets[slot].first > 0: buckets[slot].first -= 1
    case .second where buckets[slot].second > 0: buckets[slot].second -= 1
    case .third where buckets[slot].third > 0: buckets[slot].third -= 1
    default: break
    }
  }

  /// The counts at this time.
  mutating func sums(at now: Timestamp) -> Sums {
    advance(to: now)
    var sums = Sums()
    for slot in 0..<InlineTen<Bucket>.count {
      let bucket = buckets[slot]
      sums.first += Int64(bucket.first)
      sums.second += Int64(bucket.second)
      sums.third += Int64(bucket.third)
    }
    return sums
  }

  /// Resets the counts.
  mutating func clear() {
    buckets = InlineTen(repeating: Bucket())
  }

  /// Empties the buckets that are reused.
  private mutating func advance(to now: Timestamp) {
    let index = index(of: now)
    // Buckets of a millisecond or more: no difference of two indices can overflow.
    let steps = index - newest
    guard steps > 0 || steps <= -Self.bucketCount else { return }
    if steps < 0 || steps >= Self.bucketCount {
      buckets = InlineTen(repeating: Bucket())
    } else {
      for step in 1...steps { buckets[Self.slot(of: newest + step)] = Bucket() }
    }
    newest = index
  }

  private func index(of time: Timestamp) -> Int64 {
    time.microseconds / bucketMicroseconds
  }

  private static func slot(of index: Int64) -> Int {
    let remainder = index % bucketCount
    return Int(remainder < 0 ? remainder + bucketCount : remainder)
  }
}
