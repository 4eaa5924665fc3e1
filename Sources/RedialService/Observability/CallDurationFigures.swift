internal import RedialCore
internal import RedialModel

/// How long calls took until they ended, as a histogram: with a call as the example of each bucket, if its trace is recorded.
struct CallDurationFigures: Sendable {
  private let durations: CallDurations
  private let sampling: TraceSampling

  /// - Parameter sampling: Which calls without a client's trace have one.
  init(_ durations: CallDurations, sampling: TraceSampling) {
    self.durations = durations
    self.sampling = sampling
  }

  var family: MetricFamily {
    var family = MetricFamily(
      "redial_call_duration_seconds", .histogram,
      "Time from when a call was due for its first attempt until it ended, by its final state; without webhooks.")
    for state in CallState.allCases {
      guard let ends = durations[state] else { continue }
      family.add([MetricFamily.Label("state", state.rawValue)], figures(ends))
    }
    return family
  }

  private func figures(_ ends: CallDurations.Ends) -> HistogramFigures {
    var figures = HistogramFigures(
      bounds: CallDurations.bounds, counts: ends.counts, sum: Double(ends.tally.microseconds) / 1e6)
    for (place, example) in ends.examples.enumerated() {
      guard let example else { continue }
      let context = TraceContext(of: example.call, given: example.traceparent, sampling: sampling)
      guard context.isSampled else { continue }
      figures.exemplars[place] = HistogramFigures.Exemplar(
        labels: [MetricFamily.Label("trace_id", context.trace.description)], value: example.time.inSeconds,
        at: example.at)
    }
    figures.native = HistogramFigures.Native(
      schema: ExponentialBuckets.schema, firstIndex: ExponentialBuckets.firstIndex,
      counts: ends.tally.counts.map(Int.init))
    return figures
  }
}
