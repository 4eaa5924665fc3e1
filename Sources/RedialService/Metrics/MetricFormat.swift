/// The formats in which a scraper can have the metrics, the ones with most in them first.
enum MetricFormat: Sendable, CaseIterable {
  /// Prometheus' protocol buffers, which alone can have native histograms.
  case protobuf
  /// OpenMetrics 1.0, which has exemplars.
  case openMetrics
  /// The Prometheus text exposition format 0.0.4.
  case text

  /// The media type, as clients name it.
  var type: String {
    switch self {
    case .protobuf: "application/vnd.google.protobuf"
    case .openMetrics: "application/openmetrics-text"
    case .text: "text/plain"
    }
  }

  /// The `Content-Type` of the answer.
  var contentType: String {
    switch self {
    case .protobuf: "\(type); proto=io.prometheus.client.MetricFamily; encoding=delimited"
    case .openMetrics: "\(type); version=1.0.0; charset=utf-8"
    case .text: "\(type); version=0.0.4; charset=utf-8"
    }
  }

  /// Encodes families.
  func encode(_ families: [MetricFamily]) -> [UInt8] {
    switch self {
    case .protobuf:
      var encoder = MetricProtobuf()
      for family in families { encoder.add(family) }
      return encoder.bytes
    case .openMetrics, .text:
      var encoder = MetricText(isOpenMetrics: self == .openMetrics)
      for family in families { encoder.add(family) }
      return encoder.end()
    }
  }
}
