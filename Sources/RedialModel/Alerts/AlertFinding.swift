public import RedialCore
internal import RedialText

/// Something that is true now, and that an alert may watch for.
public struct AlertFinding: Sendable, Hashable {
  public var condition: AlertCondition
  /// What it is true of: a target, an issue or a check of the store. With the condition it distinguishes incidents.
  public var subject: String
  /// The target, without its namespace; nil if it is about none.
  public var target: String?
  /// Since when it is true; nil if nobody knows, and so since it was found.
  public var since: Timestamp?
  /// How many calls it is about.
  public var calls: Int
  /// What has happened, as a sentence.
  public var summary: String
  /// The command that shows more.
  public var action: String

  /// Creates a finding.
  public init(
    _ condition: AlertCondition, _ subject: String, target: String? = nil, since: Timestamp? = nil, calls: Int,
    summary: String, action: String
  ) {
    (self.condition, self.subject, self.target, self.since) = (condition, subject, target, since)
    (self.calls, self.summary, self.action) = (calls, summary, action)
  }

  /// What is true of a target.
  ///
  /// - Parameters:
  ///   - missed: How many calls of its backlog will miss their deadlines.
  ///   - lateAfter: From when on a due call is late.
  public static func of(
    _ target: TargetSnapshot, missed: Int, lateAfter: Duration, at now: Timestamp
  ) -> [AlertFinding] {
    // A message about a target of webhooks would be another webhook.
    guard !target.key.isOfWebhooks else { return [] }
    let key = target.key.bare
    let shown = PlainText.escaped(key)
    var findings: [AlertFinding] = []
    func add(_ condition: AlertCondition, since: Timestamp? = nil, calls: Int, _ summary: String) {
      findings.append(
        AlertFinding(
          condition, key, target: key, since: since, calls: calls, summary: summary,
          action: "redial targets \(ShellWord.plain(key))"))
    }
    let age = target.oldestDueAt.map { now - $0 }
    let waiting =
      calls(target.waiting, one: "waits", several: "wait") + (age.map { ", the oldest for \($0.roughly)" } ?? "")
    let isHeld = target.isPaused || target.isTripped
    if let outage = target.outage {
      add(.targetDown, since: outage.since, calls: target.waiting, "\(shown) is down: \(outage.cause). \(waiting).")
    }
    if isHeld, target.waiting > 0 {
      let how = target.isPaused ? "paused" : "tripped"
      add(.targetHeld, calls: target.waiting, "Somebody has \(how) \(shown). \(waiting).")
    }
    if target.outage == nil, !isHeld, target.waiting > 0, let oldest = target.oldestDueAt, now - oldest >= lateAfter {
      let reasons = target.backlog.counts.filter { !$0.key.isOfCall && $0.key != .ordering }
        .sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }.map { "\($0.key.name)" }
      let cause = reasons.isEmpty ? "" : " They wait for: \(reasons.joined(separator: ", "))."
      add(.callsLate, since: oldest + lateAfter, calls: target.waiting, "\(shown) is late. \(waiting).\(cause)")
    }
    if missed > 0 {
      let words = calls(missed, one: "will miss its deadline", several: "will miss their deadlines")
      add(.deadlinesMissed, calls: missed, "\(shown) does not take its backlog fast enough: \(words).")
    }
    return findings
  }

  /// Calls that have failed alike; nil if that was long ago, or somebody knows of it.
  public init?(_ issue: CallIssue, at now: Timestamp) {
    guard issue.kind == .call, !issue.isLate, issue.state(at: now) == .open,
      now - issue.lastAt < AlertCondition.recentFailure
    else { return nil }
    let words = Self.calls(issue.calls, one: "has failed", several: "have failed")
    let error = issue.error.isEmpty ? "" : ": \(PlainText.escaped(issue.error))"
    self.init(
      .callsFailed, issue.id.description, target: issue.target.bare, since: nil, calls: issue.calls,
      summary: "\(PlainText.escaped(issue.target.bare)): \(words)\(error) (\(issue.id.cause.name)).",
      action: "redial issues show \(issue.id)")
  }

  /// Calls that a check of the store finds.
  public init(check: String, calls: Int) {
    self.init(
      .callsStuck, check, calls: calls,
      summary: "The store's check \(check) finds \(calls) call\(calls == 1 ? "" : "s"); this must be 0.",
      action: "redial doctor")
  }

  private static func calls(_ count: Int, one: String, several: String) -> String {
    count == 1 ? "1 call \(one)" : "\(count) calls \(several)"
  }
}
