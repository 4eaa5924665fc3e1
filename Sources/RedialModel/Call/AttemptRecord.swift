package import RedialCore

/// One attempt that has ended: its result, and the decision about the call.
package struct AttemptRecord: Sendable, Hashable {
  /// Its number, from 1.
  package var number: Int
  /// When it began.
  package var startedAt: Timestamp
  /// How it ended.
  package var result: AttemptResult
  /// What was decided about the call; nil if that is unknown.
  package var decision: AttemptDecision?

  /// Creates a record of a result.
  package init(number: Int, startedAt: Timestamp, _ result: AttemptResult, decision: AttemptDecision? = nil) {
    self.number = number
    self.startedAt = startedAt
    self.result = result
    self.decision = decision
  }

  /// Creates a record from its parts.
  package init(
    number: Int, startedAt: Timestamp, duration: Duration, outcome: OutcomeClass, status: Int? = nil,
    failure: AttemptFailure? = nil, decision: AttemptDecision? = nil, response: CapturedResponse? = nil,
    figures: ExchangeFigures? = nil
  ) {
    let result = AttemptResult(
      outcome: outcome, status: status, failure: failure, response: response, duration: duration, figures: figures)
    self.init(number: number, startedAt: startedAt, result, decision: decision)
  }

  /// How long it took; zero if unknown.
  package var duration: Duration {
    get { result.duration }
    set { result.duration = newValue }
  }
  package var outcome: OutcomeClass {
    get { result.outcome }
    set { result.outcome = newValue }
  }
  /// The status, if answered.
  package var status: Int? {
    get { result.status }
    set { result.status = newValue }
  }
  /// What went wrong, unless answered.
  package var failure: AttemptFailure? {
    get { result.failure }
    set { result.failure = newValue }
  }
  /// The captured part of the response, if answered.
  package var response: CapturedResponse? {
    _read { yield result.response }
    _modify { yield &result.response }
  }
  /// The times and the connection of the exchange; nil if unknown.
  package var figures: ExchangeFigures? {
    get { result.figures }
    set { result.figures = newValue }
  }
}

/// What went wrong with an attempt that got no response.
package struct AttemptFailure: Sendable, Hashable {
  /// A stable word in camelCase, such as `connectionRefused`.
  package var code: String
  /// A sentence for people.
  package var message: String

  /// The code of an attempt that got no response in its time.
  package static let timeout = "timeout"

  /// Creates a failure.
  package init(code: String, message: String) {
    self.code = code
    self.message = message
  }
}

/// The captured part of a response.
package struct CapturedResponse: Sendable, Hashable {
  /// Its header lines.
  package var head: HeaderBlock
  /// The first bytes of its body.
  package var body: [UInt8]
  /// Whether the body was longer.
  package var truncated: Bool

  /// Creates a captured response.
  package init(head: HeaderBlock, body: [UInt8], truncated: Bool) {
    self.head = head
    self.body = body
    self.truncated = truncated
  }
}

extension OutcomeClass {
  /// The word in the API.
  package var name: StaticString {
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
  package var name: StaticString {
    switch self {
    case .attemptsExhausted: "attemptsExhausted"
    case .deadlineExceeded: "deadlineExceeded"
    case .notRetryable: "notRetryable"
    case .tripped: "tripped"
    case .blocked: "blocked"
    }
  }
}
