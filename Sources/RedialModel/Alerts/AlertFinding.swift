public import RedialCore
internal import RedialText

/// Which issue, and of which target: as one text, which tells also of one among several whose target it is.
struct AlertSubject {
  let text: String

  init(_ text: String) { self.text = text }

  /// - Parameters:
  ///   - issue: The id of the issue.
  ///   - target: Its target, without its namespace.
  init(_ issue: String, _ target: String?) { text = target.map { "\(issue) \($0)" } ?? issue }

  /// Until when the issues of all of these subjects are acknowledged; a time long ago if one is not.
  ///
  /// - Parameter marks: The statements about issues, by their ids.
  static func acknowledgedUntil(_ subjects: [String], _ marks: [String: IssueMark]) -> Timestamp {
    subjects.map { marks[AlertSubject($0).issue]?.until ?? .epoch }.min() ?? .epoch
  }

  var issue: String { String(text.prefix { $0 != " " }) }
  var target: String { String(text.drop { $0 != " " }.dropFirst()) }
}

/// An issue in the words of an alert. A record, so that instances can tell each other what they find.
public struct AlertFinding: StoredRecord, Hashable {
  public var kind: IssueKind { IssueKind(rawValue: kindName) ?? .stuck }
  private var kindName = ""
  public var namespace = Namespace.default
  /// The text of an ``AlertSubject``, or what distinguishes several.
  public var subject = ""
  /// The target, without its namespace; nil if it is about none.
  public var target: String?
  /// Since when it counts; nil if nobody knows, and so since it was found.
  public var since: Timestamp?
  /// In which words others have it in common; empty for none.
  public var cause = ""
  /// The subjects, if several were found at once; none if it is about one.
  public var members: [String] = []
  /// Whether it is nearly over: then it is reported only if it was before.
  public var isEnding = false
  /// How many calls it is about.
  public var calls = 0
  /// What has happened, as a sentence.
  public var summary = ""
  /// The command that shows more.
  public var action = ""

  public init() {}

  public var isComplete: Bool { IssueKind(rawValue: kindName) != nil }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout AlertFinding
  ) throws(Visitor.Failure) {
    try visitor.visit("kind", &record.kindName)
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
    _ kind: IssueKind, _ issue: String, target: String? = nil, since: Timestamp? = nil, calls: Int,
    summary: String, action: String
  ) {
    (kindName, self.target, self.since) = (kind.rawValue, target, since)
    subject = AlertSubject(issue, target).text
    (self.calls, self.summary, self.action) = (calls, summary, action)
  }

  /// What is wrong with a target.
  ///
  /// - Parameters:
  ///   - lateAfter: From when on a due call is late.
  public static func of(
    _ target: TargetSnapshot, lateAfter: Duration, at now: Timestamp
  ) -> [AlertFinding] {
    // A message about a target of webhooks would be another webhook.
    guard !target.key.isOfWebhooks else { return [] }
    let issues = CallIssue.of(target, lateAfter: lateAfter, at: now)
    let isHeld = target.isPaused || target.isTripped
    return issues.compactMap { issue in
      // What an outage or an operator has made late is not news.
      let isCovered = (target.outage != nil || isHeld) && (issue.id.kind == .late || issue.id.kind == .failing)
      return isCovered ? nil : AlertFinding(issue, of: target, lateAfter: lateAfter, at: now)
    }
  }

  private init(_ issue: CallIssue, of target: TargetSnapshot, lateAfter: Duration, at now: Timestamp) {
    let shown = PlainText.escaped(target.key.bare)
    let wait = issue.calls == 0 ? "" : " \(Self.calls(issue.calls, one: "waits", several: "wait"))."
    let (since, summary): (Timestamp?, String)
    switch issue.id.kind {
    case .down:
      let time = max(.zero, now - issue.firstAt).roughly
      (since, summary) = (issue.firstAt, "\(shown) is down for \(time): \(SpokenWords.of(issue.error)).\(wait)")
    case .held: (since, summary) = (nil, "Somebody has \(issue.error) \(shown).\(wait)")
    case .late:
      let reasons = (target.late(after: lateAfter, at: now)?.waits ?? [:])
        .sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }.map { SpokenWords.of("\($0.key.name)") }
      since = issue.firstAt + lateAfter
      summary =
        "\(shown) is late: \(Self.calls(issue.calls, one: "waits", several: "wait")), the oldest for "
        + "\((now - issue.firstAt).roughly). They wait for: \(reasons.joined(separator: ", "))."
    case .failing where issue.id == IssueID(issue.callKind, issue.target, .failing, ""):
      (since, summary) = (nil, "No attempt at \(shown) has succeeded in 15 minutes.\(wait)")
    default:
      since = issue.firstAt
      summary =
        "\(shown): \(PlainText.escaped(issue.error)). \(Self.calls(issue.calls, one: "is", several: "are")) tried again."
    }
    self.init(
      issue.id.kind, issue.id.description, target: target.key.bare, since: since, calls: issue.calls, summary: summary,
      action: "redial targets \(ShellWord.plain(target.key.bare))" + Self.option(target.key.namespace))
    (namespace, isEnding) = (target.key.namespace, issue.isEnding)
    cause = issue.id.kind == .down || issue.id.kind == .held ? SpokenWords.of(issue.error) : ""
  }

  private static func option(_ namespace: Namespace) -> String {
    namespace.isDefault ? "" : " --namespace \(namespace.name)"
  }

  /// Calls that have failed alike; nil if that was long ago, or is done with.
  public init?(_ issue: CallIssue, at now: Timestamp) {
    guard issue.callKind == .call, let reason = issue.id.failure, issue.state(at: now) != .resolved,
      now - issue.lastAt < IssueKind.recentFailure
    else { return nil }
    let recent = min(issue.calls, issue.hours?.last ?? 0)
    let all = issue.calls > recent ? ", \(issue.calls) in all" : ""
    let words =
      recent == 0
      ? Self.calls(issue.calls, one: "has failed", several: "have failed")
      : Self.calls(recent, one: "has failed", several: "have failed") + " in the last hour" + all
    let error = issue.error.isEmpty ? "" : ": \(PlainText.escaped(issue.error))"
    self.init(
      .failed, issue.id.description, target: issue.target.bare, since: nil, calls: issue.calls,
      summary:
        "\(PlainText.escaped(issue.target.bare)): \(words)\(error) (\(SpokenWords.of("\(reason.name)"))).",
      action: "redial issues show \(issue.id)" + Self.option(issue.target.namespace))
  }

  /// Calls fail with more errors than are looked at.
  public static let manyErrors = AlertFinding(
    .failed, "many", calls: 0,
    summary: "Calls fail with more errors at once than are looked at, so that not each of them is reported.",
    action: "redial issues")

  /// Calls that a check of the store finds.
  public init(ofCheck issue: CallIssue) {
    self.init(
      .stuck, issue.id.description, calls: issue.calls,
      summary:
        "The store's check \(issue.error) finds \(issue.calls) call\(issue.calls == 1 ? "" : "s"); this must be 0.",
      action: "redial doctor")
  }

  private static func calls(_ count: Int, one: String, several: String) -> String {
    count == 1 ? "1 call \(one)" : "\(count) calls \(several)"
  }
}
