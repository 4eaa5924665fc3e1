internal import RedialText

/// Policies in the JSON of the service, so that one file serves both:
///
/// ```swift
/// let file = Data(#"{"maxAttempts": 5, "deadline": "1m", "backoff": {"initial": "100ms", "max": "5s"}}"#.utf8)
/// let policy = try JSONDecoder().decode(RetryPolicy.self, from: file)
/// ```
///
/// An omitted member has the service's default, ``RetryPolicy/service``, but `onTrip`: without it the service waits for a
/// breaker that is open, and a ``Retrier`` does not. For a call that may not be repeated the service has other defaults in
/// `retryOn` (``RetryConditions/nonIdempotent``): name them in a file that serves both. A member that is given twice is refused
/// by the service alone: a decoder does not see it. `docs/policies.md` describes all of them. Where the
/// API has a longest duration, a year for deadlines and waits and an hour for timeouts, an endless one is written as that; a
/// year is read as endless.
extension RetryPolicy: Codable {
  /// Reads a policy.
  ///
  /// - Throws: `DecodingError`, with the member's path and what it must be, for what the service would refuse.
  public init(from decoder: any Decoder) throws {
    self = .service
    let members = try MemberReader(decoder, WirePolicy.Key.self)
    if try members.isNull(.maxAttempts) {
      maxAttempts = Self.unlimited
    } else if let given = try members.integer(.maxAttempts, in: WirePolicy.attempts) {
      maxAttempts = given
    }
    deadline = try members.duration(.deadline, in: WirePolicy.deadlines).map(Self.endless) ?? deadline
    attemptTimeout = try members.duration(.attemptTimeout, in: WirePolicy.hour) ?? attemptTimeout
    deadlineRule.lastAttempt =
      try members.value(.lastAttempt, in: PolicyVocabulary.lastAttempts) ?? deadlineRule.lastAttempt
    deadlineRule.minimumAttemptTime =
      try members.duration(.minimumAttemptTime, in: .zero...WirePolicy.hour.upperBound)
      ?? deadlineRule.minimumAttemptTime
    backoff = try members.value(.backoff) ?? backoff
    if let given: WireRetryOn = try members.value(.retryOn) { retryOn = given.conditions }
    if let given: WireStopOn = try members.value(.stopOn) { stopOn = given.statuses ?? stopOn }
    if let given: WireRetryAfter = try members.value(.retryAfter) { retryAfter = given.rule }
    onTrip = try members.value(.onTrip, in: PolicyVocabulary.trips)
  }

  /// Writes every part of the policy, but an `onTrip` that is nil.
  ///
  /// - Throws: ``UnsupportedByService`` for a part that the service does not support.
  public func encode(to encoder: any Encoder) throws { try WirePolicy(self).encode(to: encoder) }

  static func endless(_ duration: Duration) -> Duration { duration >= WireDuration.longest ? .longest : duration }
}

/// Backoffs in the JSON of the service.
extension Backoff: Codable {
  /// Reads a backoff.
  ///
  /// - Throws: `DecodingError`, with the member's path and what it must be, for what the service would refuse.
  public init(from decoder: any Decoder) throws {
    let members = try MemberReader(decoder, BackoffParts.Member.self)
    var parts = BackoffParts()
    parts.strategy = try members.word(.strategy, of: PolicyVocabulary.strategies)
    parts.jitter = try members.word(.jitter, of: PolicyVocabulary.jitters)
    parts.cap = try members.word(.cap, of: PolicyVocabulary.caps.map(\.word))
    parts.then = try members.word(.then, of: PolicyVocabulary.ends.map(\.word))
    parts.initial = try members.duration(.initial, in: BackoffParts.durations)
    parts.increment = try members.duration(.increment, in: BackoffParts.durations)
    parts.offset = try members.duration(.offset, in: BackoffParts.durations)
    parts.spread = try members.duration(.spread, in: BackoffParts.durations)
    parts.max = try members.duration(.max, in: BackoffParts.maxima)
    parts.multiplier = try members.number(.multiplier, in: BackoffParts.multipliers)
    parts.exponent = try members.number(.exponent, in: BackoffParts.exponents)
    parts.factor = try members.number(.factor, in: BackoffParts.factors)
    parts.first = try members.integer(.first, in: BackoffParts.firsts)
    parts.doublings = try members.integer(.doublings, in: BackoffParts.doublingCounts)
    parts.schedule = try members.durations(
      .schedule, in: BackoffParts.durations, count: BackoffParts.scheduleLengths)
    var fault: DecodingError?
    let backoff = parts.backoff { fault = fault ?? members.fault($0.member, $0.reason) }
    guard let backoff else { throw fault ?? members.fault(.strategy, "is wrong") }
    self = backoff
    maximum = RetryPolicy.endless(maximum)
  }

  /// Writes every part of the backoff.
  ///
  /// - Throws: ``UnsupportedByService`` for a part that the service does not support.
  public func encode(to encoder: any Encoder) throws { try WireBackoff(self).encode(to: encoder) }
}

/// Which results are retried.
private struct WireRetryOn: Decodable {
  var conditions = RetryPolicy.service.retryOn

  private enum Key: String, CodingKey, CaseIterable { case network, statuses, statusesWithRetryAfter }

  init(from decoder: any Decoder) throws {
    let members = try MemberReader(decoder, Key.self)
    // `true`, `false`, or a more precise word.
    if let isRetried = try? members.value(.network, Bool.self) {
      conditions.network = isRetried ? .always : .never
    } else {
      conditions.network = try members.value(.network, in: PolicyVocabulary.networks) ?? conditions.network
    }
    conditions.statuses = try members.statuses(.statuses) ?? conditions.statuses
    conditions.statusesWithRetryAfter =
      try members.statuses(.statusesWithRetryAfter) ?? conditions.statusesWithRetryAfter
  }
}

/// Which statuses end a call.
private struct WireStopOn: Decodable {
  var statuses: StatusSet?

  private enum Key: String, CodingKey, CaseIterable { case statuses }

  init(from decoder: any Decoder) throws { statuses = try MemberReader(decoder, Key.self).statuses(.statuses) }
}

/// How `Retry-After` is followed.
private struct WireRetryAfter: Decodable {
  var rule = RetryPolicy.service.retryAfter

  private enum Key: String, CodingKey, CaseIterable { case mode, max, beyond, spread, statuses }

  init(from decoder: any Decoder) throws {
    let members = try MemberReader(decoder, Key.self)
    rule.isRespected = try members.value(.mode, in: PolicyVocabulary.respects) ?? rule.isRespected
    rule.maximum =
      try members.duration(.max, in: .zero...WireDuration.longest).map(RetryPolicy.endless) ?? rule.maximum
    rule.beyond = try members.value(.beyond, in: PolicyVocabulary.beyond) ?? rule.beyond
    rule.spread = try members.number(.spread, in: 0...1) ?? rule.spread
    rule.statuses = try members.statuses(.statuses) ?? rule.statuses
  }
}
