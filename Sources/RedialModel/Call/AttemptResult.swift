public import RedialCore

/// How an attempt ended, before anybody has decided what follows.
public struct AttemptResult: Sendable, Hashable {
  public var outcome: OutcomeClass
  /// The status of the response, even if it is not whole.
  public var status: Int?
  /// What went wrong. If answered, what is wrong with the response besides its status.
  public var failure: AttemptFailure?
  /// The captured part of the response, as far as it has arrived.
  public var response: CapturedResponse?
  /// How long it took; zero if unknown.
  public var duration: Duration
  /// The times and the connection of the exchange; nil if unknown.
  public var figures: ExchangeFigures?

  /// What the attempt failed with; nil if its status decides, whatever else is wrong with the response.
  public var decisiveFailure: AttemptFailure? { outcome == .answered ? nil : failure }

  /// Creates a result.
  public init(
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
