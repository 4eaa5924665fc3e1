/// One of a set of words that later versions of the service may extend. An unknown word is kept.
public protocol RedialWord: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible
where RawValue == String {
  /// The word itself.
  init(rawValue: String)
}

extension RedialWord {
  /// The word itself.
  public var description: String { rawValue }
}

extension RedialCall {
  /// The state of a call.
  public struct State: RedialWord {
    /// The word.
    public let rawValue: String
    /// A state with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It waits: for its start, a backoff, a breaker, its turn.
    public static let scheduled = State(rawValue: "scheduled")
    /// An attempt is in flight.
    public static let running = State(rawValue: "running")
    /// An attempt succeeded.
    public static let succeeded = State(rawValue: "succeeded")
    /// It ended without success.
    public static let failed = State(rawValue: "failed")
    /// A client cancelled it.
    public static let cancelled = State(rawValue: "cancelled")

    /// Whether the call has ended.
    public var isFinal: Bool { [.succeeded, .failed, .cancelled].contains(self) }
  }

  /// The kind of a call.
  public struct Kind: RedialWord {
    /// The word.
    public let rawValue: String
    /// A kind with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A client submitted it.
    public static let call = Kind(rawValue: "call")
    /// The service made it, to deliver a webhook.
    public static let webhook = Kind(rawValue: "webhook")
  }

  /// Why a call failed.
  public struct FailureReason: RedialWord {
    /// The word.
    public let rawValue: String
    /// A reason with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// All attempts of the policy are used up.
    public static let attemptsExhausted = FailureReason(rawValue: "attemptsExhausted")
    /// The next attempt would begin after the deadline.
    public static let deadlineExceeded = FailureReason(rawValue: "deadlineExceeded")
    /// The last outcome is not retried, or not safe to retry.
    public static let notRetryable = FailureReason(rawValue: "notRetryable")
    /// The target's breaker opened, and the policy says not to wait.
    public static let tripped = FailureReason(rawValue: "tripped")
    /// The service may not call that address.
    public static let blocked = FailureReason(rawValue: "blocked")
    /// The service died during its attempts, more than once.
    public static let attemptEndedTheService = FailureReason(rawValue: "attemptEndedTheService")
  }

  /// Why a scheduled call is not running.
  public struct WaitReason: RedialWord {
    /// The word.
    public let rawValue: String
    /// A reason with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Its start has not come.
    public static let startTime = WaitReason(rawValue: "startTime")
    /// It waits between attempts.
    public static let backoff = WaitReason(rawValue: "backoff")
    /// The target requested a wait.
    public static let retryAfter = WaitReason(rawValue: "retryAfter")
    /// The target's breaker is open.
    public static let breaker = WaitReason(rawValue: "breaker")
    /// A maximum of attempts in flight is reached.
    public static let concurrency = WaitReason(rawValue: "concurrency")
    /// The rate that was set for the target allows no more attempts for now.
    public static let rateLimit = WaitReason(rawValue: "rateLimit")
    /// The target's budget of retries is used up for now.
    public static let retryBudget = WaitReason(rawValue: "retryBudget")
    /// An earlier call with the same ordering key has not ended.
    public static let ordering = WaitReason(rawValue: "ordering")
    /// Somebody has paused the target.
    public static let paused = WaitReason(rawValue: "paused")
    /// The target gets no more requests per second than it can take.
    public static let pace = WaitReason(rawValue: "pace")
    /// All connections to the host and port of its URL are in use.
    public static let connections = WaitReason(rawValue: "connections")
  }
}

extension RedialCallAttempt {
  /// The outcome of an attempt.
  public struct Outcome: RedialWord {
    /// The word.
    public let rawValue: String
    /// An outcome with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A response arrived.
    public static let answered = Outcome(rawValue: "answered")
    /// The request was certainly not sent.
    public static let notSent = Outcome(rawValue: "notSent")
    /// It was sent, at least partly, and no usable response arrived.
    public static let maybeSent = Outcome(rawValue: "maybeSent")
    /// It can never succeed.
    public static let unusable = Outcome(rawValue: "unusable")
    /// The service's side failed.
    public static let localFault = Outcome(rawValue: "localFault")
    /// The service stopped or died meanwhile.
    public static let interrupted = Outcome(rawValue: "interrupted")
    /// Its call was cancelled.
    public static let cancelled = Outcome(rawValue: "cancelled")
    /// The service may not call that address, and made no connection.
    public static let blocked = Outcome(rawValue: "blocked")
  }

  /// The decision after an attempt.
  public struct Action: RedialWord {
    /// The word.
    public let rawValue: String
    /// An action with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The call has succeeded.
    public static let succeed = Action(rawValue: "succeed")
    /// Another attempt, after a wait.
    public static let retry = Action(rawValue: "retry")
    /// Another attempt, at a distant time that the target requested.
    public static let park = Action(rawValue: "park")
    /// No further attempt.
    public static let stop = Action(rawValue: "stop")
  }
}
