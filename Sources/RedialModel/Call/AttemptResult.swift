package import RedialCore

/// How an attempt ended, before anybody has decided what follows.
package struct AttemptResult: Sendable, Hashable {
  package var outcome: OutcomeClass
  /// The status, if answered.
  package var status: Int?
  /// What went wrong, unless answered.
  package var failure: AttemptFailure?
  /// The captured part of the response, if answered.
  package var response: CapturedResponse?
  /// How long it took; zero if unknown.
  package var duration: Duration
  /// The times and the connection of the exchange; nil if unknown.
  package var figures: ExchangeFigures?

  /// Creates a result.
  package init(
    outcome: OutcomeClass, status: Int? = nil, failure: AttemptFailure? = nil, response: CapturedResponse? = nil,
    duration: Duration, figures: ExchangeFigures? = nil
  ) {
    self.outcome = outcome
    self.status = status
    self.failure = failure
    self.response = response
    self.duration = duration
    self.figures = figures
  }
}
