internal import RedialCore
public import RedialJSON
internal import RedialText

/// How often something took how long, as counts by duration, so that any number takes the same memory.
///
/// The bounds of the slots are those of Prometheus' native histograms with schema 1: two slots for each factor of two, from
/// 2⁻¹⁰ s to 2²⁰ s (12 days). So a quantile is off by at most a fifth. Shorter and longer times count as the shortest and the
/// longest.
public struct DurationTally: Sendable, Hashable {
  /// How many slots a factor of two has, as an exponent of two: the schema of a native histogram.
  public static let schema = 1
  /// The number of a native histogram for the first slot: slot *n* has the upper bound 2^((`firstIndex` + *n*) / 2) s.
  public static let firstIndex = -20
  /// The number of slots.
  static let slots = 61
  /// How many ``numbers`` there are.
  static let numberCount = 1 + slots
  /// The upper bounds of the slots, in microseconds.
  private static let bounds: [Int64] = (firstIndex..<firstIndex + slots).map { index in
    let seconds = Double(sign: .plus, exponent: index >> 1, significand: index % 2 == 0 ? 1 : 2.0.squareRoot())
    return Int64((seconds * 1e6).rounded())
  }

  /// How many times were counted in each slot; empty until the first.
  public private(set) var counts: [UInt32] = []
  /// The sum of the times, in microseconds.
  public private(set) var microseconds: Int64 = 0

  /// Nothing was counted.
  public init() {}

  /// The number of times.
  public var total: Int { counts.reduce(0) { $0 + Int($1) } }

  /// Counts a time.
  public mutating func count(_ time: Duration) {
    if counts.isEmpty { counts = Array(repeating: 0, count: Self.slots) }
    let length = max(0, time.wholeMicroseconds)
    let sum = microseconds.addingReportingOverflow(length)
    microseconds = sum.overflow ? .max : sum.partialValue
    let slot = Self.slot(of: length)
    if counts[slot] < .max { counts[slot] += 1 }
  }

  /// Adds the counts of another tally.
  public mutating func add(_ other: DurationTally) {
    guard !other.counts.isEmpty else { return }
    if counts.isEmpty { counts = Array(repeating: 0, count: Self.slots) }
    let sum = microseconds.addingReportingOverflow(other.microseconds)
    microseconds = sum.overflow ? .max : sum.partialValue
    for slot in counts.indices { counts[slot] = UInt32(clamping: UInt64(counts[slot]) + UInt64(other.counts[slot])) }
  }

  /// The time that this share did not exceed, to within a slot; nil if nothing was counted.
  ///
  /// - Parameter share: 0...1.
  public func quantile(_ share: Double) -> Duration? {
    let total = total
    guard total > 0 else { return nil }
    let rank = min(total, max(1, Int((Double(total) * share).rounded(.up))))
    var below = 0
    for (slot, count) in counts.enumerated() where count > 0 {
      if below + Int(count) >= rank {
        let (start, end) = (slot > 0 ? Self.bounds[slot - 1] : 0, Self.bounds[slot])
        // Assumes that the times of a slot are spread evenly over it.
        let place = (Double(rank - below) - 0.5) / Double(count)
        return .microseconds(Int64(Double(start) + place * Double(end - start)))
      }
      below += Int(count)
    }
    return nil
  }

  private static func slot(of microseconds: Int64) -> Int {
    var (low, high) = (0, slots - 1)
    while low < high {
      let middle = (low + high) / 2
      if microseconds <= bounds[middle] { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Writes the median and the tails as one object; `null` if nothing was counted.
  public func write(to writer: inout JSONWriter) {
    guard !counts.isEmpty else { return writer.null() }
    writer.beginObject()
    for (name, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
      writer.key(name)
      writer.string(DurationText.format(quantile(share) ?? .zero))
    }
    writer.endObject()
  }

  // MARK: As it is stored

  /// The counts as numbers, for the store: ``init(numbers:)`` reads them.
  var numbers: [Int64] {
    [microseconds] + (counts.isEmpty ? Array(repeating: 0, count: Self.slots) : counts.map { Int64($0) })
  }

  /// Reads the numbers of ``numbers``; nil for anything else.
  init?(numbers: some Collection<Int64>) {
    let counts = numbers.dropFirst().compactMap { UInt32(exactly: $0) }
    guard let sum = numbers.first, sum >= 0, numbers.count == Self.numberCount, counts.count == Self.slots else {
      return nil
    }
    guard counts.contains(where: { $0 > 0 }) else { return }
    (self.counts, microseconds) = (counts, sum)
  }
}
