internal import Foundation
internal import RedialText

extension CallFilter: Codable {
  private enum Key: String, CodingKey {
    case state, target, labels, createdAfter, createdBefore, olderThan, attempts, waitingOn, nextAttemptBefore, status,
      outcome, failureReason, issue, url, idempotencyKey, kind
  }

  /// Reads the conditions of an operation or an issue.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    self.init()
    if let one = try? members.decode(RedialCall.State.self, forKey: .state) {
      state = [one]
    } else {
      state = try members.decodeIfPresent([RedialCall.State].self, forKey: .state) ?? []
    }
    target = try members.decodeIfPresent(String.self, forKey: .target)
    labels = try members.decodeIfPresent([String: String].self, forKey: .labels) ?? [:]
    createdAfter = try members.timeIfPresent(forKey: .createdAfter)
    createdBefore = try members.timeIfPresent(forKey: .createdBefore)
    olderThan = try members.durationIfPresent(forKey: .olderThan)
    attempts = try members.decodeIfPresent(Int.self, forKey: .attempts)
    waitingOn = try members.decodeIfPresent(RedialCall.WaitReason.self, forKey: .waitingOn)
    nextAttemptBefore = try members.timeIfPresent(forKey: .nextAttemptBefore)
    status = try members.decodeIfPresent(String.self, forKey: .status).flatMap(Self.statuses)
    outcome = try members.decodeIfPresent(RedialCallAttempt.Outcome.self, forKey: .outcome)
    failureReason = try members.decodeIfPresent(RedialCall.FailureReason.self, forKey: .failureReason)
    issue = try members.decodeIfPresent(String.self, forKey: .issue)
    url = try members.decodeIfPresent(String.self, forKey: .url)
    idempotencyKey = try members.decodeIfPresent(String.self, forKey: .idempotencyKey)
    kind = try members.decodeIfPresent(RedialCall.Kind.self, forKey: .kind)
  }

  /// Writes the conditions that are set.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    if !state.isEmpty { try members.encode(state, forKey: .state) }
    try members.encodeIfPresent(target, forKey: .target)
    if !labels.isEmpty { try members.encode(labels, forKey: .labels) }
    try members.encodeIfPresent(createdAfter.map { WireInstant($0) }, forKey: .createdAfter)
    try members.encodeIfPresent(createdBefore.map { WireInstant($0) }, forKey: .createdBefore)
    try members.encodeIfPresent(olderThan.map { WireSpan($0) }, forKey: .olderThan)
    try members.encodeIfPresent(attempts, forKey: .attempts)
    try members.encodeIfPresent(waitingOn, forKey: .waitingOn)
    try members.encodeIfPresent(nextAttemptBefore.map { WireInstant($0) }, forKey: .nextAttemptBefore)
    try members.encodeIfPresent(status.map(PolicyVocabulary.text), forKey: .status)
    try members.encodeIfPresent(outcome, forKey: .outcome)
    try members.encodeIfPresent(failureReason, forKey: .failureReason)
    try members.encodeIfPresent(issue, forKey: .issue)
    try members.encodeIfPresent(url, forKey: .url)
    try members.encodeIfPresent(idempotencyKey, forKey: .idempotencyKey)
    try members.encodeIfPresent(kind, forKey: .kind)
  }

  /// A status, or a range such as `500-599`.
  private static func statuses(_ text: String) -> ClosedRange<Int>? {
    let bounds = text.split(separator: "-").compactMap { Int($0) }
    guard let first = bounds.first, let last = bounds.last, first <= last else { return nil }
    return first...last
  }
}
