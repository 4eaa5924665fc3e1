/// The distribution of durations: counts by upper limit, as Prometheus uses them.
struct Histogram: Sendable {
  /// Upper limits in seconds, from half a millisecond to a minute.
  static let bounds: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
  ]

  private var counts = [Int](repeating: 0, count: bounds.count + 1)
  private var sum = 0.0

  mutating func record(seconds: Double) {
    let slot = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
    counts[slot] += 1
    sum += seconds
  }

  /// The lines of the text exposition format.
  func lines(_ name: String) -> String {
    var text = ""
    var total = 0
    for (slot, bound) in Self.bounds.enumerated() {
      total += counts[slot]
      text += "\(name)_bucket{le=\"\(bound)\"} \(total)\n"
    }
    total += counts[Self.bounds.count]
    text += "\(name)_bucket{le=\"+Inf\"} \(total)\n\(name)_sum \(sum)\n\(name)_count \(total)\n"
    return text
  }
}
