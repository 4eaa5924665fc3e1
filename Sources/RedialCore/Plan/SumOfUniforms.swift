/// The distribution of a constant and a sum of independent uniform variables of any widths.
///
/// With widths w₁…wₘ the distribution function is
/// F(x) = 1/(m!·∏w) · Σ over subsets S of (−1)^|S| · max(0, x − Σ_S w)^m
/// (Bradley and Gupta, "On the distribution of the sum of n non-identically
/// distributed uniform random variables", 2002; Irwin–Hall for equal widths).
struct SumOfUniforms {
  /// Beyond this many variables the alternating sum of 2^m terms loses its precision.
  static let most = 10

  private(set) var least = 0.0
  private(set) var widths: [Double] = []
  /// The sums of all subsets of the widths, at most `most` of them: bit i of the index says whether width i is in it.
  private var subsets = [0.0]
  /// m!·∏w; with widths from a microsecond to 2⁶³ of them neither this nor a power of their sum overflows.
  private var divisor = 1.0

  /// Whether the closed form can be computed: there are not too many terms, and the largest, in the middle of the
  /// distribution, does not absorb the digits of a probability.
  var isTractable: Bool {
    guard widths.count <= Self.most else { return false }
    let middle = width / 2
    var largest = 1.0
    for (index, width) in widths.enumerated() { largest *= middle / (width * Double(index + 1)) }
    return largest * Double(1 << widths.count) * 0x1p-53 < 1e-6
  }

  /// Adds a constant.
  mutating func shift(by amount: Double) { least += amount }

  /// Adds a variable that is uniform between two bounds.
  mutating func add(_ low: Double, _ high: Double) {
    least += low
    // Waits are rounded to microseconds; a narrower variable is a constant.
    let width = high - low
    guard width > 0.000_001 else { return }
    widths.append(width)
    guard widths.count <= Self.most else { return }
    subsets += subsets.map { $0 + width }
    divisor *= width * Double(widths.count)
  }

  private var width: Double { widths.reduce(0, +) }

  /// The probability that the sum is below `x`.
  func probability(before x: Double) -> Double {
    let y = x - least
    if widths.isEmpty { return y > 0 ? 1 : 0 }
    if y <= 0 { return 0 }
    if y >= width { return 1 }
    // The smaller tail has fewer and smaller terms; the sum is symmetric about its middle.
    return y <= width / 2 ? tail(y) : 1 - tail(width - y)
  }

  /// The time below which the sum stays with probability `p`, by bisection to a tenth of a microsecond.
  func quantile(_ p: Double) -> Double {
    guard p > 0 else { return least }
    guard p < 1 else { return least + width }
    var low = 0.0
    var high = width
    for _ in 0..<200 where high - low > 1e-7 {
      let middle = (low + high) / 2
      if probability(before: least + middle) < p { low = middle } else { high = middle }
    }
    return least + (low + high) / 2
  }

  private func tail(_ y: Double) -> Double {
    var sum = 0.0
    for subset in 0..<subsets.count where subsets[subset] < y {
      let term = Elementary.power(y - subsets[subset], widths.count)
      sum += subset.nonzeroBitCount.isMultiple(of: 2) ? term : -term
    }
    return min(1, max(0, sum / divisor))
  }
}
