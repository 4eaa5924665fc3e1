internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// What programs that watch the service ask.
struct Monitoring: Sendable {
  let stage: ServiceStage
  let engine: EngineLane
  let queries: Queries
  let metrics: Metrics
  let attempts: AttemptLane
  let clock: Clock
  let ends: EndTable
  let storeWatch: StoreWatch
  let spans: SpanExporter?
  let sampling: TraceSampling
  /// The kind of the store, as a word.
  let storeKind: String

  /// Answers whether new calls are accepted.
  ///
  /// - Parameter isBare: Whether the answer has no body.
  func showReadiness(_ responder: HTTPResponder, isBare: Bool) {
    // The engine answers no question before it has its state.
    if let refusal = stage.refusal {
      return queries.respond(responder, Answer.readiness(refusal.detail, isBare: isBare))
    }
    engine.ask {
      $0.unreadiness
    } then: { reason in
      queries.respond(responder, Answer.readiness(reason?.notice, isBare: isBare))
    }
  }

  /// Answers with the metrics.
  func showMetrics(_ format: MetricFormat, _ responder: HTTPResponder) {
    engine.ask {
      $0.report()
    } then: { report in
      metrics.count { $0.requests[2] += 1 }
      responder.respond(making: { Answer.metrics(families(of: report), format) })
    }
  }

  private func families(of report: EngineReport) -> [MetricFamily] {
    metrics.families(
      report, version: redialVersion, store: storeKind, clockOffset: clock.offset, clockError: clock.error,
      waits: ends.waiting, abandonedConnections: attempts.abandonedConnections, sampling: sampling)
      + storeWatch.families + (spans?.families ?? [])
      + ProcessFigures.families
  }
}
