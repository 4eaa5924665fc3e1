import RedialCore
import RedialModel
import Testing

@testable import RedialService

@Suite("The formats of the metrics")
struct MetricFormatTests {
  private static let families: [MetricFamily] = {
    var counter = MetricFamily("x_total", .counter, "Things.")
    counter.add([MetricFamily.Label("target", "a\\b\"c\nd")], 3)
    var figures = HistogramFigures(bounds: [0.5, 10], counts: [1, 0, 2], sum: 100.25)
    figures.exemplars[2] = HistogramFigures.Exemplar(
      labels: [MetricFamily.Label("trace_id", "abc")], value: 61.5, at: Timestamp(microseconds: 1_796_083_200_250_000))
    figures.native = HistogramFigures.Native(schema: 1, firstIndex: -4, counts: [0, 1, 0, 0, 0, 0, 0, 0, 2, 5])
    return [counter, MetricFamily("y", .gauge, "Seconds.", 0.25), MetricFamily("z_seconds", "Times.", figures)]
  }()

  private func text(_ format: MetricFormat) -> [String] {
    String(decoding: format.encode(Self.families), as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false
    )
    .map(String.init)
  }

  @Test("text 0.0.4 has no exemplars")
  func plain() {
    #expect(
      text(.text) == [
        "# HELP x_total Things.", "# TYPE x_total counter", #"x_total{target="a\\b\"c\nd"} 3"#,
        "# HELP y Seconds.", "# TYPE y gauge", "y 0.25",
        "# HELP z_seconds Times.", "# TYPE z_seconds histogram", #"z_seconds_bucket{le="0.5"} 1"#,
        #"z_seconds_bucket{le="10.0"} 1"#, #"z_seconds_bucket{le="+Inf"} 3"#, "z_seconds_sum 100.25",
        "z_seconds_count 3",
        "",
      ])
  }

  @Test("OpenMetrics names a counter's family without its ending, and has exemplars and an end")
  func openMetrics() {
    let lines = text(.openMetrics)
    #expect(lines.starts(with: ["# HELP x Things.", "# TYPE x counter"]))
    #expect(lines.contains(#"x_total{target="a\\b\"c\nd"} 3"#))
    #expect(lines.contains(#"z_seconds_bucket{le="+Inf"} 3 # {trace_id="abc"} 61.5 1796083200.25"#))
    #expect(lines.suffix(2) == ["# EOF", ""])
  }

  /// The fields of a message of protocol buffers, by number.
  private struct Fields {
    var numbers: [Int: [UInt64]] = [:]
    var bytes: [Int: [[UInt8]]] = [:]

    init(_ message: [UInt8]) {
      var place = 0
      func varint() -> UInt64 {
        var (value, shift) = (UInt64(0), UInt64(0))
        while true {
          let byte = message[place]
          place += 1
          value |= UInt64(byte & 0x7F) << shift
          shift += 7
          if byte < 0x80 { return value }
        }
      }
      while place < message.count {
        let tag = Int(varint())
        switch tag & 7 {
        case 0: numbers[tag >> 3, default: []].append(varint())
        case 1:
          numbers[tag >> 3, default: []].append(
            message[place..<place + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) })
          place += 8
        default:
          let count = Int(varint())
          bytes[tag >> 3, default: []].append(Array(message[place..<place + count]))
          place += count
        }
      }
    }

    func double(_ field: Int) -> Double? { numbers[field]?.first.map(Double.init(bitPattern:)) }
    func text(_ field: Int) -> String? { bytes[field]?.first.map { String(decoding: $0, as: UTF8.self) } }
    func fields(_ field: Int) -> [Fields] { (bytes[field] ?? []).map(Fields.init) }
  }

  private static func zigzag(_ value: UInt64?) -> Int64? { value.map { Int64($0 >> 1) ^ -Int64($0 & 1) } }

  @Test("the protocol buffers have each message after its length, and native histograms in spans")
  func protobuf() throws {
    var rest = MetricFormat.protobuf.encode(Self.families)[...]
    var families: [Fields] = []
    while let length = rest.popFirst() {
      #expect(length < 0x80 || rest.first != nil)
      var count = Int(length & 0x7F)
      if length >= 0x80, let high = rest.popFirst() { count |= Int(high) << 7 }
      families.append(Fields(Array(rest.prefix(count))))
      rest = rest.dropFirst(count)
    }
    #expect(families.map { $0.text(1) } == ["x_total", "y", "z_seconds"])
    #expect(families.map { $0.numbers[3] } == [[0], [1], [4]])
    let counted = try #require(families[0].fields(4).first)
    #expect(counted.fields(1).first?.text(2) == "a\\b\"c\nd" && counted.fields(3).first?.double(1) == 3)
    #expect(families[1].fields(4).first?.fields(2).first?.double(1) == 0.25)
    let histogram = try #require(families[2].fields(4).first?.fields(7).first)
    #expect(histogram.numbers[1] == [3] && histogram.double(2) == 100.25)
    let buckets = histogram.fields(3)
    #expect(buckets.map { $0.double(2) } == [0.5, 10, .infinity])
    let exemplar = try #require(buckets.last?.fields(3).first)
    #expect(exemplar.double(2) == 61.5 && exemplar.fields(3).first?.numbers[2] == [250_000_000])
    // Bucket -3 has 1, and the buckets 4 and 5 have 2 and 5.
    let schema = histogram.numbers[5]?.first
    #expect(Self.zigzag(schema) == 1)
    let spans = histogram.fields(12)
    #expect(spans.map { Self.zigzag($0.numbers[1]?.first) } == [-3, 6] && spans.map { $0.numbers[2] } == [[1], [2]])
    #expect(histogram.bytes[13] == [[2, 2, 6]])
  }

  @Test(
    "a client gets the format that it names with the highest weight, and text if it names none",
    arguments: [
      (nil, .text), ("*/*", .text), ("text/html", .text), ("application/openmetrics-text; version=1.0.0", .openMetrics),
      (
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        .openMetrics
      ),
      (
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        .protobuf
      ), ("text/plain,application/openmetrics-text;q=0.9", .text),
    ] as [(String?, MetricFormat)])
  func wanted(accept: String?, format: MetricFormat) {
    #expect(AcceptedTypes(accept).metricFormat == format)
  }
}
