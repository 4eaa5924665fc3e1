/// A policy in the words of the wire, each of its parts said, so that no default of the service's comes into it.
struct WirePolicy: Encodable {
  private let policy: RetryPolicy

  private static let attempts = 1...1000
  private static let hour = Duration.milliseconds(1)...Duration.seconds(3600)
  private static let deadlines = Duration.milliseconds(1)...WireSpan.longest
  private static let maximumRanges = 100
  private static let statuses = 100...599

  private enum Key: String, CodingKey {
    case maxAttempts, deadline, lastAttempt, minimumAttemptTime, attemptTimeout, backoff, retryOn, stopOn, retryAfter
    case onTrip
  }

  init(_ policy: RetryPolicy) { self.policy = policy }

  /// - Throws: ``UnsupportedByService``, naming the part, for what the wire has no words for.
  func encode(to encoder: any Encoder) throws {
    try refuse()
    var members = encoder.container(keyedBy: Key.self)
    try members.encode(policy.maxAttempts, forKey: .maxAttempts)
    try members.encode(
      WireSpan.text(
        min(policy.deadline, WireSpan.longest), in: Self.deadlines, part: "policy.deadline"), forKey: .deadline)
    try members.encode(
      policy.deadlineRule.lastAttempt == .endEarly ? "endEarly" : "pullForward", forKey: .lastAttempt)
    try members.encode(
      WireSpan.text(
        policy.deadlineRule.minimumAttemptTime, in: .zero...Self.hour.upperBound,
        part: "policy.deadlineRule.minimumAttemptTime"), forKey: .minimumAttemptTime)
    try members.encode(
      WireSpan.text(policy.attemptTimeout, in: Self.hour, part: "policy.attemptTimeout"), forKey: .attemptTimeout)
    try members.encode(WireBackoff(policy.backoff), forKey: .backoff)
    try members.encode(retryOn(), forKey: .retryOn)
    try members.encode(["statuses": Self.text(policy.stopOn, part: "policy.stopOn")], forKey: .stopOn)
    try members.encode(retryAfter(), forKey: .retryAfter)
    try members.encode(policy.onTrip == .wait ? "wait" : "fail", forKey: .onTrip)
  }

  private func refuse() throws {
    if policy.maxAttempts == RetryPolicy.unlimited {
      throw UnsupportedByService(
        "policy.maxAttempts", "attempts without a bound; the most is \(Self.attempts.upperBound)")
    }
    _ = try UnsupportedByService.check(policy.maxAttempts, in: Self.attempts, part: "policy.maxAttempts")
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
  }

  private struct RetryOn: Encodable {
    var network: String
    var statuses: [String]
    var statusesWithRetryAfter: [String]
  }

  private func retryOn() throws -> RetryOn {
    let network =
      switch policy.retryOn.network {
      case .never: "never"
      case .whenNotSent: "notSent"
      case .always: "always"
      }
    return RetryOn(
      network: network, statuses: try Self.text(policy.retryOn.statuses, part: "policy.retryOn.statuses"),
      statusesWithRetryAfter: try Self.text(
        policy.retryOn.statusesWithRetryAfter, part: "policy.retryOn.statusesWithRetryAfter"))
  }

  private static func text(_ set: StatusSet, part: String) throws -> [String] {
    guard set.ranges.count <= maximumRanges else {
      throw UnsupportedByService(part, "more than \(maximumRanges) ranges")
    }
    return try set.ranges.map { range in
      let first = try UnsupportedByService.check(range.lowerBound, in: statuses, part: part)
      let last = try UnsupportedByService.check(range.upperBound, in: statuses, part: part)
      return first == last ? "\(first)" : "\(first)-\(last)"
    }
  }

  private struct RetryAfter: Encodable {
    var mode: String
    var max: String
    var beyond: String
  }

  private func retryAfter() throws -> RetryAfter {
    RetryAfter(
      mode: policy.retryAfter.isRespected ? "respect" : "ignore",
      max: try WireSpan.text(
        min(policy.retryAfter.maximum, WireSpan.longest), in: .zero...WireSpan.longest,
        part: "policy.retryAfter.maximum"), beyond: policy.retryAfter.beyond == .stop ? "stop" : "park")
  }
}
