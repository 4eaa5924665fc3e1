internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import RedialJSON
internal import RedialText

/// The results of calls and attempts in the last quarter of an hour, day or week, in steps of equal length.
struct StatisticsWindow: Sendable {
  enum Length: String, Sendable, CaseIterable {
    case quarterHour = "15m"
    case day = "24h"
    case week = "7d"

    /// The number of its steps.
    var steps: Int {
      switch self {
      case .quarterHour: 15
      case .day: 24
      case .week: 28
      }
    }

    /// The length of a step.
    var step: Duration {
      switch self {
      case .quarterHour: .seconds(60)
      case .day: .seconds(3600)
      case .week: .seconds(6 * 3600)
      }
    }

    /// The resolution of the store's table that is used.
    var kept: StatisticsStep { self == .quarterHour ? .minute : .hour }
  }

  let length: Length
  /// When the first step begins; the last one has not ended yet.
  let from: Timestamp
  private let now: Timestamp
  private var steps: [CallTally]

  /// An empty window whose last step contains a time.
  init(_ length: Length, at now: Timestamp) {
    self.length = length
    self.now = now
    let stepLength = length.step.wholeMicroseconds
    from = Timestamp(microseconds: (now.microseconds / stepLength - Int64(length.steps) + 1) * stepLength)
    steps = Array(repeating: CallTally(), count: length.steps)
  }

  /// Replaces its content with the counts of the store.
  mutating func read(of namespace: Namespace, from reader: any CallReader) throws(StoreError) {
    steps = Array(repeating: CallTally(), count: length.steps)
    for (start, tally) in try reader.statistics(of: namespace, by: length.kept, from: from) { add(tally, at: start) }
  }

  /// Adds counts at a time, if it is within the window.
  mutating func add(_ tally: CallTally, at time: Timestamp) {
    let place = (time.microseconds - from.microseconds) / length.step.wholeMicroseconds
    guard time >= from, place < steps.count else { return }
    steps[Int(place)].add(tally)
  }

  /// Writes the window as one object.
  func write(to writer: inout JSONWriter) {
    var all = CallTally()
    for step in steps { all.add(step) }
    writer.beginObject()
    writer.field("window", length.rawValue)
    writer.field("from", from)
    writer.field("step", length.step)
    Self.write(all, over: now - from, to: &writer)
    writer.key("steps")
    writer.beginArray()
    for (place, step) in steps.enumerated() {
      writer.beginObject()
      let start = Timestamp(microseconds: from.microseconds + Int64(place) * length.step.wholeMicroseconds)
      writer.field("from", start)
      Self.write(step, over: min(length.step, now - start), to: &writer)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }

  private static func write(_ tally: CallTally, over time: Duration, to writer: inout JSONWriter) {
    writer.field("backlog", (tally.averageBacklog(over: time) * 10_000).rounded() / 10_000)
    writer.key("calls")
    writer.beginObject()
    writer.field("succeeded", tally.succeeded)
    writer.field("retried", tally.retried)
    writer.field("failed", tally.failed)
    writer.field("cancelled", tally.cancelled)
    writer.key("successRate")
    if let rate = tally.successRate { writer.double(rate) } else { writer.null() }
    writer.key("timeToSuccess")
    tally.timesToSuccess.write(to: &writer)
    writer.endObject()
    writer.key("attempts")
    writer.beginObject()
    writer.field("succeeded", tally.attempts.successes)
    writer.field("failed", tally.attempts.failures)
    writer.endObject()
    writer.key("latency")
    guard tally.attempts.attempts > 0 else { return writer.null() }
    writer.beginObject()
    for (name, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
      writer.key(name)
      writer.string(DurationText.format(tally.attempts.quantile(share) ?? .zero))
    }
    writer.endObject()
  }
}
