internal import RedialCore

/// Writes `io.prometheus.client.MetricFamily` messages, each after its length. The numbers are those of Prometheus'
/// `metrics.proto`.
struct MetricProtobuf: Sendable {
  private(set) var bytes: [UInt8] = []

  mutating func add(_ family: MetricFamily) {
    var message = Message()
    message.text(1, family.name)
    message.text(2, family.help)
    switch family.kind {
    case .counter: message.number(3, 0)
    case .gauge: message.number(3, 1)
    case .histogram: message.number(3, 4)
    }
    for sample in family.samples {
      var metric = Message()
      for label in sample.labels { metric.message(1, Self.pair(label)) }
      switch sample.value {
      case .number(let value):
        var figure = Message()
        figure.double(1, value)
        metric.message(family.kind == .counter ? 3 : 2, figure)
      case .histogram(let figures): metric.message(7, Self.histogram(figures))
      }
      message.message(4, metric)
    }
    var length = Message()
    length.varint(UInt64(message.bytes.count))
    bytes += length.bytes + message.bytes
  }

  private static func pair(_ label: MetricFamily.Label) -> Message {
    var message = Message()
    message.text(1, label.name)
    message.text(2, label.value)
    return message
  }

  private static func histogram(_ figures: HistogramFigures) -> Message {
    var message = Message()
    message.number(1, UInt64(figures.total))
    message.double(2, figures.sum)
    var sum = 0
    for (place, count) in figures.counts.enumerated() {
      sum += count
      var bucket = Message()
      bucket.number(1, UInt64(sum))
      bucket.double(2, place < figures.bounds.count ? figures.bounds[place] : .infinity)
      if let exemplar = figures.exemplars[place] { bucket.message(3, Self.exemplar(exemplar)) }
      message.message(3, bucket)
    }
    if let native = figures.native { add(native, to: &message) }
    return message
  }

  /// Its buckets: the spans of those that have values, and the differences between their counts.
  private static func add(_ native: HistogramFigures.Native, to message: inout Message) {
    message.signed(5, Int64(native.schema))
    // A value of 0 would be in the bucket of zero, which has none: its place is the first bucket.
    message.double(6, 0)
    message.number(7, 0)
    var deltas = Message()
    var (before, next) = (0, 0)
    var place = 0
    while place < native.counts.count {
      guard native.counts[place] > 0 else {
        place += 1
        continue
      }
      let start = place
      while place < native.counts.count, native.counts[place] > 0 {
        deltas.zigzag(Int64(native.counts[place] - before))
        before = native.counts[place]
        place += 1
      }
      var span = Message()
      // The first offset is the number of its bucket, the others are gaps.
      span.signed(1, Int64(native.firstIndex + start - next))
      span.number(2, UInt64(place - start))
      next = native.firstIndex + place
      message.message(12, span)
    }
    // A histogram without spans would be taken for a classic one.
    if deltas.bytes.isEmpty { message.message(12, Message()) } else { message.message(13, deltas) }
  }

  private static func exemplar(_ exemplar: HistogramFigures.Exemplar) -> Message {
    var time = Message()
    time.number(1, UInt64(exemplar.at.microseconds / 1_000_000))
    time.number(2, UInt64(exemplar.at.microseconds % 1_000_000 * 1000))
    var message = Message()
    for label in exemplar.labels { message.message(1, pair(label)) }
    message.double(2, exemplar.value)
    message.message(3, time)
    return message
  }

  /// A message of protocol buffers.
  private struct Message {
    var bytes: [UInt8] = []

    mutating func varint(_ value: UInt64) {
      var value = value
      while value >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
        value >>= 7
      }
      bytes.append(UInt8(value))
    }

    mutating func zigzag(_ value: Int64) { varint(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

    private mutating func tag(_ field: Int, _ type: Int) { varint(UInt64(field << 3 | type)) }

    mutating func number(_ field: Int, _ value: UInt64) {
      tag(field, 0)
      varint(value)
    }

    mutating func signed(_ field: Int, _ value: Int64) {
      tag(field, 0)
      zigzag(value)
    }

    mutating func double(_ field: Int, _ value: Double) {
      tag(field, 1)
      for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value.bitPattern >> shift)) }
    }

    mutating func text(_ field: Int, _ value: String) { raw(field, Array(value.utf8)) }

    mutating func message(_ field: Int, _ value: Message) { raw(field, value.bytes) }

    private mutating func raw(_ field: Int, _ value: [UInt8]) {
      tag(field, 2)
      varint(UInt64(value.count))
      bytes += value
    }
  }
}
