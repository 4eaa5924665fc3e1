/// What an attempt's error says, in the words that policies decide by.
public enum AttemptOutcome: Sendable, Hashable {
  /// A response came, with this status; perhaps it says when to come back, or whether to.
  case answered(status: Int, retryAfter: Duration? = nil, directive: RetryDirective? = nil)
  /// The work was provably not begun: it may be repeated in any case.
  case notSent
  /// The work may have been done, in part or whole: it may be repeated if it is idempotent.
  case maybeSent
  /// It can never succeed as it stands.
  case unusable
  /// This side failed; the target is not to blame.
  case localFault

  /// The class and the status that the core decides by.
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

/// An error that knows what it means for a retry.
///
/// Errors that do not conform count as ``AttemptOutcome/maybeSent``, unless ``Retrier/outcome`` says otherwise.
public protocol RetryOutcomeProviding: Error {
  /// What it means.
  var retryOutcome: AttemptOutcome { get }
}

/// An attempt took longer than its policy allows; its work was cancelled.
public struct AttemptTimeout: RetryOutcomeProviding, Hashable, CustomStringConvertible {
  /// The time that it had.
  public var limit: Duration
  /// It may have done its work.
  public var retryOutcome: AttemptOutcome { .maybeSent }
  /// For logs.
  public var description: String { "the attempt took longer than \(limit.forPeople)" }

  /// Creates the error.
  public init(limit: Duration) { self.limit = limit }
}
