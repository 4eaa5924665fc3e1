/// The end of one attempt, as far as the decision needs it.
public struct AttemptEnd: Sendable, Hashable {
  /// The outcome of the attempt.
  public var outcome: OutcomeClass
  /// Whether a part of the request may have been sent before this side failed, which a ``OutcomeClass/localFault``
  /// alone does not show.
  public var mayHaveLeft: Bool
  /// Whether the request was sent on a connection that had served before. A server that ends such a connection because
  /// it was idle may send 408 first (RFC 9110 §15.5.9): that is no answer to the request, and no word about it.
  public var isOnUsedConnection: Bool
  /// The status, if answered.
  public var status: Int
  /// The wait that the target asked for, already parsed; nil if it asked for none. A wait shorter than the backoff
  /// changes nothing.
  public var retryAfter: Duration?
  /// The target's directive about retries, from its own field.
  public var directive: RetryDirective?
  /// Whether the target may still be executing an earlier attempt, and recognizes this one as its repetition by a key
  /// that both have.
  public var mayBeProcessing: Bool
  /// How many attempts have been made, including this one.
  public var attempts: Int
  /// When the call's time began.
  public var startedAt: Timestamp
  /// The waits that the backoff has given so far.
  public var waits: WaitHistory

  /// Creates the description of an attempt's end.
  public init(
    outcome: OutcomeClass, status: Int = 0, retryAfter: Duration? = nil, directive: RetryDirective? = nil,
    attempts: Int, startedAt: Timestamp, waits: WaitHistory = .none, mayHaveLeft: Bool = false,
    mayBeProcessing: Bool = false, isOnUsedConnection: Bool = false
  ) {
    self.outcome = outcome
    self.mayHaveLeft = mayHaveLeft
    self.mayBeProcessing = mayBeProcessing
    self.isOnUsedConnection = isOnUsedConnection
    self.status = status
    self.retryAfter = retryAfter
    self.directive = directive
    self.attempts = attempts
    self.startedAt = startedAt
    self.waits = waits
  }

  /// The end's effect on the breaker: transport failures, including timeouts, server errors and 429 are failures; other
  /// responses are successes; faults on this side do not count.
  public var breakerResult: CircuitBreaker.Result { Self.breakerResult(of: outcome, status: status) }

  /// Whether a 409 means that the target is still processing an earlier attempt with the same `Idempotency-Key`
  /// (draft-ietf-httpapi-idempotency-key-header §2.7).
  var saysStillProcessing: Bool { outcome == .answered && status == 409 && mayBeProcessing }

  /// The effect of an outcome on the breaker; see ``breakerResult``.
  public static func breakerResult(of outcome: OutcomeClass, status: Int) -> CircuitBreaker.Result {
    switch outcome {
    case .answered: status >= 500 || status == 429 ? .failure : .success
    case .notSent, .maybeSent: .failure
    case .unusable, .localFault, .interrupted, .cancelled, .blocked: .ignored
    }
  }
}

/// The meaning of an attempt's end for the call.
public enum RetryClassification: UInt8, Sendable, Hashable, CaseIterable {
  /// It succeeded.
  case success
  /// A retry may succeed.
  case transient
  /// The target is overloaded.
  case throttling
  /// A retry cannot succeed.
  case permanent
  /// This side interrupted it, and it says nothing.
  case ignored
}
