internal import RedialCore
public import RedialJSON
internal import RedialText

/// How often something took how long, from milliseconds to days.
public typealias DurationTally = DurationHistogram<ExponentialBuckets>

/// The buckets of Prometheus' native histograms with schema 1: two for each factor of two, from 2⁻¹⁰ s to 2²⁰ s (12 days). So
/// a quantile is off by at most a fifth.
public enum ExponentialBuckets: DurationBuckets {
  /// How many buckets a factor of two has, as an exponent of two: the schema of a native histogram.
  public static let schema = 1
  /// The number of a native histogram for the first bucket: bucket *n* has the upper bound 2^((`firstIndex` + *n*) / 2) s.
  public static let firstIndex = -20
  public static let count = 61
  /// The upper bounds, in microseconds.
  private static let upper: [Int64] = (firstIndex..<firstIndex + count).map { index in
    let seconds = Double(sign: .plus, exponent: index >> 1, significand: index % 2 == 0 ? 1 : 2.0.squareRoot())
    return Int64((seconds * 1e6).rounded())
  }

  public static func bucket(of microseconds: Int64) -> Int {
    var (low, high) = (0, count - 1)
    while low < high {
      let middle = (low + high) / 2
      if microseconds <= upper[middle] { high = middle } else { low = middle + 1 }
    }
    return low
  }

  public static func bounds(of bucket: Int) -> (start: Int64, end: Int64) {
    (bucket > 0 ? upper[bucket - 1] : 0, upper[bucket])
  }
}

extension DurationTally {
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
}
