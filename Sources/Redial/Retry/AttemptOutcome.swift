/// The meaning of an attempt's error, in the words of policies.
public enum AttemptOutcome: Sendable, Hashable {
  /// A response arrived, with this status, and maybe with a Retry-After or a directive about retries.
  case answered(status: Int, retryAfter: Duration? = nil, directive: RetryDirective? = nil)
  /// The work was certainly not begun: it may always be repeated.
  case notSent
  /// The work may have been done, partly or whole: it may be repeated if it is idempotent.
  case maybeSent
  /// It can never succeed.
  case unusable
  /// This side failed; the target is not at fault.
  case localFault

  /// The class and the status for the core's decision.
  var end: (outcome: OutcomeClass, status: Int) {
    switch self {
    case .answered(let status, _, _): (.answered, status)
    case .notSent: (.notSent, 0)
    case .maybeSent: (.maybeSent, 0)
    case .unusable: (.unusable, 0)
    case .localFault: (.localFault, 0)
    }
  }
}

/// An error with its own meaning for a retry.
///
/// Errors that do not conform count as ``AttemptOutcome/maybeSent``, unless ``Retrier/outcome`` says otherwise.
public protocol RetryOutcomeProviding: Error {
  /// Its meaning.
  var retryOutcome: AttemptOutcome { get }
}

/// An attempt took longer than its policy allows; its work was cancelled.
public struct AttemptTimeout: RetryOutcomeProviding, Hashable, CustomStringConvertible {
  /// Its timeout.
  public var limit: Duration
  /// It may have done its work.
  public var retryOutcome: AttemptOutcome { .maybeSent }
  /// For logs.
  public var description: String { "the attempt took longer than \(limit.forPeople)" }

  /// Creates the error.
  public init(limit: Duration) { self.limit = limit }
}
