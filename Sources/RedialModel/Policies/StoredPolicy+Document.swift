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

  /// A version whose document cannot be read: it keeps its number, and nobody gets an earlier one in its place.
  ///
  /// - Parameter id: Its ``documentID``.
  public init?(unreadable id: String) {
    guard let end = id.lastIndex(of: "@"), let version = Int(id[id.index(after: end)...]) else { return nil }
    let name = PolicyName(qualified: String(id[..<end]))
    self.init(name: name.bare, version: version, createdAt: .epoch, json: Array("unreadable".utf8), in: name.namespace)
  }

  /// Reads ``document``.
  public init(_ content: UnsafeBufferPointer<UInt8>) throws(JSONError) {
    let fields = try Fields(content)
    let name = PolicyName(qualified: fields.name)
    self.init(
      name: name.bare, version: fields.version, createdAt: fields.createdAt,
      json: try Self.current(fields.policy.bytes), in: name.namespace)
  }

  /// A policy's text with the names of today, in place of those that builds from before the first release wrote.
  private static func current(_ json: [UInt8]) throws(JSONError) -> [UInt8] {
    if json.isEmpty { return json }
    var writer = JSONWriter(capacity: json.count)
    var isOutdated = false
    let failure: JSONError? = json.withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      do throws(JSONError) {
        writer.beginObject()
        try reader.beginObject()
        while let name = try reader.nextKey() {
          let value = reader.raw(try reader.skipValue())
          var current: String? = name
          if let renamed = PolicyDraft.earlierNames[name] { (current, isOutdated) = (renamed, true) }
          guard let current else { continue }
          writer.key(current)
          writer.raw(Array(value))
        }
        writer.endObject()
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
    return isOutdated ? writer.bytes : json
  }
}
