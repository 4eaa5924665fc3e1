internal import HTTPServer
internal import RedialCore
internal import RedialEngine

/// Questions of clients about the service itself.
///
/// The answer to a question retains the runtime weakly: the runtime's own table holds it until the engine replies.
extension Runtime {
  /// Answers whether new calls are accepted.
  ///
  /// - Parameter isBare: Whether the answer has no body.
  func showReadiness(_ responder: HTTPResponder, isBare: Bool) {
    let token = replies.readiness.add { [weak self] isReady in
      self?.respond(responder, Answer.readiness(isReady: isReady, isBare: isBare))
    }
    post(.readiness(token))
  }

  /// Answers with the metrics.
  func showMetrics(_ responder: HTTPResponder) {
    let token = replies.report.add { [weak self] report in
      guard let self else { return }
      metrics.count { $0.requests[2] += 1 }
      responder.respond(making: { [self] in Answer.metrics(exposition(of: report)) })
    }
    post(.report(token))
  }

  private func exposition(of report: EngineReport) -> String {
    metrics.exposition(
      report, version: redialVersion, clockOffset: clock.offset, clockError: clock.error, waits: ends.waiting)
      + deadlines.exposition() + forecastWatch.exposition() + housekeeping.watch.exposition()
      + (spans?.exposition() ?? "")
  }
}
