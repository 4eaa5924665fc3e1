public import Foundation
internal import RedialText

/// One attempt of a call that has ended.
public struct RedialCallAttempt: Sendable, Hashable {
  /// Its number, from 1.
  public var number: Int
  /// When it began.
  public var startedAt: Date
  /// Its outcome.
  public var outcome: Outcome
  /// The status; nil unless it was answered.
  public var status: Int?
  /// How long it took; zero if unknown.
  public var duration: Duration
  /// What went wrong; nil when it was answered.
  public var failure: Failure?
  /// The decision about the call; nil if there was none.
  public var decision: Decision?
  /// How long the call waited before it, for what: `backoff`, `pace` and so on. Only a call that is read on its own has it.
  public var waited: [String: Duration] = [:]
  /// The captured part of its response. Only ``RedialClient/attempts(of:)`` has it.
  public var response: RedialCallResponse?

  /// What went wrong with an attempt that got no answer.
  public struct Failure: Sendable, Hashable, Codable {
    /// A stable word, such as `connectionRefused`.
    public var code: String
    /// A sentence for people.
    public var message: String
  }

  /// The decision after an attempt, and its reason.
  public struct Decision: Sendable, Hashable {
    /// The decision.
    public var action: Action
    /// Why the call failed with it, if it stopped.
    public var reason: RedialCall.FailureReason?
    /// The wait before the next attempt.
    public var after: Duration?
    /// When a parked call is retried.
    public var until: Date?
    /// The rule, in words for people.
    public var because: String?
    /// The backoff before jitter.
    public var computed: Duration?
    /// The factor by which the jitter has multiplied it.
    public var jitterFactor: Double?
    /// What limited the wait: `max`, `deadline`, `min`.
    public var clampedBy: [String]
    /// What the wait is for; nil for the backoff.
    public var waitingOn: RedialCall.WaitReason?
  }
}

extension RedialCallAttempt: Codable {
  private enum Key: String, CodingKey {
    case number, startedAt, outcome, status, duration, error, decision, waited, response
  }

  /// Reads an attempt from the service's JSON.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    number = try members.decode(Int.self, forKey: .number)
    startedAt = try members.time(forKey: .startedAt)
    outcome = try members.decode(Outcome.self, forKey: .outcome)
    status = try members.decodeIfPresent(Int.self, forKey: .status)
    duration = try members.duration(forKey: .duration)
    failure = try members.decodeIfPresent(Failure.self, forKey: .error)
    decision = try members.decodeIfPresent(Decision.self, forKey: .decision)
    waited = try members.durations(forKey: .waited)
    response = try members.decodeIfPresent(RedialCallResponse.self, forKey: .response)
  }

  /// Writes the attempt as the service does.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    try members.encode(number, forKey: .number)
    try members.encode(WireTime.text(startedAt), forKey: .startedAt)
    try members.encode(outcome, forKey: .outcome)
    try members.encode(status, forKey: .status)
    try members.encode(DurationText.format(duration), forKey: .duration)
    try members.encodeIfPresent(failure, forKey: .error)
    try members.encode(decision, forKey: .decision)
    if !waited.isEmpty { try members.encode(waited.mapValues { DurationText.format($0) }, forKey: .waited) }
    try members.encodeIfPresent(response, forKey: .response)
  }
}

extension RedialCallAttempt.Decision: Codable {
  private enum Key: String, CodingKey {
    case action, reason, after, until, because, computed, jitterFactor, clampedBy, waitingOn
  }

  /// Reads a decision from the service's JSON.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    action = try members.decode(RedialCallAttempt.Action.self, forKey: .action)
    reason = try members.decodeIfPresent(RedialCall.FailureReason.self, forKey: .reason)
    after = try members.durationIfPresent(forKey: .after)
    until = try members.timeIfPresent(forKey: .until)
    because = try members.decodeIfPresent(String.self, forKey: .because)
    computed = try members.durationIfPresent(forKey: .computed)
    jitterFactor = try members.decodeIfPresent(Double.self, forKey: .jitterFactor)
    clampedBy = try members.decodeIfPresent([String].self, forKey: .clampedBy) ?? []
    waitingOn = try members.decodeIfPresent(RedialCall.WaitReason.self, forKey: .waitingOn)
  }

  /// Writes the decision as the service does.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    try members.encode(action, forKey: .action)
    try members.encodeIfPresent(reason, forKey: .reason)
    try members.encodeIfPresent(after.map { DurationText.format($0) }, forKey: .after)
    try members.encodeIfPresent(until.flatMap(WireTime.text), forKey: .until)
    try members.encodeIfPresent(because, forKey: .because)
    try members.encodeIfPresent(computed.map { DurationText.format($0) }, forKey: .computed)
    try members.encodeIfPresent(jitterFactor, forKey: .jitterFactor)
    if !clampedBy.isEmpty { try members.encode(clampedBy, forKey: .clampedBy) }
    try members.encodeIfPresent(waitingOn, forKey: .waitingOn)
  }
}
