internal import RedialCore
public import RedialJSON
internal import RedialText

/// A part of a call that is allowed but is rarely intended. Its text is made once: most clients give the same policy with
/// each call.
public struct CallWarning: Sendable, Hashable {
  /// A stable word for programs.
  public let code: String
  /// A sentence for people.
  public let sentence: String

  private static func policy(_ warning: PolicyWarning) -> CallWarning {
    CallWarning(code: warning.code.description, sentence: warning.sentence)
  }

  /// One pause of the target, for an open breaker or for `Retry-After`, may last as long as the deadline.
  private static func deadlineWithinPause(deadline: Duration, pause: Duration) -> CallWarning {
    CallWarning(
      code: "deadlineWithinPause",
      sentence: "The deadline is \(DurationText.format(deadline)), but one pause of the target (open breaker or "
        + "Retry-After) may last \(DurationText.format(pause)). Such a pause ends the call.")
  }

  /// The call must not be repeated once it may have been executed, but its policy repeats it.
  private static let repeatsThoughNotIdempotent = CallWarning(
    code: "repeatsThoughNotIdempotent",
    sentence: "The call says \"idempotent\": false, and retryOn repeats it after failures where it may have been "
      + "executed. retryOn is followed.")

  /// The method is one that servers know, in other letters, which makes it another method (RFC 9110 §9.1).
  private static func methodCase(_ method: String, meant: String) -> CallWarning {
    CallWarning(
      code: "methodCase",
      sentence:
        "The method is \(method), which is not \(meant): methods are case-sensitive, and servers rarely know it. It "
        + "is sent as it is.")
  }

  /// Many unrelated receivers share this origin, so they would share one breaker and its limits.
  private static func sharedOrigin(_ host: String) -> CallWarning {
    CallWarning(
      code: "sharedOrigin",
      sentence:
        "Many receivers share \(host). Without \"target\", all calls to it share one breaker and its limits, so "
        + "one bad receiver delays the others. Name a target for each receiver.")
  }

  /// The warnings about a policy, for a request that may be repeated or not.
  ///
  /// - Parameter warnings: Those of the policy itself, with or without those of its plan.
  static func of(
    _ warnings: [PolicyWarning], _ policy: RetryPolicy, mayRepeat: Bool
  ) -> [CallWarning] {
    var found = warnings.map(CallWarning.policy)
    let repeatsExecuted =
      policy.retryOn.network == .always || policy.retryOn.statuses.ranges.contains { $0.upperBound >= 500 }
    if !mayRepeat, repeatsExecuted { found.append(.repeatsThoughNotIdempotent) }
    if policy.deadlineRule.measure == .elapsed, policy.onTrip != .fail || policy.retryAfter.isRespected,
      policy.deadline <= longestPause
    {
      found.append(.deadlineWithinPause(deadline: policy.deadline, pause: longestPause))
    }
    return found
  }

  /// The default maximum time of an open breaker, and of a target's pause for one `Retry-After`.
  private static let longestPause = CircuitBreakerSettings().maximumOpenInterval

  /// Hosts with one origin for many owners.
  private static let sharedHosts: Set<String> = [
    "hooks.slack.com", "hooks.zapier.com", "discord.com", "discordapp.com", "api.telegram.org", "maker.ifttt.com",
    "chat.googleapis.com", "hook.eu1.make.com", "hook.eu2.make.com", "hook.us1.make.com", "hook.us2.make.com",
    "graph.facebook.com", "webhook.site", "events.hookdeck.com", "hooks.airtable.com",
  ]

  /// Whether many owners share an origin, such as `https://hooks.slack.com`.
  static func shared(_ origin: String) -> CallWarning? {
    guard origin.utf8.starts(with: "https://".utf8) else { return nil }
    let host = origin.dropFirst("https://".count)
    return sharedHosts.contains(String(host)) ? .sharedOrigin(String(host)) : nil
  }

  /// The methods that servers know (RFC 9110 §9.3, RFC 5789).
  private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"]

  /// Whether a method is written in other letters than the one that is meant.
  static func letters(of method: String) -> CallWarning? {
    guard method.utf8.contains(where: { $0 >= 0x61 }) else { return nil }
    let meant = method.uppercased()
    return methods.contains(meant) ? .methodCase(method, meant: meant) : nil
  }

  /// Writes warnings as one array.
  public static func write(_ warnings: [CallWarning], to writer: inout JSONWriter) {
    writer.beginArray()
    for warning in warnings {
      writer.beginObject()
      writer.field("code", warning.code)
      writer.field("detail", warning.sentence)
      writer.endObject()
    }
    writer.endArray()
  }
}
