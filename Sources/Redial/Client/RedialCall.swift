public import Foundation

/// A call as the service shows it.
///
/// Codable in the service's own JSON, so that it also reads a webhook's `data`.
public struct RedialCall: Sendable, Hashable, Identifiable {
  /// Its id; ids sort by the time of acceptance.
  public var id: String
  /// Its state.
  public var state: State
  /// Why it failed; nil unless it did.
  public var failureReason: FailureReason?
  /// Why it is not running; nil unless it is scheduled.
  public var waitingOn: WaitReason?
  /// When it is expected to run; nil unless it is scheduled and that is known.
  public var nextAttemptAt: Date?
  /// The URL that it requests.
  public var url: String
  /// The method.
  public var method: String
  /// The target, with which it shares a circuit breaker and limits.
  public var target: String
  /// The labels that its client gave it.
  public var labels: [String: String]
  /// When it was accepted.
  public var createdAt: Date
  /// When it ended; nil before.
  public var finishedAt: Date?
  /// After this no attempt begins; nil once it has ended.
  public var deadlineAt: Date?
  /// How many attempts have begun.
  public var attemptCount: Int
  /// The maximum number of attempts; nil if only the deadline limits them.
  public var maxAttempts: Int?
  /// The attempts that have ended, the oldest first, without their responses. Lists leave them out.
  public var attempts: [RedialCallAttempt]
  /// The captured part of the last attempt's response; nil when it had none. Lists leave it out.
  public var response: RedialCallResponse?
}

extension RedialCall: Codable {
  private enum Key: String, CodingKey {
    case id, state, failureReason, waitingOn, nextAttemptAt, url, method, target, labels, createdAt, finishedAt
    case deadlineAt, attemptCount, maxAttempts, attempts, response
  }

  /// Reads a call from the service's JSON; unknown members are ignored.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    id = try members.decode(String.self, forKey: .id)
    state = try members.decode(State.self, forKey: .state)
    failureReason = try members.decodeIfPresent(FailureReason.self, forKey: .failureReason)
    waitingOn = try members.decodeIfPresent(WaitReason.self, forKey: .waitingOn)
    nextAttemptAt = try members.timeIfPresent(forKey: .nextAttemptAt)
    url = try members.decode(String.self, forKey: .url)
    method = try members.decode(String.self, forKey: .method)
    target = try members.decode(String.self, forKey: .target)
    labels = try members.decode([String: String].self, forKey: .labels)
    createdAt = try members.time(forKey: .createdAt)
    finishedAt = try members.timeIfPresent(forKey: .finishedAt)
    deadlineAt = try members.timeIfPresent(forKey: .deadlineAt)
    attemptCount = try members.decode(Int.self, forKey: .attemptCount)
    maxAttempts = try members.decodeIfPresent(Int.self, forKey: .maxAttempts)
    attempts = try members.decodeIfPresent([RedialCallAttempt].self, forKey: .attempts) ?? []
    response = try members.decodeIfPresent(RedialCallResponse.self, forKey: .response)
  }

  /// Writes the call as the service does.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    try members.encode(id, forKey: .id)
    try members.encode(state, forKey: .state)
    try members.encode(failureReason, forKey: .failureReason)
    try members.encode(waitingOn, forKey: .waitingOn)
    try members.encode(nextAttemptAt.flatMap(WireTime.text), forKey: .nextAttemptAt)
    try members.encode(url, forKey: .url)
    try members.encode(method, forKey: .method)
    try members.encode(target, forKey: .target)
    try members.encode(labels, forKey: .labels)
    try members.encode(WireTime.text(createdAt), forKey: .createdAt)
    try members.encode(finishedAt.flatMap(WireTime.text), forKey: .finishedAt)
    try members.encode(deadlineAt.flatMap(WireTime.text), forKey: .deadlineAt)
    try members.encode(attemptCount, forKey: .attemptCount)
    try members.encode(maxAttempts, forKey: .maxAttempts)
    try members.encode(attempts, forKey: .attempts)
    try members.encode(response, forKey: .response)
  }
}
