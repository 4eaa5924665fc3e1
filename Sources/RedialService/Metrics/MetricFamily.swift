internal import RedialCore

/// Metrics of one name: what a scraper gets in one of the formats of ``MetricFormat``.
struct MetricFamily: Sendable {
  enum Kind: String, Sendable {
    case counter, gauge, histogram
  }

  struct Label: Sendable, Hashable {
    var name: String
    var value: String

    init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// One series.
  struct Sample: Sendable {
    var labels: [Label]
    var value: Value
  }

  enum Value: Sendable {
    case number(Double)
    case histogram(HistogramFigures)
  }

  let name: String
  let kind: Kind
  let help: String
  var samples: [Sample] = []

  init(_ name: String, _ kind: Kind, _ help: String) {
    self.name = name
    self.kind = kind
    self.help = help
  }

  /// A family with one series without labels.
  init(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
    self.init(name, kind, help)
    add([], value)
  }

  /// A family with one series without labels.
  init(_ name: String, _ kind: Kind, _ help: String, _ value: Int) { self.init(name, kind, help, Double(value)) }

  /// A histogram without labels.
  init(_ name: String, _ help: String, _ figures: HistogramFigures) {
    self.init(name, .histogram, help)
    samples.append(Sample(labels: [], value: .histogram(figures)))
  }

  mutating func add(_ labels: [Label], _ value: Double) {
    samples.append(Sample(labels: labels, value: .number(value)))
  }

  mutating func add(_ labels: [Label], _ value: Int) { add(labels, Double(value)) }

  mutating func add(_ labels: [Label], _ figures: HistogramFigures) {
    samples.append(Sample(labels: labels, value: .histogram(figures)))
  }
}

/// The figures of a histogram.
struct HistogramFigures: Sendable {
  /// A single value, with the trace in which it was measured.
  struct Exemplar: Sendable {
    var labels: [MetricFamily.Label]
    var value: Double
    var at: Timestamp
  }

  /// The buckets of a native histogram: exponential ones, with as many for each factor of two as the schema says.
  struct Native: Sendable {
    var schema: Int
    /// The number of the first bucket: bucket *n* has the upper bound 2^(*n* / 2^schema).
    var firstIndex: Int
    var counts: [Int]
  }

  /// The upper bounds, in ascending order, without the infinite one.
  let bounds: [Double]
  /// How many values each bound has and the one before it has not; at the end those beyond the last.
  var counts: [Int]
  var sum: Double
  /// By place in ``counts``.
  var exemplars: [Int: Exemplar] = [:]
  var native: Native?

  var total: Int { counts.reduce(0, +) }
}
