public import RedialCore

/// One attempt that has ended: its result, and the decision about the call.
public struct AttemptRecord: Sendable, Hashable {
  /// Its number, from 1.
  public var number: Int
  /// When it began.
  public var startedAt: Timestamp
  /// How it ended.
  public var result: AttemptResult
  /// What was decided about the call; nil if that is unknown.
  public var decision: AttemptDecision?
  /// The namespace of the call, by whose key a store encrypts the answer. One that is read has the default one.
  public var namespace = Namespace.default

  /// Creates a record of a result.
  public init(number: Int, startedAt: Timestamp, _ result: AttemptResult, decision: AttemptDecision? = nil) {
    self.number = number
    self.startedAt = startedAt
    self.result = result
    self.decision = decision
  }

  /// Creates a record from its parts.
  public init(
    number: Int, startedAt: Timestamp, duration: Duration, outcome: OutcomeClass, status: Int? = nil,
    failure: AttemptFailure? = nil, decision: AttemptDecision? = nil, response: CapturedResponse? = nil,
    figures: ExchangeFigures? = nil
  ) {
    let result = AttemptResult(
      outcome: outcome, status: status, failure: failure, response: response, duration: duration, figures: figures)
    self.init(number: number, startedAt: startedAt, result, decision: decision)
  }

  /// How long it took; zero if unknown.
  public var duration: Duration {
    get { result.duration }
    set { result.duration = newValue }
  }
  public var outcome: OutcomeClass {
    get { result.outcome }
    set { result.outcome = newValue }
  }
  /// The status of the response, even if it is not whole.
  public var status: Int? {
    get { result.status }
    set { result.status = newValue }
  }
  /// What went wrong. If answered, what is wrong with the response besides its status.
  public var failure: AttemptFailure? {
    get { result.failure }
    set { result.failure = newValue }
  }
  /// The captured part of the response, as far as it has arrived.
  public var response: CapturedResponse? {
    _read { yield result.response }
    _modify { yield &result.response }
  }
  /// The times and the connection of the exchange; nil if unknown.
  public var figures: ExchangeFigures? {
    get { result.figures }
    set { result.figures = newValue }
  }
}

extension AttemptRecord {
  /// Forgets what the answer of a sensitive call's target says, and error texts, which may quote it. Nobody may see
  /// them, so they are not stored either.
  public mutating func forgetAnswer() {
    response = nil
    failure?.message = ""
  }
}

/// What went wrong with an attempt, or with the response to it.
public struct AttemptFailure: Sendable, Hashable {
  /// A stable word in camelCase, such as `connectionRefused`.
  public var code: String
  /// A sentence for people.
  public var message: String

  /// The code of an attempt that got no response in its time.
  public static let timeout = "timeout"
  /// The code of an attempt that was not made, because the credential of its call could not be had.
  public static let credentialUnavailable = "credentialUnavailable"

  /// The process died during an attempt.
  public static let interrupted = AttemptFailure(
    code: "interrupted", message: "Redial stopped while the attempt was in flight; its result is unknown.")
  /// The status is 401, and the attempt had an access token that is not valid any more, or a credential that has changed since.
  public static let tokenRefused = AttemptFailure(
    code: "tokenRefused",
    message: "The target refused the credential as it was; the next attempt has another token, or the new secret.")
  /// It died so again, and the attempt is the cause.
  public static let endedTheService = AttemptFailure(
    code: "attemptEndedTheService",
    message: "Redial died while the attempt was in flight, and had died so before. The call is not tried again.")

  /// Creates a failure.
  public init(code: String, message: String) {
    self.code = code
    self.message = message
  }
}

/// The captured part of a response.
public struct CapturedResponse: Sendable, Hashable {
  /// Its header lines.
  public var head: HeaderBlock
  /// The first bytes of its body.
  public var body: [UInt8]
  /// Whether the body was longer, or is not whole.
  public var truncated: Bool

  /// Creates a captured response.
  public init(head: HeaderBlock, body: [UInt8], truncated: Bool) {
    self.head = head
    self.body = body
    self.truncated = truncated
  }
}

extension OutcomeClass {
  /// The word in the API.
  public var name: StaticString {
    switch self {
    case .answered: "answered"
    case .notSent: "notSent"
    case .maybeSent: "maybeSent"
    case .unusable: "unusable"
    case .localFault: "localFault"
    case .interrupted: "interrupted"
    case .cancelled: "cancelled"
    case .blocked: "blocked"
    }
  }
}

extension StopReason {
  /// The word in the API.
  public var name: StaticString {
    switch self {
    case .attemptsExhausted: "attemptsExhausted"
    case .deadlineExceeded: "deadlineExceeded"
    case .notRetryable: "notRetryable"
    case .tripped: "tripped"
    case .blocked: "blocked"
    case .attemptEndedTheService: "attemptEndedTheService"
    }
  }
}
