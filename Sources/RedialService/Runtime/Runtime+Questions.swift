internal import HTTPServer
internal import RedialCore
internal import RedialEngine

/// Questions of clients about the service itself.
///
/// An answer retains the runtime weakly: the runtime's own lane holds the question until the engine answers.
extension Runtime {
  /// Answers whether new calls are accepted.
  ///
  /// - Parameter isBare: Whether the answer has no body.
  func showReadiness(_ responder: HTTPResponder, isBare: Bool) {
    ask {
      $0.isReady
    } then: { [weak self] isReady in
      self?.respond(responder, Answer.readiness(isReady: isReady, isBare: isBare))
    }
  }

  /// Answers with the metrics.
  func showMetrics(_ responder: HTTPResponder) {
    ask {
      $0.report()
    } then: { [weak self] report in
      guard let self else { return }
      metrics.count { $0.requests[2] += 1 }
      responder.respond(making: { [self] in Answer.metrics(exposition(of: report)) })
    }
  }

  private func exposition(of report: EngineReport) -> String {
    metrics.exposition(
      report, version: redialVersion, clockOffset: clock.offset, clockError: clock.error, waits: ends.waiting)
      + deadlines.exposition() + forecastWatch.exposition() + housekeeping.watch.exposition()
      + (spans?.exposition() ?? "")
  }
}
