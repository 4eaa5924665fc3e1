/// One attempt's end, as far as the decision needs it.
public struct AttemptEnd: Sendable, Hashable {
  /// How far the attempt got.
  public var outcome: OutcomeClass
  /// Whether something of the request may have left before this side failed, which a ``OutcomeClass/localFault`` alone
  /// does not say.
  public var mayHaveLeft: Bool
  /// The status, when answered.
  public var status: Int
  /// The wait that the target asked for, already parsed; nil when it asked for none. A wait
  /// shorter than the backoff changes nothing.
  public var retryAfter: Duration?
  /// What the target said about retries in a field of its own.
  public var directive: RetryDirective?
  /// How many attempts have been made, this one included.
  public var attempts: Int
  /// When the call's time began.
  public var startedAt: Timestamp
  /// The waits that the backoff has given so far.
  public var waits: WaitHistory

  /// Creates the description of an attempt's end.
  public init(
    outcome: OutcomeClass, status: Int = 0, retryAfter: Duration? = nil, directive: RetryDirective? = nil,
    attempts: Int, startedAt: Timestamp, waits: WaitHistory = .none, mayHaveLeft: Bool = false
  ) {
    self.outcome = outcome
    self.mayHaveLeft = mayHaveLeft
    self.status = status
    self.retryAfter = retryAfter
    self.directive = directive
    self.attempts = attempts
    self.startedAt = startedAt
    self.waits = waits
  }

  /// What the end says about the target's health: transport failures, timeouts among them, server errors and 429
  /// count against it; other answers count for it; what was our own doing counts as nothing.
  public var breakerResult: CircuitBreaker.Result { Self.breakerResult(of: outcome, status: status) }

  /// What an outcome says about the target's health; see ``breakerResult``.
  public static func breakerResult(of outcome: OutcomeClass, status: Int) -> CircuitBreaker.Result {
    switch outcome {
    case .answered: status >= 500 || status == 429 ? .failure : .success
    case .notSent, .maybeSent: .failure
    case .unusable, .localFault, .interrupted, .cancelled, .blocked: .ignored
    }
  }
}

/// What an attempt's end means for the call.
public enum RetryClassification: UInt8, Sendable, Hashable, CaseIterable {
  /// It did what it should.
  case success
  /// It may do better next time.
  case transient
  /// The target has had too much.
  case throttling
  /// It will not do better.
  case permanent
  /// It was cut off by this side, and says nothing.
  case ignored
}
