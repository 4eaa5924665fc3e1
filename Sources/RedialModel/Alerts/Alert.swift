public import RedialCore
public import RedialJSON
internal import RedialText

/// A rule that says who is notified when an issue begins and ends: its kinds, the targets, and where the messages go.
public struct Alert: StoredRecord, Hashable {
  /// In which shape the messages are, and where they go.
  public enum Channel: String, Sendable, Hashable, CaseIterable, FieldValue {
    /// To a webhook endpoint, as events.
    case endpoint
    /// To an incoming webhook of Slack.
    case slack
    /// To a webhook of a workflow in Microsoft Teams, as an Adaptive Card.
    case teams
    /// To the Events API v2 of PagerDuty.
    case pagerDuty

    public static var unset: Channel { .endpoint }
  }

  public var name = ""
  public var namespace = Namespace.default
  public var createdAt = Timestamp.epoch
  private var kindNames: [String] = []
  /// If not empty, only issues of these targets.
  public var targets: [String] = []
  /// How long there has to be one, in microseconds; nil for the usual time of its kind.
  var afterMicroseconds: Int?
  public var channel = Channel.endpoint
  /// The URL of the messages; the id of the endpoint for one.
  public var address = ""
  /// PagerDuty's key of a service, which is a secret.
  public var routingKey: String?
  public var silence: Silence?

  /// Until when nobody is notified, who said so, and why.
  public struct Silence: StoredRecord, Hashable {
    public var until = Timestamp.epoch
    public var by: String?
    public var reason: String?

    public init() {}

    /// How long a silence lasts if nobody says.
    public static let usualTime = Duration.seconds(3600)

    /// A silence that somebody wants.
    public init(_ request: SilenceRequest, at now: Timestamp) {
      until = request.until ?? now + Self.usualTime
      (by, reason) = (request.attribution.by, request.attribution.reason)
    }

    public static func fields<Visitor: FieldVisitor & ~Copyable>(
      _ visitor: inout Visitor, _ record: inout Silence
    ) throws(Visitor.Failure) {
      try visitor.visit("until", &record.until)
      try visitor.visit("by", &record.by)
      try visitor.visit("reason", &record.reason)
    }
  }

  public init() {}

  public var isComplete: Bool { !name.isEmpty && !address.isEmpty }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout Alert
  ) throws(Visitor.Failure) {
    try visitor.visit("name", &record.name)
    try visitor.visit("namespace", &record.namespace)
    try visitor.visit("createdAt", &record.createdAt)
    // As earlier builds have called them.
    try visitor.visit("conditions", &record.kindNames)
    try visitor.visit("targets", &record.targets)
    try visitor.visit("after", &record.afterMicroseconds)
    try visitor.visit("channel", &record.channel)
    try visitor.visit("address", &record.address)
    try visitor.visit("routingKey", &record.routingKey)
    try visitor.visit("silence", &record.silence)
  }

  /// The kinds of issues that it watches for.
  public var kinds: [IssueKind] {
    get {
      // One that no longer exists is nothing that the others stand for.
      kindNames.isEmpty ? IssueKind.known(in: namespace) : kindNames.compactMap(IssueKind.init(stored:))
    }
    set { kindNames = newValue.map(\.rawValue) }
  }

  /// How long there has to be an issue before anybody is notified.
  public func after(_ kind: IssueKind) -> Duration {
    afterMicroseconds.map { .microseconds(Int64($0)) } ?? kind.usualAfter
  }

  /// Whether it watches for issues of a kind, of a target or of none.
  public func watches(_ kind: IssueKind, of target: String?) -> Bool {
    kinds.contains(kind) && (targets.isEmpty || target.map { targets.contains($0) } ?? false)
  }

  /// Whether nobody is to be notified now.
  public func isSilenced(at now: Timestamp) -> Bool { silence.map { $0.until > now } ?? false }

  /// It as a store has it, with its secrets.
  public var document: StoredDocument { StoredDocument(.alert, id: Self.documentID(of: name, in: namespace), bytes) }

  /// The id of the document of an alert: with its namespace, so that two may have alerts of one name.
  public static func documentID(of name: String, in namespace: Namespace) -> String { "\(namespace.name)/\(name)" }

  /// Writes it as one object, without its secrets: whoever knows the URL of a chat can write there.
  ///
  /// - Parameter problem: Why its messages cannot be sent; nil if they can.
  public func write(problem: String?, at now: Timestamp, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("name", name)
    writer.key("kinds")
    writer.beginArray()
    for kind in kinds { writer.string(kind.rawValue) }
    writer.endArray()
    writer.key("targets")
    targets.save(to: &writer)
    writer.key("after")
    if let afterMicroseconds { writer.string(duration: .microseconds(Int64(afterMicroseconds))) } else { writer.null() }
    writer.key("to")
    writer.beginObject()
    writer.key(channel.rawValue)
    writer.string(channel == .pagerDuty ? Self.hidden : shownAddress)
    if channel == .pagerDuty { writer.field("url", address) }
    writer.endObject()
    writer.field("createdAt", createdAt)
    writer.key("silence")
    if let silence, silence.until > now {
      writer.beginObject()
      writer.field("until", silence.until)
      writer.field("by", silence.by)
      writer.field("reason", silence.reason)
      writer.endObject()
    } else {
      writer.null()
    }
    writer.field("problem", problem)
    writer.key("filter")
    messages.write(to: &writer)
    writer.endObject()
  }

  /// The id of the subscription of its messages, which has a target of its own, so that a bad receiver delays no other.
  public var receiver: String { channel == .endpoint ? address : Self.receiverPrefix + name }
  static let receiverPrefix = "alert:"

  /// What selects its messages, and others to its endpoint.
  private var messages: CallFilter {
    var filter = CallFilter(kind: .webhook)
    filter.target = WebhookSubscription.targetPrefix + receiver
    return filter
  }

  /// What stands in place of a secret.
  static let hidden = "…"

  /// The content of a message as it is sent now.
  ///
  /// - Parameter stored: Of ``AlertMessage/stored(for:)``; what an earlier version has stored is sent as it is.
  /// - Returns: Nil if it is of another alert, which had the same name.
  public func sent(_ stored: [UInt8]) -> [UInt8]? {
    guard let (message, made) = AlertMessage.read(stored) else { return stored }
    return made == createdAt ? message.body(for: self) : nil
  }

  /// The URL that its messages are stored with.
  public var publicURL: String { ((try? TargetURL(address).origin) ?? address) + "/" }

  /// What distinguishes where its messages go.
  public var destination: String { "\(channel.rawValue) \(address) \(routingKey ?? "")" }

  /// What an answer to its messages may not show: the key; the URL, and what of it may identify the chat.
  public var secrets: [String] {
    if channel == .endpoint { return [] }
    if channel == .pagerDuty { return [routingKey ?? ""] }
    let url = address.prefix { $0 != "#" }
    // Behind the scheme, the host and a port, however they are written.
    let rest = url.utf8.dropFirst(8).firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }.map {
      url[$0...]
    }
    let path = rest?.prefix { $0 != "?" } ?? ""
    let query = rest?.dropFirst(path.count + 1) ?? ""
    let parts =
      path.split(separator: "/")
      + query.split(separator: "&").map { $0[($0.firstIndex(of: "=") ?? $0.startIndex)...].dropFirst() }
    // Shorter ones, such as "hooks", are in answers that mean something else.
    return ([url, rest ?? "", path, query] + parts).map(String.init).filter { $0.utf8.count >= 8 }
  }

  /// Where its messages go, without what is secret in it.
  public var shownAddress: String {
    switch channel {
    case .endpoint, .pagerDuty: address
    case .slack, .teams: publicURL + Self.hidden
    }
  }
}
