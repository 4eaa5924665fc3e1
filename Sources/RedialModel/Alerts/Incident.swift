public import RedialCore
public import RedialJSON

/// Something that an alert has reported, or would have reported: from the time when its condition has been true for long enough
/// until it has been untrue for long enough.
public struct Incident: StoredRecord, Hashable {
  /// What is to be done about it.
  public enum State: String, Sendable, Hashable, CaseIterable {
    case open
    /// Somebody knows of it.
    case acknowledged
    case ended
  }

  public var id = ""
  public var namespace = Namespace.default
  /// The name of the alert.
  public var alert = ""
  var conditionName = ""
  /// What the condition is true of; see ``AlertFinding/subject``.
  public var subject = ""
  /// The target, without its namespace; the first one's, if it is about several.
  public var target: String?
  /// Of which subjects the condition was true, if it began for several at once; none if it is about one.
  var members: [String] = []
  /// Since when the condition was true.
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

  public var isComplete: Bool { !id.isEmpty && !alert.isEmpty && AlertCondition(rawValue: conditionName) != nil }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout Incident
  ) throws(Visitor.Failure) {
    try visitor.visit("id", &record.id)
    try visitor.visit("namespace", &record.namespace)
    try visitor.visit("alert", &record.alert)
    try visitor.visit("condition", &record.conditionName)
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

  /// Opens an incident.
  ///
  /// - Parameter isNotified: Whether somebody is notified.
  public init(_ finding: AlertFinding, of alert: Alert, since: Timestamp, at now: Timestamp, isNotified: Bool) {
    (namespace, self.alert, conditionName) = (alert.namespace, alert.name, finding.condition.rawValue)
    (subject, target, members) = (finding.subject, finding.target, finding.members)
    (self.since, openedAt) = (since, now)
    if isNotified { notifiedAt = now }
    take(finding)
    var hash = FNV1a("\(namespace.name)/\(alert.name)/\(conditionName)/\(now.microseconds)/")
    hash.add(subject)
    let digits = String(hash.value, radix: 16)
    id = Self.idPrefix + String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The prefix of the ids of incidents.
  public static let idPrefix = "inc_"

  public var condition: AlertCondition { AlertCondition(rawValue: conditionName) ?? .callsStuck }

  /// Whether it is about more than one.
  public var isOfSeveral: Bool { !members.isEmpty || subject == AlertFinding.beyond }

  /// Takes the words for what is true now.
  mutating func take(_ finding: AlertFinding) {
    (calls, summary, action) = (finding.calls, finding.summary, finding.action)
  }

  /// How long it lasted, or has lasted.
  public func duration(at now: Timestamp) -> Duration { max(.zero, (endedAt ?? now) - since) }

  /// What is to be done about it, after a statement.
  public func state(_ mark: IncidentMark?, at now: Timestamp) -> State {
    if endedAt != nil { return .ended }
    return mark.map { $0.until > now } ?? false ? .acknowledged : .open
  }

  /// The id of its document: with its namespace, so that those of one are together.
  public var documentID: String { Self.documentID(of: id, in: namespace) }

  /// The id of the document of an incident, and of the statement about it.
  public static func documentID(of id: String, in namespace: Namespace) -> String { "\(namespace.name)/\(id)" }

  /// It as a store has it.
  public var document: StoredDocument { StoredDocument(.incident, id: documentID, bytes) }

  /// Writes it as one object.
  public func write(_ mark: IncidentMark?, at now: Timestamp, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("id", id)
    writer.field("alert", alert)
    writer.field("condition", condition.rawValue)
    writer.field("state", state(mark, at: now).rawValue)
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
    writer.key("acknowledged")
    if let mark, mark.until > endedAt ?? now { mark.write(to: &writer) } else { writer.null() }
    writer.endObject()
  }
}

/// A statement that somebody knows of an incident. It is a document of its own: so the watch, which writes the incident,
/// never overwrites it.
public struct IncidentMark: StoredRecord, Hashable {
  /// The incident's id, and its namespace.
  public var incident = ""
  public var namespace = Namespace.default
  public var at = Timestamp.epoch
  /// Until when nobody is notified again that it is open.
  public var until = Timestamp.epoch
  public var by: String?
  public var reason: String?

  /// How long an incident counts as acknowledged if nobody says.
  public static let usualTime = Duration.seconds(86_400)

  public init() {}

  public var isComplete: Bool { !incident.isEmpty }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout IncidentMark
  ) throws(Visitor.Failure) {
    try visitor.visit("incident", &record.incident)
    try visitor.visit("namespace", &record.namespace)
    try visitor.visit("at", &record.at)
    try visitor.visit("until", &record.until)
    try visitor.visit("by", &record.by)
    try visitor.visit("reason", &record.reason)
  }

  /// A statement about an incident.
  public init(of incident: Incident, _ request: PauseRequest, at now: Timestamp) {
    (self.incident, namespace, at) = (incident.id, incident.namespace, now)
    until = request.until ?? now + Self.usualTime
    (by, reason) = (request.attribution.by, request.attribution.reason)
  }

  /// It as a store has it.
  public var document: StoredDocument {
    StoredDocument(.incidentMark, id: Incident.documentID(of: incident, in: namespace), bytes)
  }

  /// Writes it as one object.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("at", at)
    writer.field("until", until)
    writer.field("by", by)
    writer.field("reason", reason)
    writer.endObject()
  }
}
