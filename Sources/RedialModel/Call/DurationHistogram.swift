internal import RedialCore

/// The buckets of a ``DurationHistogram``, without gaps and in order.
public protocol DurationBuckets {
  /// How many there are.
  static var count: Int { get }
  /// The bucket of a duration; what is shorter or longer than all counts in the first or the last.
  static func bucket(of microseconds: Int64) -> Int
  /// Where a bucket begins and ends, in microseconds.
  static func bounds(of bucket: Int) -> (start: Int64, end: Int64)
}

/// How often something took how long, as counts by duration, so that any number takes the same memory.
public struct DurationHistogram<Buckets: DurationBuckets>: Sendable, Hashable {
  /// How many durations were counted in each bucket; empty until the first.
  public private(set) var counts: [UInt32] = []
  /// The sum of the durations, in microseconds.
  public private(set) var microseconds: Int64 = 0

  /// How many ``numbers`` there are.
  static var numberCount: Int { 1 + Buckets.count }

  /// Nothing was counted.
  public init() {}

  /// The number of durations.
  public var total: Int { counts.reduce(0) { $0 + Int($1) } }

  /// Counts a duration.
  public mutating func count(_ duration: Duration) {
    if counts.isEmpty { counts = Array(repeating: 0, count: Buckets.count) }
    let length = max(0, duration.wholeMicroseconds)
    add(length)
    let bucket = Buckets.bucket(of: length)
    if counts[bucket] < .max { counts[bucket] += 1 }
  }

  /// Adds the counts of another one.
  public mutating func add(_ other: DurationHistogram) {
    guard !other.counts.isEmpty else { return }
    if counts.isEmpty { counts = Array(repeating: 0, count: Buckets.count) }
    add(other.microseconds)
    for bucket in counts.indices {
      counts[bucket] = UInt32(clamping: UInt64(counts[bucket]) + UInt64(other.counts[bucket]))
    }
  }

  private mutating func add(_ length: Int64) {
    let sum = microseconds.addingReportingOverflow(length)
    microseconds = sum.overflow ? .max : sum.partialValue
  }

  /// The duration that this share did not exceed, to within a bucket; nil if nothing was counted.
  ///
  /// - Parameter share: 0...1.
  public func quantile(_ share: Double) -> Duration? {
    let total = total
    guard total > 0 else { return nil }
    let rank = min(total, max(1, Int((Double(total) * share).rounded(.up))))
    var below = 0
    for (bucket, count) in counts.enumerated() where count > 0 {
      if below + Int(count) >= rank {
        let (start, end) = Buckets.bounds(of: bucket)
        // Assumes that the durations of a bucket are spread evenly over it.
        let place = (Double(rank - below) - 0.5) / Double(count)
        return .microseconds(Int64(Double(start) + place * Double(end - start)))
      }
      below += Int(count)
    }
    return nil
  }

  // MARK: As it is stored

  /// The counts as numbers, for the store: ``init(numbers:)`` reads them.
  var numbers: [Int64] {
    [microseconds] + (counts.isEmpty ? Array(repeating: 0, count: Buckets.count) : counts.map { Int64($0) })
  }

  /// Reads the numbers of ``numbers``; nil for anything else.
  init?(numbers: some Collection<Int64>) {
    let counts = numbers.dropFirst().compactMap { UInt32(exactly: $0) }
    guard let sum = numbers.first, sum >= 0, numbers.count == Self.numberCount, counts.count == Buckets.count else {
      return nil
    }
    guard counts.contains(where: { $0 > 0 }) else { return }
    (self.counts, microseconds) = (counts, sum)
  }
}
