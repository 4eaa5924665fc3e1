internal import RedialText

/// A policy in the words of the API: only the named parts.
struct WirePolicy: Encodable {
  private let policy: CallPolicy

  private static let attempts = 1...1000
  private static let hour = Duration.milliseconds(1)...Duration.seconds(3600)
  private static let deadlines = Duration.milliseconds(1)...WireDuration.longest
  private static let maximumRanges = 100
  private static let statuses = 100...599

  private enum Key: String, CodingKey {
    case maxAttempts, deadline, lastAttempt, minimumAttemptTime, attemptTimeout, backoff, retryOn, stopOn, retryAfter
    case onTrip
  }

  init(_ policy: CallPolicy) { self.policy = policy }

  /// - Throws: ``UnsupportedByService``, naming the part that the service does not support.
  func encode(to encoder: any Encoder) throws {
    if let name = policy.storedName {
      var text = encoder.singleValueContainer()
      return try text.encode(name)
    }
    try refuse()
    var members = encoder.container(keyedBy: Key.self)
    try members.encodeIfPresent(policy.maxAttempts, forKey: .maxAttempts)
    if let deadline = policy.deadline {
      let text = try WireDuration.text(min(deadline, WireDuration.longest), in: Self.deadlines, part: "policy.deadline")
      try members.encode(text, forKey: .deadline)
    }
    if let last = policy.lastAttempt {
      try members.encode(PolicyVocabulary.word(of: last), forKey: .lastAttempt)
    }
    if let time = policy.minimumAttemptTime {
      let text = try WireDuration.text(
        time, in: .zero...Self.hour.upperBound, part: "policy.deadlineRule.minimumAttemptTime")
      try members.encode(text, forKey: .minimumAttemptTime)
    }
    if let given = policy.attemptTimeout {
      let timeout = given >= .longest ? Self.hour.upperBound : given
      try members.encode(
        WireDuration.text(timeout, in: Self.hour, part: "policy.attemptTimeout"), forKey: .attemptTimeout)
    }
    try members.encodeIfPresent(policy.backoff.map(WireBackoff.init), forKey: .backoff)
    if policy.network != nil || policy.statuses != nil || policy.statusesWithRetryAfter != nil {
      try members.encode(retryOn(), forKey: .retryOn)
    }
    if let statuses = policy.stopOn {
      try members.encode(["statuses": Self.text(statuses, part: "policy.stopOn")], forKey: .stopOn)
    }
    try members.encodeIfPresent(policy.retryAfter.map(Self.retryAfter), forKey: .retryAfter)
    try members.encodeIfPresent(policy.onTrip.map { PolicyVocabulary.word(of: $0) }, forKey: .onTrip)
  }

  private func refuse() throws {
    if let attempts = policy.maxAttempts {
      _ = try UnsupportedByService.check(attempts, in: Self.attempts, part: "policy.maxAttempts")
    }
    guard let whole = policy.whole else { return }
    guard whole.initialDelay == .none else {
      throw UnsupportedByService("policy.initialDelay", "a wait before the first attempt; say it by the call's start")
    }
    guard whole.deadlineRule.measure == .elapsed else {
      throw UnsupportedByService(
        "policy.deadlineRule.measure", "a deadline that counts waits alone; the service counts all time")
    }
    guard whole.throttlingBackoff == nil else {
      throw UnsupportedByService("policy.throttlingBackoff", "a backoff of its own after throttling")
    }
  }

  private struct RetryOn: Encodable {
    var network: String?
    var statuses: [String]?
    var statusesWithRetryAfter: [String]?
  }

  private func retryOn() throws -> RetryOn {
    return RetryOn(
      network: policy.network.map { PolicyVocabulary.word(of: $0) },
      statuses: try policy.statuses.map { try Self.text($0, part: "policy.retryOn.statuses") },
      statusesWithRetryAfter: try policy.statusesWithRetryAfter.map {
        try Self.text($0, part: "policy.retryOn.statusesWithRetryAfter")
      })
  }

  private static func text(_ set: StatusSet, part: String) throws -> [String] {
    guard set.ranges.count <= maximumRanges else {
      throw UnsupportedByService(part, "more than \(maximumRanges) ranges")
    }
    return try set.ranges.map { range in
      let first = try UnsupportedByService.check(range.lowerBound, in: statuses, part: part)
      let last = try UnsupportedByService.check(range.upperBound, in: statuses, part: part)
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
