public import RedialCore
internal import RedialJSON
internal import RedialText

/// A statement about an issue, with the issue as it was then, so that it can be shown when it has no calls any more.
public struct IssueMark: StoredRecord, Hashable {
  /// The text of the issue's id.
  public var id = ""
  /// Whether the issue is done with; otherwise it is acknowledged.
  public var isResolved = false
  /// When the statement was made, by whom and why, if known.
  public var at = Timestamp.epoch
  public var by: String?
  public var reason: String?
  /// Until when the issue counts as acknowledged.
  public var until: Timestamp?
  /// The issue: the number of its kind, its qualified target, its error, and when its first and its last call came.
  public var kind = 0
  public var target = ""
  public var error = ""
  public var firstAt = Timestamp.epoch
  public var lastAt = Timestamp.epoch

  /// How long an issue counts as acknowledged if nobody says.
  public static let usualTime = Duration.seconds(7 * 86_400)

  public init() {}

  /// A mark of an issue.
  public init(_ request: IssueMarkRequest, of issue: CallIssue, at now: Timestamp) {
    id = issue.id.description
    isResolved = request.state == .resolved
    (at, until) = (now, isResolved ? nil : request.until ?? now + Self.usualTime)
    (by, reason) = (request.attribution.by, request.attribution.reason)
    (kind, target, error) = (Int(issue.callKind.rawValue), issue.target.text, issue.error)
    (firstAt, lastAt) = (issue.firstAt, issue.lastAt)
  }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout IssueMark
  ) throws(Visitor.Failure) {
    try visitor.visit("id", &record.id)
    try visitor.visit("isResolved", &record.isResolved)
    try visitor.visit("at", &record.at)
    try visitor.visit("by", &record.by)
    try visitor.visit("reason", &record.reason)
    try visitor.visit("until", &record.until)
    try visitor.visit("kind", &record.kind)
    try visitor.visit("target", &record.target)
    try visitor.visit("error", &record.error)
    try visitor.visit("firstAt", &record.firstAt)
    try visitor.visit("lastAt", &record.lastAt)
  }

  public var isComplete: Bool { !id.isEmpty }

  /// Its target; without a text for what a check of the store finds.
  public var targetKey: TargetKey { TargetKey(qualified: target) }

  /// It as a store has it.
  public var document: StoredDocument {
    StoredDocument(.issue, id: Self.documentID(of: id, in: targetKey.namespace), bytes)
  }

  /// The id of the document about an issue: with its namespace, so that no other namespace's id is ever the same.
  public static func documentID(of issue: String, in namespace: Namespace) -> String { "\(namespace.name)/\(issue)" }

  /// Writes the statement as one object.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("state", (isResolved ? CallIssue.State.resolved : .acknowledged).rawValue)
    writer.field("at", at)
    writer.field("by", by)
    writer.field("reason", reason)
    writer.field("until", until)
    writer.endObject()
  }
}

/// A client's statement about an issue.
public struct IssueMarkRequest: Sendable, Hashable {
  /// `open` removes the earlier statement.
  public var state: CallIssue.State
  /// Until when the issue counts as acknowledged; nil for the usual time.
  public var until: Timestamp?
  public var attribution = Attribution()

  enum Member: String, CaseIterable { case state, until, by, reason }

  /// Reads `{"state": "acknowledged", "until": "8h", "by": "ada", "reason": "…"}`; only the state is required.
  ///
  /// - Parameter now: From when durations count.
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each wrong
  ///   member.
  public static func read(_ bytes: UnsafeBufferPointer<UInt8>, at now: Timestamp) throws(Problem) -> IssueMarkRequest {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: .unlimited)
    var state: CallIssue.State?
    var request = IssueMarkRequest(state: .open)
    try reader.readWhole { reader throws(JSONError) in
      guard try reader.expect(.object, "", "must be a JSON object such as {\"state\": \"acknowledged\"}") else {
        return
      }
      try reader.json.beginObject()
      var members = Members(of: Member.self)
      while let member = try reader.nextMember(&members, as: Member.self, of: "an issue", at: "") {
        switch member {
        case .state:
          guard let word = try reader.string("/state") else { continue }
          state = CallIssue.State(rawValue: word)
          if state == nil { reader.fault("/state", "must be one of open, acknowledged, resolved") }
        case .until: request.until = try reader.timeOrDuration("/until", from: now)
        case .by: try request.attribution.read(.by, from: &reader)
        case .reason: try request.attribution.read(.reason, from: &reader)
        }
      }
    }
    if let state { request.state = state }
    if state == nil, !reader.faults.contains(where: { $0.pointer == "/state" || $0.pointer == "" }) {
      reader.fault("/state", "is required")
    }
    if let until = request.until, until <= now, request.state == .acknowledged {
      reader.fault("/until", "must be after now")
    }
    if request.until != nil, request.state != .acknowledged {
      reader.fault("/until", "is the end of an acknowledgement; leave it out")
    }
    try reader.refuseFaults(.invalidIssue)
    return request
  }
}
