internal import RedialText

/// A policy in the words of the API: only the named parts.
package struct WirePolicy: Encodable {
  // The parts, as in `RetryPolicy`. No number of attempts is no limit, or the service's default.
  package var maxAttempts: Int?
  package var deadline: Duration?
  package var attemptTimeout: Duration?
  package var lastAttempt: DeadlineRule.LastAttempt?
  package var minimumAttemptTime: Duration?
  package var backoff: Backoff?
  package var network: NetworkRetry?
  package var statuses: StatusSet?
  package var statusesWithRetryAfter: StatusSet?
  package var stopOn: StatusSet?
  package var retryAfter: RetryAfterRule?
  package var onTrip: TripBehavior?

  static let attempts = 1...1000
  static let hour = Duration.milliseconds(1)...Duration.seconds(3600)
  static let deadlines = Duration.milliseconds(1)...WireDuration.longest
  static let maximumRanges = 100

  /// The members; a policy that the service shows has all of them.
  enum Key: String, CodingKey, CaseIterable {
    case maxAttempts, deadline, lastAttempt, minimumAttemptTime = "minAttemptTime", attemptTimeout, backoff, retryOn,
      stopOn, retryAfter
    case onTrip
  }

  /// No part.
  package init() {}

  /// Every part of a policy.
  ///
  /// - Throws: ``UnsupportedByService`` for what the API has no words for.
  package init(_ policy: RetryPolicy) throws {
    guard policy.initialDelay == .none else {
      throw UnsupportedByService("policy.initialDelay", "a wait before the first attempt; say it by the call's start")
    }
    guard policy.deadlineRule.measure == .elapsed else {
      throw UnsupportedByService(
        "policy.deadlineRule.measure", "a deadline that counts waits alone; the service counts all time")
    }
    guard policy.throttlingBackoff == nil else {
      throw UnsupportedByService("policy.throttlingBackoff", "a backoff of its own after throttling")
    }
    if policy.maxAttempts != RetryPolicy.unlimited { maxAttempts = policy.maxAttempts }
    deadline = policy.deadline
    attemptTimeout = policy.attemptTimeout
    lastAttempt = policy.deadlineRule.lastAttempt
    minimumAttemptTime = policy.deadlineRule.minimumAttemptTime
    backoff = policy.backoff
    network = policy.retryOn.network
    statuses = policy.retryOn.statuses
    statusesWithRetryAfter = policy.retryOn.statusesWithRetryAfter
    stopOn = policy.stopOn
    retryAfter = policy.retryAfter
    onTrip = policy.onTrip
  }

  /// - Throws: ``UnsupportedByService``, naming the part that the service does not support.
  package func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    if let maxAttempts {
      try members.encode(
        UnsupportedByService.check(maxAttempts, in: Self.attempts, part: "policy.maxAttempts"), forKey: .maxAttempts)
    }
    if let deadline {
      let text = try WireDuration.text(min(deadline, WireDuration.longest), in: Self.deadlines, part: "policy.deadline")
      try members.encode(text, forKey: .deadline)
    }
    if let lastAttempt { try members.encode(PolicyVocabulary.word(of: lastAttempt), forKey: .lastAttempt) }
    if let minimumAttemptTime {
      let text = try WireDuration.text(
        minimumAttemptTime, in: .zero...Self.hour.upperBound, part: "policy.deadlineRule.minimumAttemptTime")
      try members.encode(text, forKey: .minimumAttemptTime)
    }
    if let attemptTimeout {
      let timeout = attemptTimeout >= .longest ? Self.hour.upperBound : attemptTimeout
      try members.encode(
        WireDuration.text(timeout, in: Self.hour, part: "policy.attemptTimeout"), forKey: .attemptTimeout)
    }
    try members.encodeIfPresent(backoff.map(WireBackoff.init), forKey: .backoff)
    if network != nil || statuses != nil || statusesWithRetryAfter != nil {
      try members.encode(retryOn(), forKey: .retryOn)
    }
    if let stopOn {
      try members.encode(["statuses": Self.text(stopOn, part: "policy.stopOn")], forKey: .stopOn)
    }
    try members.encodeIfPresent(retryAfter.map(Self.retryAfter), forKey: .retryAfter)
    try members.encodeIfPresent(onTrip.map { PolicyVocabulary.word(of: $0) }, forKey: .onTrip)
  }

  private struct RetryOn: Encodable {
    var network: String?
    var statuses: [String]?
    var statusesWithRetryAfter: [String]?
  }

  private func retryOn() throws -> RetryOn {
    return RetryOn(
      network: network.map { PolicyVocabulary.word(of: $0) },
      statuses: try statuses.map { try Self.text($0, part: "policy.retryOn.statuses") },
      statusesWithRetryAfter: try statusesWithRetryAfter.map {
        try Self.text($0, part: "policy.retryOn.statusesWithRetryAfter")
      })
  }

  private static func text(_ set: StatusSet, part: String) throws -> [String] {
    guard set.ranges.count <= maximumRanges else {
      throw UnsupportedByService(part, "more than \(maximumRanges) ranges")
    }
    return try set.ranges.map { range in
      let first = try UnsupportedByService.check(range.lowerBound, in: PolicyVocabulary.statuses, part: part)
      let last = try UnsupportedByService.check(range.upperBound, in: PolicyVocabulary.statuses, part: part)
      return PolicyVocabulary.text(first...last)
    }
  }

  private struct RetryAfter: Encodable {
    var mode: String
    var max: String
    var beyond: String
    var spread: Double?
    var statuses: [String]?
  }

  private static func retryAfter(_ rule: RetryAfterRule) throws -> RetryAfter {
    RetryAfter(
      mode: PolicyVocabulary.word(isRespected: rule.isRespected),
      max: try WireDuration.text(
        min(rule.maximum, WireDuration.longest), in: .zero...WireDuration.longest, part: "policy.retryAfter.maximum"),
      beyond: PolicyVocabulary.word(of: rule.beyond),
      // An omitted value is 0.
      spread: rule.spread == 0
        ? nil : try UnsupportedByService.check(rule.spread, in: 0...1, part: "policy.retryAfter.spread"),
      // Nor the statuses for which it counts by default.
      statuses: rule.statuses == .retryAfter ? nil : try text(rule.statuses, part: "policy.retryAfter.statuses"))
  }
}
