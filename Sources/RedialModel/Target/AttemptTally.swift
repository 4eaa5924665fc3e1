internal import RedialCore

/// Results and durations of some attempts.
public struct AttemptTally: Sendable, Hashable {
  /// Attempts that succeeded.
  public private(set) var successes = 0
  /// Attempts that did not succeed.
  public private(set) var failures = 0
  /// Attempts that were their call's last, whatever its end.
  public private(set) var ends = 0
  private var durations = DurationHistogram<AttemptBuckets>()

  /// How many ``numbers`` there are.
  static let numberCount = 3 + DurationHistogram<AttemptBuckets>.numberCount

  /// No attempts.
  public init() {}

  /// The counts as numbers, for the store: ``init(numbers:)`` reads them.
  public var numbers: [Int64] { [Int64(successes), Int64(failures), Int64(ends)] + durations.numbers }

  /// Reads the numbers of ``numbers``; nil for anything else.
  public init?(numbers: some Collection<Int64>) {
    guard numbers.count == Self.numberCount,
      let durations = DurationHistogram<AttemptBuckets>(numbers: numbers.dropFirst(3))
    else { return nil }
    let counts = numbers.prefix(3).map { Int($0) }
    (successes, failures, ends) = (counts[0], counts[1], counts[2])
    self.durations = durations
  }

  /// The number of attempts.
  public var attempts: Int { successes + failures }

  /// Their mean duration; nil if there are none.
  public var mean: Duration? { attempts > 0 ? .microseconds(durations.microseconds / Int64(attempts)) : nil }

  /// Counts an attempt.
  ///
  /// - Parameters:
  ///   - duration: How long it took.
  ///   - succeeded: Whether its call succeeded with it.
  ///   - ended: Whether its call ended with it.
  public mutating func count(_ duration: Duration, succeeded: Bool, ended: Bool) {
    if succeeded { successes += 1 } else { failures += 1 }
    if ended { ends += 1 }
    durations.count(duration)
  }

  /// Adds the counts of another tally.
  public mutating func add(_ other: AttemptTally) {
    successes += other.successes
    failures += other.failures
    ends += other.ends
    durations.add(other.durations)
  }

  /// The duration that this share of the attempts did not exceed, to within a fifth; nil if there are none.
  ///
  /// - Parameter share: 0...1.
  public func quantile(_ share: Double) -> Duration? { durations.quantile(share) }
}

/// Two buckets for each octave from 256 µs to 67 s, so that a quantile is off by at most a fifth.
private enum AttemptBuckets: DurationBuckets {
  static let count = 36
  /// The octave of the first bucket: 2^8 µs.
  private static let firstOctave = 8

  static func bucket(of microseconds: Int64) -> Int {
    guard microseconds >= 1 << firstOctave else { return 0 }
    let octave = Int64.bitWidth - 1 - microseconds.leadingZeroBitCount
    let isUpper = microseconds >> (octave - 1) & 1
    return min(count - 1, (octave - firstOctave) * 2 + Int(isUpper))
  }

  static func bounds(of bucket: Int) -> (start: Int64, end: Int64) { (start(of: bucket), start(of: bucket + 1)) }

  private static func start(of bucket: Int) -> Int64 {
    let octave = firstOctave + bucket / 2
    return bucket % 2 == 0 ? 1 << octave : 3 << (octave - 1)
  }
}
