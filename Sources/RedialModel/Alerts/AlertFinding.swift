public import RedialCore
internal import RedialText

/// Something that is true now, and that an alert may watch for. A record, so that instances can tell each other what they find.
public struct AlertFinding: StoredRecord, Hashable {
  public var condition: AlertCondition { AlertCondition(rawValue: conditionName) ?? .callsStuck }
  private var conditionName = ""
  public var namespace = Namespace.default
  /// What it is true of: a target, an issue or a check of the store. With the condition it distinguishes incidents.
  public var subject = ""
  /// The target, without its namespace; nil if it is about none.
  public var target: String?
  /// Since when it is true; nil if nobody knows, and so since it was found.
  public var since: Timestamp?
  /// In which words others have it in common; empty for none.
  public var cause = ""
  /// Of which subjects it is true, if it was found of several at once; none if it is about one.
  public var members: [String] = []
  /// Whether it is nearly over: then it keeps an incident open, and opens none.
  public var isEnding = false
  /// How many calls it is about.
  public var calls = 0
  /// What has happened, as a sentence.
  public var summary = ""
  /// The command that shows more.
  public var action = ""

  public init() {}

  public var isComplete: Bool { AlertCondition(rawValue: conditionName) != nil }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout AlertFinding
  ) throws(Visitor.Failure) {
    try visitor.visit("condition", &record.conditionName)
    try visitor.visit("namespace", &record.namespace)
    try visitor.visit("subject", &record.subject)
    try visitor.visit("target", &record.target)
    try visitor.visit("since", &record.since)
    try visitor.visit("cause", &record.cause)
    try visitor.visit("members", &record.members)
    try visitor.visit("isEnding", &record.isEnding)
    try visitor.visit("calls", &record.calls)
    try visitor.visit("summary", &record.summary)
    try visitor.visit("action", &record.action)
  }

  /// Creates a finding.
  public init(
    _ condition: AlertCondition, _ subject: String, target: String? = nil, since: Timestamp? = nil, calls: Int,
    summary: String, action: String
  ) {
    (conditionName, self.subject, self.target, self.since) = (condition.rawValue, subject, target, since)
    (self.calls, self.summary, self.action) = (calls, summary, action)
  }

  /// What is true of a target.
  ///
  /// - Parameters:
  ///   - lateAfter: From when on a due call is late.
  public static func of(
    _ target: TargetSnapshot, lateAfter: Duration, at now: Timestamp
  ) -> [AlertFinding] {
    // A message about a target of webhooks would be another webhook.
    guard !target.key.isOfWebhooks else { return [] }
    let (key, shown) = (target.key.bare, PlainText.escaped(target.key.bare))
    let action = "redial targets \(ShellWord.plain(key))" + option(target.key.namespace)
    // Those in their backoff wait for the target, too.
    let waiting = max(target.waiting, target.backlog.total)
    let wait = waiting == 0 ? "" : " \(calls(waiting, one: "waits", several: "wait"))."
    let isHeld = target.isPaused || target.isTripped
    var findings: [AlertFinding] = []
    func add(_ condition: AlertCondition, since: Timestamp? = nil, calls: Int, cause: String = "", _ summary: String) {
      var finding = AlertFinding(
        condition, key, target: key, since: since, calls: calls, summary: summary, action: action)
      (finding.namespace, finding.cause) = (target.key.namespace, cause)
      findings.append(finding)
    }
    if let outage = target.outage {
      let time = max(.zero, now - outage.since).roughly
      add(
        .targetDown, since: outage.since, calls: waiting, cause: SpokenWords.of(outage.cause),
        "\(shown) is down for \(time): \(SpokenWords.of(outage.cause)).\(wait)")
      findings[0].isEnding = outage.closedAt != nil
    } else if !isHeld, target.recent.isFailing(at: now) {
      add(.targetFails, calls: waiting, "No attempt at \(shown) has succeeded in 15 minutes.\(wait)")
    }
    if isHeld, target.waiting > 0 {
      let how = target.isPaused ? "paused" : "tripped"
      add(.targetHeld, calls: waiting, cause: how, "Somebody has \(how) \(shown).\(wait)")
    }
    if target.outage == nil, !isHeld, target.waiting > 0, let (oldest, waits) = target.late(after: lateAfter, at: now) {
      let reasons =
        waits
        .sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }.map { SpokenWords.of("\($0.key.name)") }
      let cause = reasons.isEmpty ? "" : " They wait for: \(reasons.joined(separator: ", "))."
      add(
        .callsLate, since: oldest + lateAfter, calls: target.waiting,
        "\(shown) is late: \(calls(target.waiting, one: "waits", several: "wait")), the oldest for "
          + "\((now - oldest).roughly).\(cause)")
    }
    return findings
  }

  private static func option(_ namespace: Namespace) -> String {
    namespace.isDefault ? "" : " --namespace \(namespace.name)"
  }

  /// Calls that have failed alike; nil if that was long ago, or somebody knows of it.
  public init?(_ issue: CallIssue, at now: Timestamp) {
    guard issue.kind == .call, !issue.isPending, issue.state(at: now) == .open,
      now - issue.lastAt < AlertCondition.recentFailure
    else { return nil }
    let recent = min(issue.calls, issue.hours?.last ?? 0)
    let all = issue.calls > recent ? ", \(issue.calls) in all" : ""
    let words =
      recent == 0
      ? Self.calls(issue.calls, one: "has failed", several: "have failed")
      : Self.calls(recent, one: "has failed", several: "have failed") + " in the last hour" + all
    let error = issue.error.isEmpty ? "" : ": \(PlainText.escaped(issue.error))"
    self.init(
      .callsFailed, issue.id.description, target: issue.target.bare, since: nil, calls: issue.calls,
      summary:
        "\(PlainText.escaped(issue.target.bare)): \(words)\(error) (\(SpokenWords.of("\(issue.id.cause.name)"))).",
      action: "redial issues show \(issue.id)" + Self.option(issue.target.namespace))
  }

  /// Calls fail with more errors than are looked at.
  public static let manyErrors = AlertFinding(
    .callsFailed, "many", calls: 0,
    summary: "Calls fail with more errors at once than are looked at, so that not each of them is reported.",
    action: "redial issues")

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
