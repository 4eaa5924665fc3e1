/// A distribution: counts by upper bound, as Prometheus uses them.
struct Histogram: Sendable {
  /// Bounds of durations in seconds, from half a millisecond to a minute.
  static let durations: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
  ]

  private let bounds: [Double]
  private var counts: [Int]
  private var sum = 0.0

  /// - Parameter bounds: The upper bounds, in ascending order.
  init(bounds: [Double] = durations) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  mutating func record(_ value: Double) {
    counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
    sum += value
  }

  /// Its figures.
  var figures: HistogramFigures { HistogramFigures(bounds: bounds, counts: counts, sum: sum) }
}
