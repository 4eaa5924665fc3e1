internal import RedialJSON

/// A client's description of an API key.
public struct APIKeyDraft: Sendable, Hashable {
  /// A name for people.
  public var name: String
  public var scopes: Set<APIScope>
  /// Maximum requests per minute; nil for no limit.
  public var quota: Int?
  /// The namespace in which it acts; nil for that of the client that makes it.
  public var namespace: Namespace?

  enum Member: String, CaseIterable { case name, scopes, quota, namespace }

  /// The longest name, in characters.
  public static let longestName = 255
  /// The allowed quotas.
  public static let quotas = 1...1_000_000

  /// Creates a draft.
  public init(
    name: String = "", scopes: Set<APIScope> = [], quota: Int? = nil, namespace: Namespace? = nil
  ) {
    self.namespace = namespace
    self.name = name
    self.scopes = scopes
    self.quota = quota
  }

  /// Reads a draft.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else.
  public static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(Problem) -> APIKeyDraft {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: CallDescriptor.Limits())
    var draft = APIKeyDraft()
    try reader.readWhole { reader throws(JSONError) in
      guard try reader.expect(.object, "", "must be a JSON object such as {\"name\": \"ci\", \"scopes\": [\"submit\"]}")
      else { return }
      try reader.json.beginObject()
      var members = Members(of: Member.self)
      while let member = try reader.nextMember(&members, as: Member.self, of: "an API key", at: "") {
        switch member {
        case .name:
          draft.name = try reader.string("/name") ?? ""
          if !(1...longestName).contains(draft.name.unicodeScalars.count) {
            reader.fault("/name", "must have 1 to \(longestName) characters")
          }
        case .scopes: try draft.readScopes(&reader)
        case .namespace:
          guard let text = try reader.string("/namespace") else { continue }
          draft.namespace = Namespace(text)
          if draft.namespace == nil { reader.fault("/namespace", Namespace.rule) }
        case .quota: draft.quota = try reader.integer("/quota", in: quotas)
        }
      }
      if draft.name.isEmpty, reader.faults.isEmpty { reader.fault("/name", "is required") }
      if draft.scopes.isEmpty, reader.faults.isEmpty { reader.fault("/scopes", "names no scope") }
    }
    try reader.refuseFaults(.invalidAPIKeyDraft)
    return draft
  }

  private mutating func readScopes(_ reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.array, "/scopes", "must be an array of scopes") else { return }
    try reader.json.beginArray()
    var position = 0
    while try reader.json.nextElement() {
      defer { position += 1 }
      guard let name = try reader.string("/scopes/\(position)") else { continue }
      if let scope = APIScope(rawValue: name) {
        scopes.insert(scope)
      } else {
        reader.fault("/scopes/\(position)", "must be one of \(APIScope.names)")
      }
    }
  }
}

/// A permission of an API key.
public enum APIScope: String, Sendable, Hashable, CaseIterable {
  /// Submitting calls.
  case submit
  /// Reading everything except secrets and the requests of calls.
  case read
  /// Seeing the requests of calls, with their bodies, and replaying calls with changes.
  case payloads
  /// Cancelling and retrying calls, controlling targets.
  case operate
  /// Reading the metrics, which cover all namespaces: only in the default one.
  case metrics
  /// Everything, including API keys and webhook endpoints.
  case admin

  /// All scopes, as text for people.
  public static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
