internal import RedialCore

/// Writes the Prometheus text exposition format 0.0.4, or OpenMetrics 1.0, which differs in the names of counters, and has
/// exemplars and an end.
struct MetricText: Sendable {
  private let isOpenMetrics: Bool
  private var text = ""

  init(isOpenMetrics: Bool) { self.isOpenMetrics = isOpenMetrics }

  mutating func add(_ family: MetricFamily) {
    // In OpenMetrics the ending belongs to the sample.
    let isCounter = family.kind == .counter && family.name.hasSuffix(Self.total)
    let name = isOpenMetrics && isCounter ? String(family.name.dropLast(Self.total.count)) : family.name
    text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(family.kind.rawValue)\n"
    for sample in family.samples {
      switch sample.value {
      case .number(let value): line(family.name, sample.labels, value)
      case .histogram(let figures): add(figures, family.name, sample.labels)
      }
    }
  }

  /// All that was added.
  mutating func end() -> [UInt8] {
    if isOpenMetrics { text += "# EOF\n" }
    return Array(text.utf8)
  }

  private static let total = "_total"

  private mutating func add(_ figures: HistogramFigures, _ name: String, _ labels: [MetricFamily.Label]) {
    var sum = 0
    for (place, count) in figures.counts.enumerated() {
      sum += count
      let bound = place < figures.bounds.count ? "\(figures.bounds[place])" : "+Inf"
      line(
        "\(name)_bucket", labels + [MetricFamily.Label("le", bound)], Double(sum), figures.exemplars[place])
    }
    line("\(name)_sum", labels, figures.sum)
    line("\(name)_count", labels, Double(sum))
  }

  private mutating func line(
    _ name: String, _ labels: [MetricFamily.Label], _ value: Double, _ exemplar: HistogramFigures.Exemplar? = nil
  ) {
    text += name
    if !labels.isEmpty { write(labels) }
    text += " " + Self.number(value)
    if isOpenMetrics, let exemplar {
      text += " # "
      write(exemplar.labels)
      text += " \(Self.number(exemplar.value)) \(Self.seconds(exemplar.at))"
    }
    text += "\n"
  }

  private mutating func write(_ labels: [MetricFamily.Label]) {
    text += "{"
    for (place, label) in labels.enumerated() {
      if place > 0 { text += "," }
      text += "\(label.name)=\"\(Self.escaped(label.value))\""
    }
    text += "}"
  }

  /// A whole number has no fraction.
  private static func number(_ value: Double) -> String {
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
  }

  private static func seconds(_ time: Timestamp) -> String { "\(Double(time.microseconds / 1000) / 1000)" }

  /// A label's value with the escapes of the format.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.append(character)
      }
    }
    return result
  }
}
