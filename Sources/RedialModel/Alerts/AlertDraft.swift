public import RedialCore
internal import RedialJSON

/// A client's description of an alert.
public struct AlertDraft: Sendable, Hashable {
  /// Where the messages go.
  public struct Destination: Sendable, Hashable {
    public var channel: Alert.Channel
    public var address: String
    public var routingKey: String?
  }

  public var kinds: [IssueKind] = []
  public var targets: [String] = []
  public var after: Duration?
  /// Nil if it stays as it is.
  public var destination: Destination?

  enum Member: String, CaseIterable { case kinds, targets, after, to }

  static let destinationNames = Alert.Channel.allCases.map(\.rawValue) + ["url"]
  /// The longest integration key, in bytes.
  static let longestKey = 256
  private static let afterRange = Duration.zero...Duration.seconds(7 * 86_400)
  /// Where PagerDuty takes events, unless the alert says another place, such as that of the EU.
  private static let pagerDuty = "https://events.pagerduty.com/v2/enqueue"

  /// Creates an empty draft.
  public init() {}

  /// Reads a draft, such as `{"to": {"slack": "https://…"}, "kinds": ["down"], "after": "2m"}`.
  ///
  /// - Parameter isNew: Whether there is no alert of the name, so that it must say where its messages go.
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each wrong
  ///   member.
  public static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, isNew: Bool, in namespace: Namespace, limits: CallDescriptor.Limits
  ) throws(Problem) -> AlertDraft {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: limits)
    var draft = AlertDraft()
    try reader.readWhole { reader throws(JSONError) in try draft.readMembers(&reader, in: namespace) }
    if isNew, draft.destination == nil, reader.faults.isEmpty {
      reader.fault("/to", "is required; such as {\"slack\": \"https://hooks.slack.com/services/…\"}")
    }
    try reader.refuseFaults(.invalidAlert)
    return draft
  }

  /// The alert that it makes of an earlier one, or of none.
  public func applied(to old: Alert?, name: String, in namespace: Namespace, at now: Timestamp) -> Alert {
    var alert = old ?? Alert()
    if old == nil { (alert.name, alert.namespace, alert.createdAt) = (name, namespace, now) }
    (alert.kinds, alert.targets) = (kinds, targets)
    alert.afterMicroseconds = after.map { Int($0.wholeMicroseconds) }
    if let destination {
      (alert.channel, alert.address) = (destination.channel, destination.address)
      alert.routingKey = destination.routingKey
    }
    return alert
  }

  private mutating func readMembers(
    _ reader: inout DescriptorReader, in namespace: Namespace
  ) throws(JSONError) {
    guard try reader.expect(.object, "", "must be a JSON object such as {\"to\": {\"slack\": \"https://…\"}}")
    else { return }
    try reader.json.beginObject()
    var members = Members(of: Member.self)
    while let member = try reader.nextMember(&members, as: Member.self, of: "an alert", at: "") {
      switch member {
      case .kinds:
        let known = IssueKind.known(in: namespace)
        let words = try reader.names("/kinds", most: known.count) { name in
          known.contains { $0.rawValue == name }
            ? nil : "must be one of \(known.map(\.rawValue).joined(separator: ", "))"
        }
        kinds = words.compactMap(IssueKind.init(rawValue:))
      case .targets:
        targets = try reader.targetNames("/targets")
      case .after: after = try reader.duration("/after", in: Self.afterRange)
      case .to: try readDestination(&reader)
      }
    }
  }

  private mutating func readDestination(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/to", "must be an object such as {\"slack\": \"https://…\"}") else { return }
    try reader.json.beginObject()
    var members = Members(Self.destinationNames)
    var (found, url): ([Destination], String?) = ([], nil)
    while let key = try reader.nextMember(&members, of: "a destination", at: "/to") {
      let pointer = "/to/\(key)"
      if key == "url" {
        url = try reader.callableURL(pointer)
        continue
      }
      guard let channel = Alert.Channel(rawValue: key) else { continue }
      switch channel {
      case .endpoint:
        guard let id = try reader.string(pointer) else { continue }
        found.append(Destination(channel: channel, address: id))
      case .slack, .teams:
        guard let address = try reader.callableURL(pointer) else { continue }
        found.append(Destination(channel: channel, address: address))
      case .pagerDuty:
        guard let routingKey = try reader.string(pointer) else { continue }
        let isKey = routingKey.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        if !isKey || !(1...Self.longestKey).contains(routingKey.utf8.count) {
          reader.fault(
            pointer, "must have 1 to \(Self.longestKey) letters and digits; leave /to out to keep it as it is")
        }
        found.append(Destination(channel: channel, address: Self.pagerDuty, routingKey: routingKey))
      }
    }
    if found.count != 1 {
      if reader.faults.isEmpty {
        let known = Alert.Channel.allCases.map(\.rawValue).joined(separator: ", ")
        reader.fault("/to", "must have exactly one of \(known)")
      }
      return
    }
    if let url {
      if found[0].channel == .pagerDuty {
        found[0].address = url
      } else {
        reader.fault("/to/url", "is only for PagerDuty; leave it out")
      }
    }
    destination = found[0]
  }
}
