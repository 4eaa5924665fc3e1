public import RedialCore
public import RedialJSON

/// A credential that calls use by its name. Its secrets are written once and never shown.
public struct Credential: StoredRecord, Hashable {
  public private(set) var name = ""
  public private(set) var namespace = Namespace.default
  public private(set) var createdAt = Timestamp.epoch
  public private(set) var changedAt = Timestamp.epoch
  public private(set) var content = CredentialContent.unset
  /// The origins that may see it; at least one.
  public private(set) var origins: [String] = []
  /// What it is for, for people.
  public private(set) var description: String?

  public init() {}

  /// What a client has given, in place of the credential that had the name before.
  public init(
    _ draft: CredentialDraft, name: String, in namespace: Namespace, inPlaceOf old: Credential?, at now: Timestamp
  ) {
    (self.name, self.namespace) = (name, namespace)
    (createdAt, changedAt) = (old?.createdAt ?? now, now)
    (content, origins, description) = (draft.content, draft.origins, draft.description)
  }

  public var isComplete: Bool { !name.isEmpty && !origins.isEmpty && content != .unset }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout Credential
  ) throws(Visitor.Failure) {
    try visitor.visit("name", &record.name)
    try visitor.visit("namespace", &record.namespace)
    try visitor.visit("createdAt", &record.createdAt)
    try visitor.visit("changedAt", &record.changedAt)
    try visitor.visit("content", &record.content)
    try visitor.visit("origins", &record.origins)
    try visitor.visit("description", &record.description)
  }

  /// Its name with its namespace.
  public var key: CredentialName { CredentialName(name, in: namespace) }

  /// It as a store has it, with its secrets.
  public var document: StoredDocument { StoredDocument(.credential, id: documentID, bytes) }

  /// The id of its document: with its namespace, so that two may have credentials of one name.
  public var documentID: String { Self.documentID(of: key) }

  /// The id of a credential's document.
  public static func documentID(of name: CredentialName) -> String { "\(name.namespace.name)/\(name.bare)" }

  /// The name in a ``documentID``.
  static func name(of id: String) -> CredentialName? {
    guard let end = id.firstIndex(of: "/"), let namespace = Namespace(String(id[..<end])) else { return nil }
    return CredentialName(String(id[id.index(after: end)...]), in: namespace)
  }

  /// Writes it into an open object as people see it, without its secrets.
  public func writeMembers(to writer: inout JSONWriter) {
    writer.field("name", name)
    content.writeMembers(hidingSecrets: true, to: &writer)
    writer.key("origins")
    origins.save(to: &writer)
    writer.field("description", description)
    writer.field("createdAt", createdAt)
    writer.field("changedAt", changedAt)
  }
}

/// A client's credential.
public struct CredentialDraft: Sendable, Hashable {
  public let content: CredentialContent
  public let origins: [String]
  public let description: String?

  /// The longest description, in bytes.
  static let longestDescription = 255
  static let names = ["type"] + CredentialPart.allCases.map(\.rawValue) + ["origins", "description"]

  /// Reads a credential.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else.
  public static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, limits: CallDescriptor.Limits
  ) throws(Problem) -> CredentialDraft {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: limits)
    var reading = CredentialContent.Reading()
    var (origins, description) = ([] as [String], nil as String?)
    var isObject = false
    try reader.readWhole { reader throws(JSONError) in
      isObject = try reader.expect(
        .object, "",
        "must be a JSON object such as {\"type\": \"bearer\", \"token\": \"…\", \"origins\": [\"https://…\"]}")
      guard isObject else { return }
      try reader.json.beginObject()
      var members = Members(names)
      while let name = try reader.nextMember(&members, of: "a credential", at: "") {
        switch name {
        case "origins": origins = try reader.origins("/origins")
        case "description":
          try TextMember(longest: longestDescription).read("description", into: &description, from: &reader)
        default: _ = try reading.read(name, at: "/\(name)", from: &reader)
        }
      }
    }
    let content = isObject ? reading.finished(at: "", in: &reader) : nil
    if isObject, origins.isEmpty, !reader.faults.contains(where: { $0.pointer?.hasPrefix("/origins") == true }) {
      reader.fault("/origins", "must name at least one origin, to which the credential may be sent")
    }
    try reader.refuseFaults(.invalidCredential)
    guard let content else { preconditionFailure("a credential without a content has a fault") }
    return CredentialDraft(content: content, origins: origins, description: description)
  }
}
