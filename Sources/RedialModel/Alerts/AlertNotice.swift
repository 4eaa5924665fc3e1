public import RedialCore
internal import RedialJSON

/// An issue that an alert has reported, or that a silence has held back: from the time when it had been there for long
/// enough until it was over for long enough. Of several that began at once there is one.
public struct AlertNotice: StoredRecord, Hashable {
  public var id = ""
  public var namespace = Namespace.default
  /// The name of the alert.
  public var alert = ""
  var kindName = ""
  /// See ``AlertFinding/subject``.
  public var subject = ""
  /// The target, without its namespace; the first one's, if it is about several.
  public var target: String?
  /// The subjects, if several began at once; none if it is about one.
  var members: [String] = []
  /// Since when the issue counts.
  public var since = Timestamp.epoch
  public var openedAt = Timestamp.epoch
  public var endedAt: Timestamp?
  /// When somebody was notified last that it is open; nil for never.
  public var notifiedAt: Timestamp?
  /// How many calls it was about, and the words for people, when somebody was notified last.
  public var calls = 0
  public var summary = ""
  public var action = ""

  public init() {}

  public var isComplete: Bool { !id.isEmpty && !alert.isEmpty && IssueKind(rawValue: kindName) != nil }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout AlertNotice
  ) throws(Visitor.Failure) {
    try visitor.visit("id", &record.id)
    try visitor.visit("namespace", &record.namespace)
    try visitor.visit("alert", &record.alert)
    try visitor.visit("kind", &record.kindName)
    try visitor.visit("subject", &record.subject)
    try visitor.visit("target", &record.target)
    try visitor.visit("members", &record.members)
    try visitor.visit("since", &record.since)
    try visitor.visit("openedAt", &record.openedAt)
    try visitor.visit("endedAt", &record.endedAt)
    try visitor.visit("notifiedAt", &record.notifiedAt)
    try visitor.visit("calls", &record.calls)
    try visitor.visit("summary", &record.summary)
    try visitor.visit("action", &record.action)
  }

  /// Opens a notice.
  ///
  /// - Parameter isNotified: Whether somebody is notified.
  public init(_ finding: AlertFinding, of alert: Alert, since: Timestamp, at now: Timestamp, isNotified: Bool) {
    (namespace, self.alert, kindName) = (alert.namespace, alert.name, finding.kind.rawValue)
    (subject, target, members) = (finding.subject, finding.target, finding.members)
    (self.since, openedAt) = (since, now)
    if isNotified { notifiedAt = now }
    take(finding)
    var hash = FNV1a("\(namespace.name)/\(alert.name)/\(kindName)/\(now.microseconds)/")
    hash.add(subject)
    let digits = String(hash.value, radix: 16)
    id = Self.idPrefix + String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static let idPrefix = "notice_"

  public var kind: IssueKind { IssueKind(rawValue: kindName) ?? .stuck }

  /// The issue; nil if it is about several.
  public var issue: IssueID? { IssueID(AlertSubject(subject).issue) }

  /// Whether somebody was notified that it is open, and not that it is over.
  public var isReported: Bool { notifiedAt != nil && endedAt == nil }

  /// Whether it is about an issue, and all that it is about are acknowledged.
  ///
  /// - Parameter marks: The statements about issues, by their ids.
  public func isAcknowledged(with issue: IssueID, _ marks: [String: IssueMark], at now: Timestamp) -> Bool {
    let all = members.isEmpty ? [subject] : members
    return all.contains { AlertSubject($0).issue == issue.description }
      && AlertSubject.acknowledgedUntil(all, marks) > now
  }

  /// Whether it is about more than one.
  public var isOfSeveral: Bool { !members.isEmpty || subject == AlertFinding.beyond }

  /// Takes the words for what is so now.
  mutating func take(_ finding: AlertFinding) {
    (calls, summary, action) = (finding.calls, finding.summary, finding.action)
  }

  /// How long it lasted, or has lasted.
  public func duration(at now: Timestamp) -> Duration { max(.zero, (endedAt ?? now) - since) }

  /// The id of its document: with its namespace, so that those of one are together.
  private var documentID: String { "\(namespace.name)/\(id)" }

  /// It as a store has it.
  public var document: StoredDocument { StoredDocument(.notice, id: documentID, bytes) }

  /// Writes it as one object.
  func write(at now: Timestamp, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("id", id)
    writer.field("alert", alert)
    writer.field("kind", kind.rawValue)
    writer.field("issue", issue?.description)
    writer.field("target", isOfSeveral ? nil : target)
    writer.field("summary", summary)
    writer.field("action", action)
    writer.field("calls", calls)
    writer.field("since", since)
    writer.field("openedAt", openedAt)
    writer.field("endedAt", endedAt)
    writer.key("duration")
    writer.string(duration: .seconds(duration(at: now).components.seconds))
    writer.field("notifiedAt", notifiedAt)
    writer.endObject()
  }
}
