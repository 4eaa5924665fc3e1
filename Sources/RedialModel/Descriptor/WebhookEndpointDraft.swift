internal import RedialCore
internal import RedialJSON

/// A client's description of a webhook endpoint.
public struct WebhookEndpointDraft: Sendable, Hashable {
  public var url = ""
  /// A name for people.
  public var description = ""
  public var events = EventType.subscribable
  /// If not empty, only events of these targets and of calls to them.
  public var targets: [String] = []
  /// Whether it gets webhooks.
  public var isEnabled = true

  enum Member: String, CaseIterable { case url, description, events, targets, enabled }

  /// The longest description, in characters.
  static let longestDescription = 1024
  /// The maximum number of events, repetitions included.
  static let mostEvents = 100

  /// Creates an empty draft.
  public init() {}

  /// Reads a draft.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else.
  public static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, limits: CallDescriptor.Limits
  ) throws(Problem) -> WebhookEndpointDraft {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: limits)
    var draft = WebhookEndpointDraft()
    try reader.readWhole { reader throws(JSONError) in try draft.readMembers(&reader) }
    try reader.refuseFaults(.invalidWebhookEndpoint)
    return draft
  }

  private mutating func readMembers(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "", "must be a JSON object such as {\"url\": \"https://example.com/hooks\"}")
    else { return }
    try reader.json.beginObject()
    var members = Members(of: Member.self)
    var (hasURL, hasEvents) = (false, true)
    while let member = try reader.nextMember(&members, as: Member.self, of: "a webhook endpoint", at: "") {
      switch member {
      case .url:
        hasURL = true
        if let text = try reader.callableURL("/url") { url = text }
      case .description:
        description = try reader.string("/description") ?? ""
        if description.unicodeScalars.count > Self.longestDescription {
          reader.fault("/description", "is longer than \(Self.longestDescription) characters")
        }
      case .events:
        let names = try reader.names("/events", most: Self.mostEvents) {
          Self.event($0) == nil ? Self.known : nil
        }
        (events, hasEvents) = (names.compactMap(Self.event), !names.isEmpty)
      case .targets:
        targets = try reader.targetNames("/targets")
      case .enabled: isEnabled = try reader.bool("/enabled") ?? true
      }
    }
    if !hasURL { reader.fault("/url", "is required") }
    if !hasEvents { reader.fault("/events", "names no event") }
  }

  private static func event(_ name: String) -> EventType? {
    EventType.subscribable.first { $0.rawValue == name }
  }

  private static var known: String {
    "must be one of \(EventType.subscribable.map(\.rawValue).joined(separator: ", "))"
  }
}

/// A rotation of a webhook endpoint's secret.
public enum SecretRotation {
  /// The default time for which the old secret signs beside the new one.
  public static let defaultOverlap = Duration.seconds(86_400)
  private static let longestOverlap = Duration.seconds(30 * 86_400)

  /// Reads the overlap; no bytes mean the default.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else.
  public static func readOverlap(_ bytes: UnsafeBufferPointer<UInt8>) throws(Problem) -> Duration {
    if bytes.isEmpty { return defaultOverlap }
    var reader = DescriptorReader(json: JSONReader(bytes), limits: CallDescriptor.Limits())
    var overlap = defaultOverlap
    try reader.readWhole { reader throws(JSONError) in
      guard try reader.expect(.object, "", "must be a JSON object such as {\"overlap\": \"24h\"}") else { return }
      try reader.json.beginObject()
      var members = Members(["overlap"])
      while try reader.nextMember(&members, of: "a rotation", at: "") != nil {
        overlap = try reader.duration("/overlap", in: .zero...longestOverlap) ?? overlap
      }
    }
    try reader.refuseFaults(.invalidRotation)
    return overlap
  }
}
