/// Successes and failures of the recent past, in ten buckets of equal length.
///
/// Ten buckets forget in steps of a tenth of the window (as Hystrix and
/// resilience4j do), at the price of a handful of integers, however many
/// outcomes there are.
public struct SlidingWindow: Sendable, Hashable {
  private static let bucketCount: Int64 = 10

  private struct Bucket: Sendable, Hashable {
    var index: Int64 = .min
    var successes: UInt32 = 0
    var failures: UInt32 = 0
  }

  private var bucketMicroseconds: Int64
  private var buckets: [Bucket]

  /// An empty window of that length; a length under 10 µs counts as 10 µs.
  public init(length: Duration) {
    bucketMicroseconds = max(1, length.wholeMicroseconds / Self.bucketCount)
    buckets = Array(repeating: Bucket(), count: Int(Self.bucketCount))
  }

  /// Counts one outcome.
  public mutating func record(success: Bool, at now: Timestamp) {
    let index = now.microseconds / bucketMicroseconds
    let slot = Int(index.magnitude % UInt64(Self.bucketCount))
    if buckets[slot].index != index { buckets[slot] = Bucket(index: index) }
    if success { buckets[slot].successes &+= 1 } else { buckets[slot].failures &+= 1 }
  }

  /// The outcomes that are still within the window.
  public func counts(at now: Timestamp) -> (successes: Int, failures: Int) {
    let newest = now.microseconds / bucketMicroseconds
    var successes = 0
    var failures = 0
    for bucket in buckets where bucket.index > newest - Self.bucketCount && bucket.index <= newest {
      successes += Int(bucket.successes)
      failures += Int(bucket.failures)
    }
    return (successes, failures)
  }

  /// Forgets everything.
  public mutating func clear() {
    for slot in buckets.indices { buckets[slot] = Bucket() }
  }
}
