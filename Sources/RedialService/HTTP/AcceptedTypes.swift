internal import HTTPServer

/// The media types that a client wants as an answer, from `Accept` (RFC 9110 section 12.5.1).
struct AcceptedTypes {
  /// Ranges such as `text/html`, `text/*` and `*/*`, in lower case, and their weights in thousandths. If one is listed
  /// twice, the lower weight counts.
  private var weights: [String: Int] = [:]

  /// - Parameter field: The field's value; without one, everything is wanted alike.
  init(_ field: String?) {
    for element in (field ?? "*/*").lowercased().split(separator: ",") {
      var parts = element.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }[...]
      guard let range = parts.popFirst() else { continue }
      let weight = parts.first { $0.hasPrefix("q=") }.map { QualityValue.thousandths($0.dropFirst(2).utf8) } ?? 1000
      weights[range] = min(weights[range] ?? weight, weight)
    }
  }

  /// The format of the metrics that is named with the highest weight; text if none is named.
  var metricFormat: MetricFormat {
    let best = MetricFormat.allCases.map { named($0.type) }.max() ?? 0
    return best > 0 ? MetricFormat.allCases.first { named($0.type) == best } ?? .text : .text
  }

  /// The weight of a type in thousandths that is named, and not only in a range; 0 if it is not.
  private func named(_ type: String) -> Int { weights[type] ?? 0 }

  /// The weight of a type in thousandths, by the most precise range that it is in; 0 if it is not wanted.
  private func weight(of type: String) -> Int {
    weights[type] ?? weights["\(type.prefix { $0 != "/" })/*"] ?? weights["*/*"] ?? 0
  }

  /// Whether a form of an answer that must be named, not only be in a range, is wanted rather than JSON.
  ///
  /// - Parameters:
  ///   - types: The form's types, in lower case.
  ///   - winsTies: Whether it is chosen also if JSON is named with the same weight.
  func prefers(_ types: [String], winsTies: Bool = false) -> Bool {
    let json = "application/json"
    let named = types.map(named).max() ?? 0
    return named > 0 && (named > weight(of: json) || named == weight(of: json) && (winsTies || weights[json] == nil))
  }
}
