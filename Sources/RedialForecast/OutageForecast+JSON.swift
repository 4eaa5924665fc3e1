internal import RedialCore
internal import RedialModel
package import RedialJSON
internal import RedialText

extension OutageForecast {
  /// Writes the forecast as one object: the sums, and the load over time as arrays of one number per step.
  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("calls", totals.calls)
    writer.field("attempts", totals.attempts)
    writer.field("amplification", Self.rounded(totals.amplification))
    writer.field("overload", totals.overload)
    writer.field("succeeded", totals.succeeded)
    writer.field("failed", totals.failed.values.reduce(0, +))
    writer.key("failedBy")
    writer.beginObject()
    for (reason, count) in totals.failed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      writer.key(reason.name)
      writer.integer(Int64(count))
    }
    writer.endObject()
    writer.field("unfinished", totals.unfinished)
    writer.key("peak")
    writer.beginObject()
    writer.field("attemptsPerSecond", Self.rounded(peak))
    writer.field("at", peakAt)
    writer.field("timesTheRate", Self.rounded(peak / scenario.rate))
    writer.endObject()
    writer.key("recoveredAfter")
    if let recovery { writer.string(DurationText.format(recovery)) } else { writer.null() }
    write("latency", latency, to: &writer)
    write("latencyInRecovery", latencyInRecovery, to: &writer)
    writer.field("isCutShort", isCutShort)
    writer.field("seed", Int(clamping: scenario.seed))
    writer.key("series")
    writer.beginObject()
    writer.field("step", step)
    writeSeries("callsPerSecond", to: &writer) { perSecond($0.calls) }
    writeSeries("attemptsPerSecond", to: &writer) { perSecond($0.attempts) }
    writeSeries("overloadPerSecond", to: &writer) { perSecond($0.overload) }
    writeSeries("succeededPerSecond", to: &writer) { perSecond($0.succeeded) }
    writeSeries("failedPerSecond", to: &writer) { perSecond($0.failed) }
    writeSeries("unfinished", to: &writer) { Double($0.unfinished) }
    writer.key("breakerOpen")
    writer.beginArray()
    for step in steps { writer.bool(step.isOpen) }
    writer.endArray()
    writer.endObject()
    writer.endObject()
  }

  private func write(_ name: StaticString, _ quantiles: Quantiles?, to writer: inout JSONWriter) {
    writer.key(name)
    guard let quantiles else { return writer.null() }
    writer.beginObject()
    writer.field("p50", quantiles.median)
    writer.field("p90", quantiles.p90)
    writer.field("p99", quantiles.p99)
    writer.field("longest", quantiles.longest)
    writer.endObject()
  }

  private func writeSeries(_ name: StaticString, to writer: inout JSONWriter, _ value: (Step) -> Double) {
    writer.key(name)
    writer.beginArray()
    for step in steps { writer.double(Self.rounded(value(step))) }
    writer.endArray()
  }

  func perSecond(_ count: Int) -> Double { Double(count) / step.inSeconds }

  /// Three digits after the point are more than is significant in any of these.
  private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}
