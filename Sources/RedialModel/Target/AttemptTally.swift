internal import RedialCore

/// Results and durations of some attempts, as counts by duration, so that any number takes the same memory.
///
/// Each octave from 256 µs to 67 s has two slots, so a quantile is off by at most a fifth. Shorter and longer
/// durations count as the shortest and longest.
public struct AttemptTally: Sendable, Hashable {
  /// Attempts that succeeded.
  public private(set) var successes = 0
  /// Attempts that did not succeed.
  public private(set) var failures = 0
  /// Attempts that were their call's last, whatever its end.
  public private(set) var ends = 0
  /// The sum of their durations, in microseconds.
  public private(set) var microseconds = 0
  /// The number of attempts in each slot.
  private var counts: [UInt32]

  static let slots = 36
  /// How many ``numbers`` there are.
  static let numberCount = 4 + slots
  /// The octave of the first slots: 2^8 µs.
  private static let firstOctave = 8

  /// No attempts.
  public init() {
    counts = Array(repeating: 0, count: Self.slots)
  }

  /// The counts as numbers, for the store: ``init(numbers:)`` reads them.
  public var numbers: [Int64] {
    [Int64(successes), Int64(failures), Int64(ends), Int64(microseconds)] + counts.map { Int64($0) }
  }

  /// Reads the numbers of ``numbers``; nil for anything else.
  public init?(numbers: some Collection<Int64>) {
    let numbers = Array(numbers)
    let counts = numbers.dropFirst(4).compactMap { UInt32(exactly: $0) }
    guard counts.count == Self.slots, numbers.count == Self.numberCount else { return nil }
    successes = Int(numbers[0])
    failures = Int(numbers[1])
    ends = Int(numbers[2])
    microseconds = Int(numbers[3])
    self.counts = counts
  }

  /// The number of attempts.
  public var attempts: Int { successes + failures }

  /// Their mean duration; nil if there are none.
  public var mean: Duration? { attempts > 0 ? .microseconds(microseconds / attempts) : nil }

  /// Counts an attempt.
  ///
  /// - Parameters:
  ///   - duration: How long it took.
  ///   - succeeded: Whether its call succeeded with it.
  ///   - ended: Whether its call ended with it.
  public mutating func count(_ duration: Duration, succeeded: Bool, ended: Bool) {
    if succeeded { successes += 1 } else { failures += 1 }
    if ended { ends += 1 }
    let length = max(0, duration.wholeMicroseconds)
    microseconds += Int(length)
    let slot = Self.slot(of: length)
    if counts[slot] < .max { counts[slot] += 1 }
  }

  /// Adds the counts of another tally.
  public mutating func add(_ other: AttemptTally) {
    successes += other.successes
    failures += other.failures
    ends += other.ends
    microseconds += other.microseconds
    for slot in counts.indices { counts[slot] = UInt32(clamping: UInt64(counts[slot]) + UInt64(other.counts[slot])) }
  }

  /// The duration that this share of the attempts did not exceed, to within a slot; nil if there are none.
  ///
  /// - Parameter share: 0...1.
  public func quantile(_ share: Double) -> Duration? {
    let total = counts.reduce(0) { $0 + Int($1) }
    guard total > 0 else { return nil }
    let rank = min(total, max(1, Int((Double(total) * share).rounded(.up))))
    var below = 0
    for (slot, count) in counts.enumerated() where count > 0 {
      if below + Int(count) >= rank {
        let (start, end) = (Self.start(of: slot), Self.start(of: slot + 1))
        // Assumes that the attempts of a slot are spread evenly over it.
        let place = (Double(rank - below) - 0.5) / Double(count)
        return .microseconds(Int64(Double(start) + place * Double(end - start)))
      }
      below += Int(count)
    }
    return nil
  }

  private static func slot(of microseconds: Int64) -> Int {
    guard microseconds >= 1 << firstOctave else { return 0 }
    let octave = Int64.bitWidth - 1 - microseconds.leadingZeroBitCount
    let isUpper = microseconds >> (octave - 1) & 1
    return min(slots - 1, (octave - firstOctave) * 2 + Int(isUpper))
  }

  /// The shortest duration of a slot, in microseconds.
  private static func start(of slot: Int) -> Int64 {
    let octave = firstOctave + slot / 2
    return slot % 2 == 0 ? 1 << octave : 3 << (octave - 1)
  }
}
