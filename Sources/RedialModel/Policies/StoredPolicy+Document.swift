internal import RedialCore
public import RedialJSON

extension StoredPolicy {
  private struct Fields: StoredRecord {
    var name = ""
    var version = 0
    var createdAt = Timestamp.epoch
    var policy = RawJSON()

    static func fields<Visitor: FieldVisitor & ~Copyable>(
      _ visitor: inout Visitor, _ record: inout Fields
    ) throws(Visitor.Failure) {
      try visitor.visit("name", &record.name)
      try visitor.visit("version", &record.version)
      try visitor.visit("createdAt", &record.createdAt)
      try visitor.visit("policy", &record.policy)
    }
  }

  public var documentID: String { "\(key.text)@\(version)" }

  /// It as a store has it.
  public var document: StoredDocument {
    var fields = Fields()
    fields.name = key.text
    fields.version = version
    fields.createdAt = createdAt
    fields.policy.bytes = json
    return StoredDocument(.policy, id: documentID, fields.bytes)
  }

  /// Reads ``document``.
  public init(_ content: UnsafeBufferPointer<UInt8>) throws(JSONError) {
    let fields = try Fields(content)
    let name = PolicyName(qualified: fields.name)
    self.init(
      name: name.bare, version: fields.version, createdAt: fields.createdAt, json: fields.policy.bytes,
      in: name.namespace)
  }
}
