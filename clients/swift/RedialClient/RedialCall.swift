public import Foundation
internal import RedialText

/// A call as the service shows it.
///
/// Codable in the service's own JSON, so that it also reads a webhook's `data`.
public struct RedialCall: Sendable, Hashable, Identifiable {
  /// Its id; ids sort by the time of acceptance.
  public var id: String
  /// Whether a client submitted it, or the service made it to deliver a webhook.
  public var kind = Kind.call
  /// Its state.
  public var state: State
  /// Why it failed; nil unless it did.
  public var failureReason: FailureReason?
  /// The id of the issue that it belongs to, with other calls that failed alike; nil unless it failed.
  public var issue: String?
  /// Why it is not running; nil unless it is scheduled, and where only another instance knows why.
  public var waitingOn: WaitReason?
  /// As things stand, it does not run before this time; nil unless it is scheduled and that is known.
  public var nextAttemptAt: Date?
  /// The URL that it requests.
  public var url: String
  /// The method.
  public var method: String
  /// The target, with which it shares a circuit breaker and limits.
  public var target: String
  /// Its priority among the due calls of its target, 0...9, the highest first.
  public var priority = defaultPriority
  /// Calls of one target with the same key run one at a time; nil for no order.
  public var orderingKey: String?
  /// How many redirects an attempt follows.
  public var maxRedirects = 0
  /// The call that it repeats, perhaps with changes; nil if it repeats none.
  public var replayOf: String?
  /// The policy that it was accepted with: `default`, or a stored one such as `patient@3`; nil if the call brought its
  /// own.
  public var policy: String?
  /// What its client says that it is for.
  public var description: String?
  /// The labels that its client gave it.
  public var labels: [String: String]
  /// When it was accepted.
  public var createdAt: Date
  /// When it ended; nil before.
  public var finishedAt: Date?
  /// After this no attempt begins, or began; nil only of a call whose data is damaged.
  public var deadlineAt: Date?
  /// How many attempts have begun.
  public var attemptCount: Int
  /// The maximum number of attempts; nil if only the deadline limits them.
  public var maxAttempts: Int?
  /// The status of the last attempt that has ended; nil without a response, and in events.
  public var lastStatus: Int?
  /// The code of what went wrong with that attempt, such as `connectionRefused`; nil if it was answered, and in events.
  public var lastError: String?
  /// When its payloads were erased; nil if they were not.
  public var contentErasedAt: Date?
  /// The policy's settings that are allowed but rarely intended. Only the answer to its submission has them.
  public var warnings: [Warning] = []
  /// Who has run it again, the latest last, at most the latest 100. Lists leave them out.
  public var retries: [ManualRetry] = []
  /// How long it waited before its attempts, for what: `backoff`, `pace` and so on. Lists leave it out.
  public var waited: [String: Duration] = [:]
  /// The attempts that have ended, the oldest first, without their responses. Lists leave them out.
  public var attempts: [RedialCallAttempt]
  /// The captured part of the last attempt's response; nil when it had none. Lists leave it out.
  public var response: RedialCallResponse?
  /// The policy that it is retried by, with all its parts. Lists leave it out.
  public var policyInForce: RedialAPI.Policy?
  /// Its request, as its client gave it. Only ``RedialClient/call(_:withRequest:)`` has it, if asked.
  public var request: RedialAPI.Request?

  /// The priority of a call whose client names none.
  public static let defaultPriority = 5

  /// A setting of a policy that is allowed but rarely intended.
  public struct Warning: Sendable, Hashable, Codable {
    /// A stable word that programs can match.
    public var code: String
    /// A sentence for people.
    public var detail: String
  }
}

extension RedialCall: Codable {
  private enum Key: String, CodingKey {
    case id, kind, state, failureReason, issue, waitingOn, nextAttemptAt, url, method, target, priority, orderingKey
    case redirects, replayOf, policy, description, labels, createdAt, finishedAt, deadlineAt, attemptCount, maxAttempts,
      lastStatus, lastError, contentErasedAt, warnings, retries
    case waited, attempts, response, policyInForce, request
  }

  private struct Redirects: Codable {
    var max: Int
  }

  /// Reads a call from the service's JSON; unknown members are ignored.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    id = try members.decode(String.self, forKey: .id)
    kind = try members.decodeIfPresent(Kind.self, forKey: .kind) ?? .call
    state = try members.decode(State.self, forKey: .state)
    failureReason = try members.decodeIfPresent(FailureReason.self, forKey: .failureReason)
    issue = try members.decodeIfPresent(String.self, forKey: .issue)
    waitingOn = try members.decodeIfPresent(WaitReason.self, forKey: .waitingOn)
    nextAttemptAt = try members.timeIfPresent(forKey: .nextAttemptAt)
    url = try members.decode(String.self, forKey: .url)
    method = try members.decode(String.self, forKey: .method)
    target = try members.decode(String.self, forKey: .target)
    priority = try members.decodeIfPresent(Int.self, forKey: .priority) ?? Self.defaultPriority
    orderingKey = try members.decodeIfPresent(String.self, forKey: .orderingKey)
    maxRedirects = try members.decodeIfPresent(Redirects.self, forKey: .redirects)?.max ?? 0
    replayOf = try members.decodeIfPresent(String.self, forKey: .replayOf)
    policy = try members.decodeIfPresent(String.self, forKey: .policy)
    description = try members.decodeIfPresent(String.self, forKey: .description)
    labels = try members.decode([String: String].self, forKey: .labels)
    createdAt = try members.time(forKey: .createdAt)
    finishedAt = try members.timeIfPresent(forKey: .finishedAt)
    deadlineAt = try members.timeIfPresent(forKey: .deadlineAt)
    attemptCount = try members.decode(Int.self, forKey: .attemptCount)
    maxAttempts = try members.decodeIfPresent(Int.self, forKey: .maxAttempts)
    lastStatus = try members.decodeIfPresent(Int.self, forKey: .lastStatus)
    lastError = try members.decodeIfPresent(String.self, forKey: .lastError)
    contentErasedAt = try members.timeIfPresent(forKey: .contentErasedAt)
    warnings = try members.decodeIfPresent([Warning].self, forKey: .warnings) ?? []
    retries = try members.decodeIfPresent([ManualRetry].self, forKey: .retries) ?? []
    waited = try members.durations(forKey: .waited)
    attempts = try members.decodeIfPresent([RedialCallAttempt].self, forKey: .attempts) ?? []
    response = try members.decodeIfPresent(RedialCallResponse.self, forKey: .response)
    policyInForce = try members.decodeIfPresent(RedialAPI.Policy.self, forKey: .policyInForce)
    request = try members.decodeIfPresent(RedialAPI.Request.self, forKey: .request)
  }

  /// Writes the call as the service does.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    try members.encode(id, forKey: .id)
    try members.encode(kind, forKey: .kind)
    try members.encode(state, forKey: .state)
    try members.encode(failureReason, forKey: .failureReason)
    try members.encode(issue, forKey: .issue)
    try members.encode(waitingOn, forKey: .waitingOn)
    try members.encode(nextAttemptAt.flatMap(WireTime.text), forKey: .nextAttemptAt)
    try members.encode(url, forKey: .url)
    try members.encode(method, forKey: .method)
    try members.encode(target, forKey: .target)
    if priority != Self.defaultPriority { try members.encode(priority, forKey: .priority) }
    try members.encodeIfPresent(orderingKey, forKey: .orderingKey)
    if maxRedirects != 0 { try members.encode(Redirects(max: maxRedirects), forKey: .redirects) }
    try members.encodeIfPresent(replayOf, forKey: .replayOf)
    try members.encode(policy, forKey: .policy)
    try members.encodeIfPresent(description, forKey: .description)
    try members.encode(labels, forKey: .labels)
    try members.encode(WireTime.text(createdAt), forKey: .createdAt)
    try members.encode(finishedAt.flatMap(WireTime.text), forKey: .finishedAt)
    try members.encode(deadlineAt.flatMap(WireTime.text), forKey: .deadlineAt)
    try members.encode(attemptCount, forKey: .attemptCount)
    try members.encode(maxAttempts, forKey: .maxAttempts)
    try members.encodeIfPresent(lastStatus, forKey: .lastStatus)
    try members.encodeIfPresent(lastError, forKey: .lastError)
    try members.encode(contentErasedAt.flatMap(WireTime.text), forKey: .contentErasedAt)
    if !warnings.isEmpty { try members.encode(warnings, forKey: .warnings) }
    try members.encode(retries, forKey: .retries)
    try members.encode(waited.mapValues { DurationText.format($0) }, forKey: .waited)
    try members.encode(attempts, forKey: .attempts)
    try members.encode(response, forKey: .response)
    try members.encodeIfPresent(policyInForce, forKey: .policyInForce)
    try members.encodeIfPresent(request, forKey: .request)
  }
}
